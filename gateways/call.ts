import type { z } from 'zod';
import { GatewayUnavailable } from './errors.ts';

export interface Call {
  /** Names the call in error messages, e.g. `verify`. */
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Build it with {@link escapedPath}. */
  path: string;
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  /** Statuses of 500 and above that have a meaning at this provider. */
  expectedStatuses?: readonly number[];
}

export interface HttpResponse {
  status: number;
  /** Undefined if the body is not JSON, so also for an empty one: rely on status 204 alone for that. */
  body: unknown;
}

/** @throws GatewayUnavailable without a response, and for 3xx, 408, 429 and 5xx */
export type CallGateway = (call: Call) => Promise<HttpResponse>;

/**
 * For a provider whose servers take no connection with Node's defaults. Certificates are verified with every setting.
 */
export interface TlsSettings {
  /** As OpenSSL writes them, e.g. `DEFAULT@SECLEVEL=1`. */
  ciphers?: string;
  minVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** A provider's base URL, and the one that replaces it in tests and in the embedded stack. */
export interface Target {
  provider: string;
  baseUrl: string;
  override: string | undefined;
  tls?: TlsSettings;
}

/** Template tag for a path. Escapes every value: references come from the provider. */
export const escapedPath = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values.map(escapeSegment));

/** Undefined for a text that is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** @throws GatewayUnavailable for a body that does not match the schema: an unknown format is no outcome */
export const parseResponse = <Schema extends z.ZodType>(
  schema: Schema,
  { status, body }: HttpResponse,
  operation: string,
): z.output<Schema> => {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new GatewayUnavailable(`${operation}: the response (HTTP ${status}) has an unknown format`);
};

/** Rejects dots: they survive escaping and climb the path where a proxy on the way unescapes it. */
const escapeSegment = (value: string): string => {
  if (/^\.?$|\.\.|\p{Cc}/u.test(value))
    throw new GatewayUnavailable('The reference cannot be part of a path');
  return encodeURIComponent(value.toWellFormed());
};
