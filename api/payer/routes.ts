import { limits } from '../../contract/limits.ts';
import type { Route } from '../http/route.ts';
import { paymentParams } from '../payments/routes.ts';

const returning = {
  path: '/api/v1/payments/:payment_id/return',
  access: 'payer',
  description:
    'Where the gateway sends the payer. What it brings along is a hint and never proof: the gateway ' +
    `is asked, for at most 10 seconds and not within ${limits.verifyReuseSeconds} seconds of its last answer to a return, and the ` +
    'payer goes on to the callback URL with `payment_id`, `order_id` and `status`; `processing` where ' +
    'the outcome is not certain yet.',
  params: paymentParams,
  replies: {
    303: { description: "To the application's callback URL.", headers: ['location'] },
  },
  errors: ['PAYMENT_NOT_FOUND'],
} as const;

export const payerRoutes = {
  checkout: {
    method: 'GET',
    path: '/api/v1/payments/:payment_id/checkout',
    access: 'payer',
    summary: 'Send the payer to the gateway',
    description:
      "Open it in the payer's browser. Waits up to 10 seconds for the gateway to open the payment, " +
      'then shows a page that tries again by itself.',
    params: paymentParams,
    replies: {
      200: {
        description: 'A form that submits itself, for gateways that need POST.',
        headers: ['content-security-policy'],
        content: 'page',
      },
      302: {
        description: 'To the gateway, while the payment is `pending`.',
        headers: ['location'],
      },
      303: {
        description: "To the application's callback URL, once it is not `pending` any more.",
        headers: ['location'],
      },
      503: {
        description:
          'A page that tries again by itself: the gateway has not opened the payment yet.',
        headers: ['content-security-policy', 'retry-after', 'refresh'],
        content: 'page',
      },
    },
    errors: ['PAYMENT_NOT_FOUND'],
  },
  returnFromGateway: { ...returning, method: 'GET', summary: 'Come back from the gateway' },
  returnFromGatewayByPost: {
    ...returning,
    method: 'POST',
    summary: 'Come back from a gateway that posts',
  },
} as const satisfies Record<string, Route>;
