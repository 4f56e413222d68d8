import { z } from 'zod';
import { PaymentResponse, PaymentId, PaymentListResponse } from '../../contract/responses.ts';
import { CreatePayment, IdempotencyKey } from '../../contract/create-payment.ts';
import { limits } from '../../contract/limits.ts';
import { ListPayments, sameWithCursor } from '../../contract/list-payments.ts';
import type { Route } from '../http/route.ts';
import {
  createExamples,
  invalidCreate,
  invalidList,
  listExample,
  paymentExamples,
} from '../openapi/examples.ts';

export const paymentParams = z.object({ payment_id: PaymentId });

export const paymentRoutes = {
  createPayment: {
    method: 'POST',
    path: '/api/v1/payments',
    access: 'application',
    summary: 'Create a payment',
    description:
      'The answer is durable before it is sent and waits for no gateway. Send the payer to ' +
      '`checkout_url`. With an `Idempotency-Key` the request can be repeated without making a ' +
      'second payment: use one key for each payment that is to be made and the same one in every ' +
      'retry of it, for another key makes another payment. The same key with the same body (the order ' +
      'of its keys does not matter) ' +
      'answers the first status and bytes again, for at least 24 hours, per application and token ' +
      'mode; failures are not kept. The body is sent in UTF-8, uncompressed, with at most ' +
      `${limits.requestBodyKb} KB. A duplicate key, NUL or a lone surrogate in a string and nesting over 32 ` +
      'levels are refused.',
    headers: z.object({ 'idempotency-key': IdempotencyKey.optional() }),
    body: { json: CreatePayment, examples: createExamples },
    invalid: invalidCreate,
    replies: {
      201: {
        description: 'The payment, `pending`.',
        headers: ['location'],
        optionalHeaders: ['idempotent-replayed'],
        content: PaymentResponse,
        examples: { pending: paymentExamples.pending },
        links: ['getPayment', 'verifyPayment'],
      },
    },
    errors: ['INVALID_IDEMPOTENCY_KEY', 'GATEWAY_NOT_ALLOWED', 'IDEMPOTENCY_KEY_REUSED'],
  },
  listPayments: {
    method: 'GET',
    path: '/api/v1/payments',
    access: 'application',
    summary: 'List payments',
    description:
      "The application's payments of the token's mode, newest first. Filters add up. With `page` a " +
      'payment that is created meanwhile moves the others on; with `cursor` none is repeated or ' +
      `missed. ${sameWithCursor} An unknown or repeated parameter and a value out of range are refused.`,
    query: ListPayments,
    invalid: invalidList,
    replies: {
      200: {
        description: 'A page of payments.',
        content: PaymentListResponse,
        examples: { list: listExample },
      },
    },
    errors: [],
  },
  getPayment: {
    method: 'GET',
    path: '/api/v1/payments/:payment_id',
    access: 'application',
    summary: 'Get one payment',
    description:
      "Another application's payment, and one of the other token mode, is not found either.",
    params: paymentParams,
    replies: {
      200: {
        description: 'The payment as it stands.',
        content: PaymentResponse,
        examples: paymentExamples,
      },
    },
    errors: ['PAYMENT_NOT_FOUND'],
  },
  verifyPayment: {
    method: 'POST',
    path: '/api/v1/payments/:payment_id/verify',
    access: 'application',
    summary: 'Verify a payment with its gateway',
    description:
      'Asks the gateway and answers the payment, ended or not. Idempotent: however often it is ' +
      'asked, one outcome and one event come of it. Answers from the record when the payment has ' +
      'ended, when its payer was never sent to the gateway, and within ' +
      `${limits.verifyReuseSeconds} seconds of the last answer; where the gateway gave none then, it is 502 again.`,
    params: paymentParams,
    replies: {
      200: {
        description: 'The payment as the gateway says it stands.',
        content: PaymentResponse,
        examples: { paid: paymentExamples.paid },
      },
    },
    errors: ['PAYMENT_NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
  },
} as const satisfies Record<string, Route>;
