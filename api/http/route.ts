import type { z } from 'zod';
import type { ErrorCode, ErrorDetails, FieldError, PaymentError } from '../../contract/errors.ts';
import type { errors } from '../../contract/errors.ts';
import type { JsonNode } from '../../contract/json.ts';
import type { Caller } from '../../postgres/tokens.ts';
import type { HeaderName } from './headers.ts';

/** The media types of answers; a `page` is for a payer's browser. */
export type Content = z.ZodType | 'page' | 'asset';

/** One answer of a route when all is well. */
export interface ReplySpec {
  description: string;
  /** Those it always has, beside what every answer of its kind has. */
  headers?: readonly HeaderName[];
  /** Those it may have. */
  optionalHeaders?: readonly HeaderName[];
  content?: Content;
  examples?: Readonly<Record<string, unknown>>;
  /** What can be done next with the payment of this answer, by the names of routes. */
  links?: readonly string[];
}

/** Of VALIDATION_FAILED. */
export interface Invalid {
  message: string;
  fields: readonly FieldError[];
}

/**
 * One row of the table of routes: all that is known of a route but what it does. The router, the
 * checks of queries, the OpenAPI document and the tests read it. What stands in a path, a header or a
 * body is judged by its handler, since each answers something else where it is wrong.
 */
export interface Route {
  method: 'GET' | 'POST';
  /** From the root, with `:name` for parameters. */
  path: string;
  /**
   * `application`: with its bearer token, answered in JSON. `payer`: whoever holds a payment's link
   * in a browser, answered with pages and redirects. `gateway`: a provider's server, known by its
   * signature. `anyone`: the contract itself.
   */
  access: 'application' | 'payer' | 'gateway' | 'anyone';
  summary: string;
  description: string;
  params?: z.ZodObject;
  /** Checked before the handler runs; unknown and repeated parameters are refused. */
  query?: z.ZodObject;
  /** By lower-case name. */
  headers?: z.ZodObject;
  body?:
    | { json: z.ZodType; examples: Readonly<Record<string, unknown>> }
    | { form: z.ZodObject }
    /** Taken as it is; the text says what it has to be. */
    | { bytes: string };
  /** What it answers, for example, where something in a request is not valid. */
  invalid?: Invalid;
  replies: Readonly<Record<number, ReplySpec>>;
  /** What it can be refused with, beside what follows from the rest of the row. */
  errors: readonly ErrorCode[];
}

const implied = {
  always: ['METHOD_NOT_ALLOWED', 'INTERNAL', 'SERVICE_UNAVAILABLE'],
  application: ['UNAUTHENTICATED', 'INVALID_TOKEN', 'APPLICATION_DISABLED', 'RATE_LIMITED'],
  payer: ['RATE_LIMITED'],
  gateway: ['RATE_LIMITED'],
  anyone: [],
  query: ['VALIDATION_FAILED'],
  text: ['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_FAILED'],
  bytes: ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_FAILED'],
} as const satisfies Record<string, readonly ErrorCode[]>;
type Implied = { [Part in keyof typeof implied]: (typeof implied)[Part][number] };

/** Every code a route can be refused with. */
export const codesOf = (route: Route): ErrorCode[] => [
  ...new Set([
    ...route.errors,
    ...implied[route.access],
    ...(route.query ? implied.query : []),
    ...(route.body ? implied['bytes' in route.body ? 'bytes' : 'text'] : []),
    ...implied.always,
  ]),
];

type Has<R, Part extends string, Type> = R extends Record<Part, Type> ? true : false;

export type CodeOf<R extends Route> =
  | R['errors'][number]
  | Implied['always' | R['access']]
  | (Has<R, 'query', z.ZodObject> extends true ? Implied['query'] : never)
  | (Has<R, 'body', object> extends true ? Implied['text'] : never);

/** What a handler may answer: declared statuses; pages say a refusal themselves. */
export type StatusOf<R extends Route> =
  | (keyof R['replies'] & number)
  | (R['access'] extends 'payer' ? (typeof errors)[CodeOf<R>]['status'] : never);

export interface Reply<Status extends number = number> {
  status: Status;
  headers?: Record<string, string>;
  /** JSON text, or an HTML page for a payer's route. */
  body?: string | Buffer;
}

/** A failure of this route: only a declared code compiles. To be thrown. */
export type Refuse<Code extends ErrorCode> = (
  code: Code,
  /** Without one, what the code means. */
  message?: string,
  options?: ErrorOptions & { details?: ErrorDetails },
) => PaymentError;

/** What a handler sees of a request. */
export interface RouteRequest<Code extends ErrorCode = never> {
  params: Readonly<Record<string, string>>;
  /** The value of a header; undefined when it is absent. */
  header(name: string): string | undefined;
  /** A header line by line: `header` joins lines with a comma. Costs as much as reading all headers again. */
  headerLines(name: string): readonly string[];
  refuse: Refuse<Code>;
  /** Aborts when the client hangs up. */
  disconnectSignal(): AbortSignal;
}
export interface BodyReaders {
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readJson(): Promise<JsonNode>;
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readForm(): Promise<URLSearchParams>;
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readBytes(): Promise<Buffer>;
}

/** Of a route: its parts by what the row declares, so that nothing undeclared can be read. */
export type RequestOf<R extends Route> = RouteRequest<CodeOf<R>> &
  (R['access'] extends 'application' ? { caller: Caller } : unknown) &
  (R['access'] extends 'payer' ? Pick<AnyRequest, 'search'> : unknown) &
  (R['access'] extends 'gateway' ? Pick<AnyRequest, 'address'> : unknown) &
  (R extends { query: infer Q extends z.ZodObject } ? { query: z.output<Q> } : unknown) &
  (R extends { body: { json: z.ZodType } } ? Pick<BodyReaders, 'readJson'> : unknown) &
  (R extends { body: { form: z.ZodType } } ? Pick<BodyReaders, 'readForm'> : unknown) &
  (R extends { body: { bytes: string } } ? Pick<BodyReaders, 'readBytes'> : unknown);

export type Handler<R extends Route> = (request: RequestOf<R>) => Promise<Reply<StatusOf<R>>>;

/** What the application hands to every handler; each sees of it what its row declares. */
export type AnyRequest = RouteRequest<ErrorCode> &
  BodyReaders & {
    caller: Caller;
    query: never;
    /** The client's, as limits count it. */
    address: string;
    /** What a payer's browser brings along, whatever that is. */
    search(): URLSearchParams;
  };
