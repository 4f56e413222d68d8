import type { z } from 'zod';
import { errorResponses } from '../../contract/responses.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { errors } from '../../contract/errors.ts';
import type { HeaderName } from './headers.ts';
import type { Content, Route } from './route.ts';
import { codesOf } from './route.ts';

/** One way a route can answer: well, or with one code. */
export interface Answer {
  status: number;
  code: ErrorCode | undefined;
  description: string;
  requiredHeaders: readonly HeaderName[];
  optionalHeaders: readonly HeaderName[];
  content: Content | undefined;
  examples: Readonly<Record<string, unknown>>;
  links: readonly string[];
}

const budgetHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining'] as const;

/** Codes that are answered before it is known whose budget counts, and those that may be. */
const uncounted: ReadonlySet<ErrorCode> = new Set([
  'UNAUTHENTICATED',
  'INVALID_TOKEN',
  'METHOD_NOT_ALLOWED',
]);
const maybeCounted: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'INTERNAL',
  'SERVICE_UNAVAILABLE',
]);

const headersOfCode: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  UNAUTHENTICATED: ['www-authenticate'],
  INVALID_TOKEN: ['www-authenticate'],
  METHOD_NOT_ALLOWED: ['allow'],
  RATE_LIMITED: ['retry-after'],
  SERVICE_UNAVAILABLE: ['retry-after'],
};

/** Every answer a row of the table declares, with what follows from the rest of the row. */
export const responsesOf = (route: Route): Answer[] => [
  ...Object.entries(route.replies).map(([status, reply]) => ({
    status: Number(status),
    code: undefined,
    description: reply.description,
    requiredHeaders: [
      'x-request-id' as const,
      ...(route.access === 'application' ? budgetHeaders : []),
      ...(reply.headers ?? []),
    ],
    optionalHeaders: reply.optionalHeaders ?? [],
    content: reply.content,
    examples: reply.examples ?? {},
    links: reply.links ?? [],
  })),
  ...codesOf(route).map((code) => refusalOf(route, code)),
];

const refusalOf = (route: Route, code: ErrorCode): Answer => {
  const counting = route.access === 'application' && !uncounted.has(code) ? budgetHeaders : [];
  const isPage = route.access === 'payer';
  return {
    status: errors[code].status,
    code,
    description: `\`${code}\`: ${errors[code].meaning}`,
    requiredHeaders: [
      'x-request-id',
      ...(headersOfCode[code] ?? []),
      ...(maybeCounted.has(code) ? [] : counting),
      ...(isPage ? (['content-security-policy'] as const) : []),
      ...(isPage && headersOfCode[code]?.includes('retry-after') ? (['refresh'] as const) : []),
    ],
    optionalHeaders: maybeCounted.has(code) ? counting : [],
    content: isPage ? 'page' : errorResponses[code],
    examples: isPage ? {} : { [code]: exampleOf(route, code) },
    links: [],
  };
};

const exampleOf = (
  { invalid }: Route,
  code: ErrorCode,
): z.infer<(typeof errorResponses)[ErrorCode]> => {
  const problem = code === 'VALIDATION_FAILED' ? invalid : undefined;
  return {
    error: {
      code,
      message: problem?.message ?? errors[code].meaning,
      ...(problem && { details: { fields: problem.fields } }),
      ...(code === 'RATE_LIMITED' && { details: { retry_after: 23 } }),
      request_id: 'req_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    },
  };
};
