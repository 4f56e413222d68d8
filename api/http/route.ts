import type { z } from 'zod';
import type { ErrorCode, ErrorDetails, FieldError, PaymentError } from '../../contract/errors.ts';
import type { errors } from '../../contract/errors.ts';
import type { JsonNode } from '../../contract/json.ts';
import type { TokenScope } from '../../contract/token.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import type { HeaderName } from './response-headers.ts';

/** The body of a response: JSON by a schema, or a `page` for a browser. */
export type Content = z.ZodType | 'page';

/** A successful response of a route. */
export interface ResponseSpec {
  description: string;
  /** Always present, in addition to the headers of every response. */
  headers?: readonly HeaderName[];
  optionalHeaders?: readonly HeaderName[];
  content?: Content;
  examples?: Readonly<Record<string, unknown>>;
  /** Names of routes that can follow with the payment of this response. */
  links?: readonly string[];
}

/**
 * A route's requests and responses, declared beside its handler. The validation of queries, the OpenAPI
 * document and the tests read it. Handlers validate path parameters, headers and bodies, because each
 * responds differently to invalid ones.
 */
export interface RouteSpec {
  /** The group in the documentation; by default that of the access. */
  tag?: 'Disputes' | 'Events' | 'Links' | 'Movements' | 'Notice pages' | 'Refunds';
  summary: string;
  description: string;
  params?: z.ZodObject;
  /**
   * Validated before the handler runs; unknown and repeated parameters are rejected. An application sends none without it. The others
   * may send what they like: gateways, mail programs and browsers add to the addresses that they were given.
   */
  query?: z.ZodObject;
  /** By lower-case name. */
  headers?: z.ZodObject;
  body?:
    | { json: z.ZodType; examples: Readonly<Record<string, unknown>>; optional?: true }
    | { form: z.ZodObject }
    /** Raw bytes; the text describes them. */
    | { bytes: string }
    /** A form of any fields; the text describes them. Anything else reads as a form without any. */
    | { fields: string };
  /** The problem in the example of a VALIDATION_FAILED response. */
  validationExample?: FieldError;
  /** The message of that response, if it is not the one of an invalid body or query. */
  validationMessage?: string;
  responses: Readonly<Record<number, ResponseSpec>>;
  /** Error codes of its handler, in addition to those that follow from the rest and from the access. */
  errors: readonly ErrorCode[];
}

/**
 * The callers of a route. `application`: needs a bearer token, gets JSON. `payer`: needs the link of a
 * payment, gets pages and redirects. `gateway`: a provider's server, authenticated by its signature or
 * a secret address. `anyone`: public.
 */
export type Access = 'application' | 'payer' | 'gateway' | 'anyone';

/** One row of the table of routes. */
export interface Route extends RouteSpec {
  /** The scope that a token needs; undefined if every token may call the route. */
  scope?: TokenScope | undefined;
  method: 'GET' | 'POST';
  /** From the root, with `:name` for parameters. */
  path: string;
  access: Access;
}

/** Makes the rows of the routes that these callers may call. A handler that responds as its spec does not declare does not compile. */
export const routesFor = <A extends Access>(access: A, scope?: TokenScope) => {
  const rowOf =
    <Method extends Route['method']>(method: Method) =>
    <S extends RouteSpec, Deps>(
      path: string,
      spec: S,
      createHandler: (deps: Deps) => Handler<A, S>,
    ) => ({ ...spec, method, path: `/api/v1${path}`, access, scope, createHandler });
  return { get: rowOf('GET'), post: rowOf('POST') };
};

const impliedErrors = {
  always: ['METHOD_NOT_ALLOWED', 'INTERNAL', 'SERVICE_UNAVAILABLE'],
  application: [
    ...(['UNAUTHENTICATED', 'INVALID_TOKEN', 'APPLICATION_DISABLED', 'RATE_LIMITED'] as const),
    'VALIDATION_FAILED',
  ],
  payer: ['RATE_LIMITED'],
  gateway: ['RATE_LIMITED'],
  anyone: [],
  query: ['VALIDATION_FAILED'],
  text: ['MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_FAILED'],
  bytes: ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_FAILED'],
  fields: [],
} as const satisfies Record<string, readonly ErrorCode[]>;
type ImpliedErrors = { [Part in keyof typeof impliedErrors]: (typeof impliedErrors)[Part][number] };

