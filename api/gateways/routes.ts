import { z } from 'zod';
import { slugPattern } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import type { Invalid, Route } from '../http/route.ts';

export const unsigned: Invalid = {
  message: 'The signature is not valid.',
  fields: [
    {
      path: 'signature',
      rule: 'signature',
      message: "must be the gateway's own, of these bytes and not older than 5 minutes",
    },
  ],
};

export const gatewayRoutes = {
  notifyOfPayment: {
    method: 'POST',
    path: '/api/v1/gateways/:gateway/notifications',
    access: 'gateway',
    summary: "Take a gateway's notification",
    description:
      "Where a provider's servers tell news of a payment. What comes without the provider's own " +
      `signature is refused, ${limits.addressFailuresPerMinute} times a minute for each client address. Of ` +
      "the rest nothing is believed either: the gateway is asked. Answered 2xx only once the payment's " +
      'workflow has it; repetitions, and news of a payment that is not known here, are answered 200 ' +
      'as well.',
    params: z.object({
      gateway: z
        .string()
        .regex(slugPattern)
        .meta({ description: 'Slug of the account at the provider.' }),
    }),
    body: {
      bytes: `As the provider documents it, uncompressed, with at most ${limits.requestBodyKb} KB.`,
    },
    invalid: unsigned,
    replies: { 200: { description: 'Taken.' } },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
