import { z } from 'zod';
import { failureReasons } from '../../contract/failure-codes.ts';
import type { Route } from '../http/route.ts';
import { paymentParams } from '../payments/routes.ts';

/** What the payer can choose on the sandbox gateway's page. */
export const sandboxActions = ['pay', 'pay_and_close', 'refuse', 'cancel'] as const;

const shared = {
  path: '/api/v1/sandbox/:payment_id',
  access: 'payer',
  params: paymentParams,
  errors: ['PAYMENT_NOT_FOUND'],
} as const;

const shown = { headers: ['content-security-policy'], content: 'page' } as const;

export const sandboxRoutes = {
  showSandbox: {
    ...shared,
    method: 'GET',
    summary: "Show the sandbox gateway's page",
    description: 'The built-in gateway moves no money; its page offers the ways a payment can end.',
    replies: { 200: { description: 'The page.', ...shown } },
  },
  chooseInSandbox: {
    ...shared,
    method: 'POST',
    summary: "Choose on the sandbox gateway's page",
    description:
      'Only the first choice counts. Open the `checkout_url` first, then post here, then follow the ' +
      'redirect: so a test needs no browser. No gateway is asked about a payment whose `checkout_url` ' +
      'was never opened, and it ends `expired` whatever was chosen here.',
    body: {
      form: z.object({
        action: z.enum(sandboxActions),
        failure_code: z
          .string()
          .optional()
          .meta({
            description: `Why a payment is refused: ${Object.keys(failureReasons).join(', ')}.`,
          }),
      }),
    },
    replies: {
      200: { description: 'After `pay_and_close`: nobody goes back to the shop.', ...shown },
      303: { description: "Back, to the service's return address.", headers: ['location'] },
    },
  },
} as const satisfies Record<string, Route>;
