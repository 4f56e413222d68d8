import type { z } from 'zod';
import { GatewayUnavailable } from './gateway.ts';

export interface Call {
  /** For messages, e.g. `verify`. */
  what: string;
  method: 'GET' | 'POST';
  /** What is put into it is escaped by {@link pathOf}. */
  path: string;
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  /** Statuses of 500 and above that mean something to this provider. */
  meaningful?: readonly number[];
}

export interface HttpAnswer {
  status: number;
  /** Undefined where the answer is not JSON. */
  body: unknown;
}

/** @throws GatewayUnavailable without an answer, and for 3xx, 408, 429 and 5xx, which say nothing of a payment */
export type CallGateway = (call: Call) => Promise<HttpAnswer>;

/** A provider's address, and the one that tests and the embedded stack have instead. */
export interface Target {
  provider: string;
  baseUrl: string;
  override: string | undefined;
}

/** A path of which every value is escaped, as values that were returned to us must be. */
export const pathOf = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values.map((value) => segmentOf(value)));

/** Undefined for what is no JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** @throws GatewayUnavailable for a body of another form: what is not understood is not an outcome */
export const read = <Schema extends z.ZodType>(
  schema: Schema,
  { status, body }: HttpAnswer,
  what: string,
): z.output<Schema> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new GatewayUnavailable(
    `${what}: the answer, HTTP ${status}, is not of the documented form`,
  );
};

/** Dots survive escaping, and would climb where somebody on the way undoes it. */
const segmentOf = (value: string): string => {
  if (/^\.?$|\.\.|\p{Cc}/u.test(value))
    throw new GatewayUnavailable('A reference cannot be part of a path');
  return encodeURIComponent(value.toWellFormed());
};
