import { z } from 'zod';
import { requestIdPattern } from '../../contract/ids.ts';
import { languages } from '../../contract/languages.ts';

/** Every response header that is part of the contract, by its lower-case name. */
export const responseHeaders = {
  'x-request-id': {
    description: 'Identifies this request in our log; quote it when you report a problem.',
    schema: z.string().regex(requestIdPattern),
  },
  'x-ratelimit-limit': {
    description: 'Requests that the application may make in a clock minute.',
    schema: z.coerce.number().int().min(1),
  },
  'x-ratelimit-remaining': {
    description: 'Requests left in the current clock minute.',
    schema: z.coerce.number().int().min(0),
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    schema: z.coerce.number().int().min(1),
  },
  'www-authenticate': {
    description: 'How to authenticate.',
    schema: z.literal('Bearer'),
  },
  allow: {
    description: 'The methods that this path supports.',
    schema: z.string().regex(/^[A-Z]+(, [A-Z]+)*$/),
  },
  location: {
    description: 'The URL to continue at.',
    schema: z.url(),
  },
  'idempotent-replayed': {
    description: 'Present when the Idempotency-Key was used before and this repeats its response.',
    schema: z.literal('true'),
  },
  'content-security-policy': {
    description: 'The page loads nothing from other origins.',
    schema: z.string().min(1),
  },
  'content-language': {
    description: 'The language of the page.',
    schema: z.enum(languages),
  },
  vary: {
    description: "The page's language depends on these headers of the request.",
    schema: z.literal('Accept-Language'),
  },
  refresh: {
    description: 'Seconds after which the page reloads by itself.',
    schema: z.coerce.number().int().min(1),
  },
} as const satisfies Record<string, { description: string; schema: z.ZodType }>;

export type HeaderName = keyof typeof responseHeaders;

/** The headers of every page of a payer. */
export const pageHeaders = ['content-language', 'vary', 'content-security-policy'] as const;