/** Every error code that a route can respond with. */
export const errorCodes = (route: Route): ErrorCode[] => [
  ...new Set([
    ...route.errors,
    ...impliedErrors[route.access],
    ...(route.scope ? (['INSUFFICIENT_SCOPE'] as const) : []),
    ...(route.query ? impliedErrors.query : []),
    ...(route.body ? impliedErrors[kindOf(route.body)] : []),
    ...impliedErrors.always,
  ]),
];

const kindOf = (body: NonNullable<Route['body']>): 'bytes' | 'fields' | 'text' => {
  if ('bytes' in body) return 'bytes';
  return 'fields' in body ? 'fields' : 'text';
};

type Has<R, Part extends string, Type> = R extends Record<Part, Type> ? true : false;

/** The error codes that a handler of this route may throw. */
export type CodeOf<A extends Access, S extends RouteSpec> =
  | S['errors'][number]
  | ImpliedErrors['always' | A]
  | (Has<S, 'query', z.ZodObject> extends true ? ImpliedErrors['query'] : never)
  | (Has<S, 'body', { fields: string }> extends true
      ? never
      : Has<S, 'body', object> extends true
        ? ImpliedErrors['text']
        : never);

/** The statuses that a handler of this route may return; a payer's page may also return error statuses. */
export type StatusOf<A extends Access, S extends RouteSpec> =
  | (keyof S['responses'] & number)
  | (A extends 'payer' ? (typeof errors)[CodeOf<A, S>]['status'] : never);

export interface HandlerResult<Status extends number = number> {
  status: Status;
  headers?: Record<string, string>;
  /** JSON text, or an HTML page for a payer's route. */
  body?: string | Buffer;
}

/** Makes the error to throw; an undeclared code does not compile. */
export type Refuse<Code extends ErrorCode> = (
  code: Code,
  /** The code's meaning by default. */
  message?: string,
  options?: ErrorOptions & { details?: ErrorDetails },
) => PaymentError;

/** The part of a request that every handler sees. */
export interface RouteRequest<Code extends ErrorCode = never> {
  params: Readonly<Record<string, string>>;
  /** The value of a header; undefined when it is absent. */
  header(name: string): string | undefined;
  /** Each line of a header; `header` joins them with a comma. As expensive as parsing all headers again. */
  headerLines(name: string): readonly string[];
  refuse: Refuse<Code>;
  /** Aborts when the client disconnects. */
  disconnectSignal(): AbortSignal;
}

interface BodyReaders {
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readJson(): Promise<JsonNode>;
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readForm(): Promise<URLSearchParams>;
  /** @throws PaymentError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_JSON */
  readBytes(): Promise<Buffer>;
  readFields(): Promise<URLSearchParams>;
}

/** A request as the handler of this route sees it: reading an undeclared part does not compile. */
export type RequestOf<A extends Access, S extends RouteSpec> = RouteRequest<CodeOf<A, S>> &
  (A extends 'application' ? { caller: Caller } : unknown) &
  (A extends 'payer' ? Pick<AnyRequest, 'search' | 'isHead'> : unknown) &
  (A extends 'gateway' ? Pick<AnyRequest, 'address'> : unknown) &
  (S extends { query: infer Q extends z.ZodObject } ? { query: z.output<Q> } : unknown) &
  (S extends { body: { json: z.ZodType } } ? Pick<BodyReaders, 'readJson'> : unknown) &
  (S extends { body: { form: z.ZodType } } ? Pick<BodyReaders, 'readForm'> : unknown) &
  (S extends { body: { bytes: string } } ? Pick<BodyReaders, 'readBytes'> : unknown) &
  (S extends { body: { fields: string } } ? Pick<BodyReaders, 'readFields'> : unknown);

/** Returning an undeclared status does not compile. */
export type Handler<A extends Access, S extends RouteSpec> = (
  request: RequestOf<A, S>,
) => Promise<HandlerResult<StatusOf<A, S>>>;

/** The whole request, as the application passes it to every handler. */
export type AnyRequest = RouteRequest<ErrorCode> &
  BodyReaders & {
    caller: Caller;
    query: never;
    /** The client's address, as limits count it. */
    address: string;
    /** The query parameters of a payer's browser, not validated. */
    search(): URLSearchParams;
    /** A program looks whether a link works; no payer sees the answer, so it must change nothing. */
    isHead: boolean;
  };
