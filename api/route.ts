import type { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { JsonNode } from '../contract/json.ts';
import type { Caller } from '../postgres/tokens.ts';

/** What a handler sees of a request. */
export interface RouteRequest {
  params: Readonly<Record<string, string>>;
  /** The value of a header; undefined when it is absent. */
  header(name: string): string | undefined;
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readJson(): Promise<JsonNode>;
  /** @throws PaymentError PAYLOAD_TOO_LARGE */
  readForm(): Promise<URLSearchParams>;
  /** Aborts when the client has hung up. */
  signal: AbortSignal;
}
export interface CallerRequest extends RouteRequest {
  caller: Caller;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** JSON text, or an HTML page for a payer's route. */
  body?: string;
}

interface Spec {
  method: 'GET' | 'POST';
  /** From the root, with `:name` for parameters. */
  path: string;
  summary: string;
  /** The JSON body it takes, where it takes one. */
  body?: z.ZodType;
  /** What it answers when all is well. */
  statuses: readonly number[];
  /** What it can be refused with, beside INTERNAL and SERVICE_UNAVAILABLE, which every route has. */
  errors: readonly ErrorCode[];
}

/**
 * One row of the table of routes. `access`: an application with its bearer token, answered in JSON,
 * or whoever holds a payment's link in a browser, answered with pages and redirects.
 */
export type Route = Spec &
  (
    | { access: 'application'; handle: (request: CallerRequest) => Promise<Reply> }
    | { access: 'payer'; handle: (request: RouteRequest) => Promise<Reply> }
  );
