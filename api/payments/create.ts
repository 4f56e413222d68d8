import { z } from 'zod';
import { CreatePayment } from '../../contract/create-payment.ts';
import { limits } from '../../contract/limits.ts';
import { returnUrl } from '../../contract/payment-fields.ts';
import { PaymentResponse } from '../../contract/payment-responses.ts';
import { presentCreated } from '../../contract/payment.ts';
import { IdempotencyKey, Traceparent } from '../../contract/request-fields.ts';
import { parseTraceparent } from '../../contract/trace.ts';
import type { IdempotencyKeys, StoredResponse } from '../../postgres/payments/idempotency-keys.ts';
import { sealPayer } from '../../postgres/payments/payers.ts';
import type { Payments } from '../../postgres/payments/payments.ts';
import type { SecretBox } from '../../postgres/secrets/secret-box.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import { logContext } from '../../telemetry/log.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import { ownerOf } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { amountExample } from '../http/validation.ts';
import type { Backlog } from './backlog.ts';
import { type Fingerprints, readIdempotencyKey, replay, storedKeyOf } from './idempotency.ts';
import type { Created, Deps as NewPaymentDeps } from './new-payment.ts';
import { newPayment } from './new-payment.ts';
import { paymentExamples } from './payment-examples.ts';
import type { Starter } from './starter.ts';

export const createExamples = {
  smallest: { order_id: 'order-1042', amount: 1250, currency: 'EUR' },
  everything: {
    order_id: 'order-1042',
    amount: 1250,
    currency: 'EUR',
    callback_url: 'https://shop.example/return',
    gateway: 'sandbox',
    description: 'Two tickets',
    metadata: { seat: '12A' },
    expires_in: 900,
  },
  played: {
    order_id: 'order-1042',
    amount: 1250,
    currency: 'EUR',
    sandbox: { outcome: 'failed', failure_code: 'insufficient_funds', after_seconds: 2 },
  },
} satisfies Record<string, z.input<typeof CreatePayment>>;

export const createPaymentRoute = {
  summary: 'Create a payment',
  description:
    'The payment is stored durably before the response is sent; the response waits for no gateway. ' +
    'Send the payer to `checkout_url`.\n\n' +
    'An `Idempotency-Key` makes the request safe to repeat. Use one key for each payment, and the same ' +
    'key in every retry of it: another key creates another payment. The same key with the same body ' +
    '(the order of its fields does not matter) returns the first status and bytes again, for at least ' +
    `${limits.idempotencyHours} hours, per application and token mode. Failed requests are not stored.\n\n` +
    'An application whose orders are paid once gets 409 `ORDER_ALREADY_PAID` for an order that another payment ' +
    'has paid. An open payment of the order refuses nothing.\n\n' +
    `The body is UTF-8, uncompressed, at most ${limits.requestBodyKb} KB. A duplicate key, NUL or a lone ` +
    `surrogate in a string, and nesting deeper than ${limits.jsonDepth} levels are rejected.`,
  headers: z.object({
    'idempotency-key': IdempotencyKey.optional(),
    traceparent: Traceparent.optional(),
  }),
  body: { json: CreatePayment, examples: createExamples },
  validationExample: amountExample,
  responses: {
    201: {
      description: 'The payment, `pending`.',
      headers: ['location'],
      optionalHeaders: ['idempotent-replayed'],
      content: PaymentResponse,
      examples: { pending: paymentExamples.pending },
      links: ['getPayment', 'verifyPayment'],
    },
  },
  errors: [
    'INVALID_IDEMPOTENCY_KEY',
    'GATEWAY_NOT_ALLOWED',
    'IDEMPOTENCY_KEY_REUSED',
    'ORDER_ALREADY_PAID',
  ],
} as const satisfies RouteSpec;

export interface Deps extends NewPaymentDeps {
  payments: Pick<Payments, 'insert'>;
  idempotencyKeys: Pick<IdempotencyKeys, 'get'>;
  starter: Pick<Starter, 'start'>;
  backlog: Pick<Backlog, 'check'>;
  metrics: Pick<ApiMetrics, 'created'>;
  fingerprintsOf: Fingerprints;
  payersBox: Pick<SecretBox, 'seal'>;
  publicBaseUrl: string;
}

/** The scope of idempotency keys, as stored. */
const keyScope = 'POST /api/v1/payments';
const keptFor = `${limits.idempotencyHours + 1} hours`;

/** Stores the payment and responds; the workflow starts after the response. */
export const createPaymentHandler = (
  deps: Deps,
): Handler<'application', typeof createPaymentRoute> => {
  const { payments, idempotencyKeys, starter, backlog, metrics, publicBaseUrl } = deps;
  const { fingerprintsOf, payersBox } = deps;

  const findStored = (caller: Caller, key: string): Promise<StoredResponse | undefined> =>
    idempotencyKeys.get(ownerOf(caller), keyScope, storedKeyOf(key));

  return async (request) => {
    const { caller, refuse } = request;
    const key = readIdempotencyKey(request);
    const body = await request.readJson();
    const fingerprints = key === undefined ? [] : fingerprintsOf(body);

    let created: Created;
    try {
      backlog.check();
      created = await newPayment(deps, request, body);
    } catch (error) {
      // A stored response is repeated even if the request would be rejected today.
      const stored = key !== undefined && (await findStored(caller, key));
      if (stored) return replay(stored, fingerprints, refuse);
      throw error;
    }

    const { payment, candidates, plan, isPaidOnce, payer, payerIgnored } = created;
    const location = `${publicBaseUrl}/api/v1/payments/${payment.id}`;
    const json = presentCreated(payment, { publicBaseUrl, payerIgnored });
    const response = { status: 201, location, body: json };
    const traceparent = parseTraceparent(request.header('traceparent')) ?? null;
    const planned = plan && { ...plan, returnUrl: returnUrl(payment.id, publicBaseUrl) };
    const options = {
      traceparent,
      plan: planned,
      isPaidOnce,
      candidates,
      payer: sealPayer(payersBox, payment.id, payer),
      payerLocale: payer?.locale ?? null,
    };
    const [fingerprint] = fingerprints;
    const record =
      key !== undefined && fingerprint
        ? { route: keyScope, keptFor, key: storedKeyOf(key), fingerprint, ...response }
        : null;
    // Two tries: a taken key may expire before its stored response is read.
    for (let tries = 1; tries <= 2; tries += 1) {
      const { isInserted, paidBy } = await payments.insert(payment, record, options);
      if (isInserted) {
        metrics.created.inc({ gateway: payment.gateway });
        const log = logContext.getStore();
        if (log) log['payment_id'] = payment.id;
        starter.start(payment);
        return { status: 201, body: response.body, headers: { location } };
      }
      const stored = key !== undefined && (await findStored(caller, key));
      if (stored) return replay(stored, fingerprints, refuse);
      if (paidBy !== null) {
        const message = `${paidBy} has paid the order.`;
        throw refuse('ORDER_ALREADY_PAID', message, { details: { payment_id: paidBy } });
      }
    }
    throw new Error('The idempotency key was taken twice, but no stored response was found');
  };
};
