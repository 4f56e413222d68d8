import type { z } from 'zod';
import { errorResponses } from '../../contract/error-responses.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { errors } from '../../contract/errors.ts';
import { type HeaderName, pageHeaders } from './response-headers.ts';
import type { Content, Route } from './route.ts';
import { errorCodes } from './route.ts';
import { invalidMessage } from './validation.ts';

/** One response that a route declares: a success, or an error with one code. */
export interface DeclaredResponse {
  status: number;
  /** Undefined for a success. */
  code: ErrorCode | undefined;
  description: string;
  requiredHeaders: readonly HeaderName[];
  optionalHeaders: readonly HeaderName[];
  content: Content | undefined;
  examples: Readonly<Record<string, unknown>>;
  links: readonly string[];
}

const budgetHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining'] as const;

/** Codes of responses that are sent before the application is known, so they have no budget headers. */
const uncounted: ReadonlySet<ErrorCode> = new Set([
  'UNAUTHENTICATED',
  'INVALID_TOKEN',
  'METHOD_NOT_ALLOWED',
]);
/** Codes of responses that are sent before or after that. */
const maybeCounted: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'INTERNAL',
  'SERVICE_UNAVAILABLE',
]);

const headersByCode: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  UNAUTHENTICATED: ['www-authenticate'],
  INVALID_TOKEN: ['www-authenticate'],
  METHOD_NOT_ALLOWED: ['allow'],
  RATE_LIMITED: ['retry-after'],
  SERVICE_UNAVAILABLE: ['retry-after'],
};

/** Every response of a route: those in its row, and those that follow from the rest of the row. */
export const declaredResponses = (route: Route): DeclaredResponse[] => [
  ...Object.entries(route.responses).map(([status, response]) => ({
    status: Number(status),
    code: undefined,
    description: response.description,
    requiredHeaders: [
      'x-request-id' as const,
      ...(route.access === 'application' ? budgetHeaders : []),
      ...(response.headers ?? []),
    ],
    optionalHeaders: response.optionalHeaders ?? [],
    content: response.content,
    examples: response.examples ?? {},
    links: response.links ?? [],
  })),
  ...errorCodes(route).map((code) => declaredError(route, code)),
];

const declaredError = (route: Route, code: ErrorCode): DeclaredResponse => {
  const isPage = route.access === 'payer';
  const ownHeaders = headersByCode[code] ?? [];
  const countedHeaders =
    route.access === 'application' && !uncounted.has(code) ? budgetHeaders : [];
  const isMaybeCounted = maybeCounted.has(code);
  return {
    status: errors[code].status,
    code,
    description: `\`${code}\`: ${errors[code].meaning}`,
    requiredHeaders: [
      'x-request-id',
      ...ownHeaders,
      ...(isMaybeCounted ? [] : countedHeaders),
      ...(isPage ? pageHeaders : []),
      ...(isPage && ownHeaders.includes('retry-after') ? (['refresh'] as const) : []),
    ],
    optionalHeaders: isMaybeCounted ? countedHeaders : [],
    content: isPage ? 'page' : errorResponses[code],
    examples: isPage ? {} : { [code]: exampleError(route, code) },
    links: [],
  };
};

const refundAmounts = {
  amount: 1250,
  amount_refunded: 1250,
  amount_refund_pending: 0,
  amount_disputed: 0,
  refundable: 0,
};
const isAboutAmounts = (code: ErrorCode): boolean =>
  code === 'REFUND_EXCEEDS_PAYMENT' ||
  code === 'REFUND_IN_PROGRESS' ||
  code === 'REFUNDABLE_AMOUNT_CHANGED';

/** The example of a route without a body and a query. */
const unknownParameter = { path: 'expand', rule: 'unknown_field', message: 'is not a known field' };

const exampleError = (
  { validationExample: field = unknownParameter, validationMessage, query, body }: Route,
  code: ErrorCode,
): z.infer<(typeof errorResponses)[ErrorCode]> => {
  const isInvalid = code === 'VALIDATION_FAILED';
  const message = validationMessage ?? invalidMessage(query || !body ? 'query' : 'body');
  return {
    error: {
      code,
      message: isInvalid ? message : errors[code].meaning,
      ...(isInvalid && { details: { fields: [field] } }),
      ...(code === 'RATE_LIMITED' && { details: { retry_after: 23 } }),
      ...(isAboutAmounts(code) && { details: refundAmounts }),
      ...(code === 'REFUND_NOT_ALLOWED' && { details: { limit: 100_000, used: 99_500 } }),
      ...(code === 'ORDER_ALREADY_PAID' && {
        details: { payment_id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP' },
      }),
      ...(code === 'PAYMENT_NOT_CANCELLABLE' && { details: { status: 'paid' } }),
      request_id: 'req_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    },
  };
};
