import { z } from 'zod';
import { requestIdPattern } from '../../contract/ids.ts';

/** Every header of an answer that is part of the contract, by its lower-case name. */
export const headers = {
  'x-request-id': {
    description: 'Names this request in our log; quote it when something went wrong.',
    schema: z.string().regex(requestIdPattern),
  },
  'x-ratelimit-limit': {
    description: 'Requests the application may make in a clock minute.',
    schema: z.coerce.number().int().min(1),
  },
  'x-ratelimit-remaining': {
    description: 'Requests left in the current minute.',
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
    description: 'The methods this path has.',
    schema: z.string().regex(/^[A-Z]+(, [A-Z]+)*$/),
  },
  location: {
    description: 'Where to go on.',
    schema: z.url(),
  },
  'idempotent-replayed': {
    description: 'There when the Idempotency-Key was used before and its answer is sent again.',
    schema: z.literal('true'),
  },
  'content-security-policy': {
    description: 'Nothing from elsewhere is loaded.',
    schema: z.string().min(1),
  },
  refresh: {
    description: 'Seconds after which the page tries again by itself.',
    schema: z.coerce.number().int().min(1),
  },
} as const satisfies Record<string, { description: string; schema: z.ZodType }>;

export type HeaderName = keyof typeof headers;
