import { z } from 'zod';
import { CreateRefund } from '../../contract/create-refund.ts';
import type { FieldError } from '../../contract/errors.ts';
import { refundId } from '../../contract/ids.ts';
import { type JsonNode, toPlainValue } from '../../contract/json.ts';
import { metadataProblems } from '../../contract/metadata.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import { RefundResponse } from '../../contract/refund-responses.ts';
import { asCreated, presentRefund, refundStart } from '../../contract/refund.ts';
import { IdempotencyKey, Traceparent } from '../../contract/request-fields.ts';
import { sandboxRefundPlanProblems } from '../../contract/sandbox-refund-plan.ts';
import { parseTraceparent } from '../../contract/trace.ts';
import { findDriver } from '../../gateways/registry.ts';
import { findRefundProblem, refundableOf, type RefundProblem } from '../../gateways/refundable.ts';
import type { RefundablePayment, Refunds } from '../../postgres/refunds/refunds.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { ownerOf } from '../http/owned-records.ts';
import type { Handler, Refuse, RouteSpec } from '../http/route.ts';
import { amountExample, asFields, fieldErrors, invalidBody } from '../http/validation.ts';
import { fingerprintOf, readIdempotencyKey, replay } from '../payments/idempotency.ts';
import { findByPaymentId, paymentParams } from '../payments/payment-id.ts';
import { refundExamples } from './refund-examples.ts';

const createExamples = {
  everything: {},
  part: { amount: 600, reason: 'requested_by_customer', reference: 'return-77' },
  careful: { amount: 600, refundable_amount: 1250 },
} satisfies Record<string, z.input<typeof CreateRefund>>;

export const createRefundRoute = {
  tag: 'Refunds',
  summary: 'Give money back',
  description:
    'Reserves the amount of a paid payment, stores the refund durably and responds; the gateway is told afterwards. ' +
    'The payment stays `paid`. Refunds together are never more than was paid.\n\n' +
    'The `Idempotency-Key` is mandatory. Use one key for each refund, and the same key in every retry of it: another ' +
    'key is another refund. The key is kept as long as the refund. The same key with the same body returns the first ' +
    'status and bytes again.\n\n' +
    'The token needs the scope `refund`, which an admin gives. An admin may also limit what an application refunds in a ' +
    'day of UTC: then the response is `403`, also in a currency for which the admin has set no limit.',
  params: paymentParams,
  headers: z.object({ 'idempotency-key': IdempotencyKey, traceparent: Traceparent.optional() }),
  body: { json: CreateRefund, examples: createExamples },
  validationExample: amountExample,
  responses: {
    201: {
      description: 'The refund, `pending`.',
      headers: ['location'],
      optionalHeaders: ['idempotent-replayed'],
      content: RefundResponse,
      examples: { reserved: refundExamples.reserved },
    },
  },
  errors: [
    'IDEMPOTENCY_KEY_REQUIRED',
    'INVALID_IDEMPOTENCY_KEY',
    'REFUND_NOT_ALLOWED',
    'PAYMENT_NOT_FOUND',
    'IDEMPOTENCY_KEY_REUSED',
    'PAYMENT_NOT_REFUNDABLE',
    'REFUND_EXCEEDS_PAYMENT',
    'REFUND_NOT_SUPPORTED',
    'REFUND_IN_PROGRESS',
    'REFUNDABLE_AMOUNT_CHANGED',
  ],
} as const satisfies RouteSpec;

export interface Deps {
  refunds: Pick<Refunds, 'insert' | 'get' | 'getPayment' | 'getLimit'>;
  workflows: Pick<WorkflowCalls, 'restart'>;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Logger, 'warn'>;
}

/** The sums of the payment may change between the check and the reservation, so a create tries so often. */
const mostTries = 5;
const othersAreMade = {
  code: 'REFUND_IN_PROGRESS',
  message: 'Other refunds of the payment are being made: try again.',
} as const;

/** Reserves the amount and responds; the workflow starts after that. */
export const createRefundHandler =
  ({
    refunds,
    workflows,
    publicBaseUrl,
    now,
    logger,
  }: Deps): Handler<'application', typeof createRefundRoute> =>
  async (request) => {
    const { caller, refuse } = request;
    const key = readIdempotencyKey(request);
    if (key === undefined) throw refuse('IDEMPOTENCY_KEY_REQUIRED');
    const sent = await request.readJson();
    // Without an amount everything goes back.
    const body = asFields(CreateRefund, sent, { except: ['amount', 'refundable_amount'] });
    const paymentId = request.params['payment_id'] ?? '';
    const owner = ownerOf(caller);
    const id = refundId([owner.application, String(owner.test), key]);
    const fingerprint = fingerprintOf(sent, paymentId);
    const location = `${publicBaseUrl}/api/v1/refunds/${id}`;

    const findStored = async () => {
      const stored = await refunds.get(id, owner);
      if (!stored?.fingerprint) return undefined;
      const first = {
        fingerprint: stored.fingerprint,
        location,
        body: presentRefund(asCreated(stored)),
      };
      return replay(first, [fingerprint], refuse);
    };
    const repeated = await findStored();
    if (repeated) return repeated;

    const fields = parse(body, refuse);
    for (let tries = 0; ; tries += 1) {
      const payment = await findByPaymentId(request, (found) => refunds.getPayment(found, owner));
      if (!payment) throw refuse('PAYMENT_NOT_FOUND');
      const planProblems = fields.sandbox ? sandboxRefundPlanProblems(fields.sandbox, payment) : [];
      if (planProblems.length > 0) throw invalidBody(refuse, planProblems);
      const left = amountLeft(payment);
      const amount = fields.amount ?? left;
      const wanted = { amount, refundableAmount: fields.refundable_amount };
      const problem = findRefundProblem(payment, wanted, now());
      if (problem) {
        // The same request, sent at the same moment, may have reserved the amount.
        const stored = await findStored();
        if (stored) return stored;
        throw toError(problem, payment, now(), refuse);
      }
      if (tries === mostTries) throw toError(othersAreMade, payment, now(), refuse);

      const created = await refunds.insert({
        ...owner,
        id,
        paymentId,
        amount,
        method: 'refund',
        requestedBy: 'application',
        reason: fields.reason ?? null,
        reference: fields.reference ?? null,
        metadata: metadataIn(body)?.text ?? '{}',
        createdAt: now(),
        plan: fields.sandbox,
        fingerprint,
        token: caller.token,
        traceparent: parseTraceparent(request.header('traceparent')) ?? null,
        onlyIfLeft:
          fields.amount === undefined || fields.refundable_amount !== undefined ? left : null,
        oneAtATime: findDriver(payment.driver)?.capabilities.refund?.several !== 'parallel',
      });
      if (created === 'over_limit' || created === 'exists') {
        // The same request, sent at the same moment, may have used the limit up.
        const stored = await findStored();
        if (stored) return stored;
      }
      if (created === 'over_limit') {
        const { currency } = payment;
        const limited = await refunds.getLimit(owner, currency);
        const { perDay: limit = 0, used = 0 } = limited ?? {};
        const message = limited
          ? undefined
          : `The application has a limit for its refunds, and none in ${currency}: nothing goes back there.`;
        throw refuse('REFUND_NOT_ALLOWED', message, { details: { limit, used } });
      }
      if (typeof created === 'object') {
        workflows.restart(refundStart(created)).catch((error: unknown) => {
          const facts = { payment_id: paymentId, refund_id: id, err: error };
          logger.warn(facts, 'Could not start the workflow of a refund; the sweeper will retry');
        });
        return { status: 201, body: presentRefund(created), headers: { location } };
      }
    }
  };

/** @throws PaymentError VALIDATION_FAILED with every problem at once */
const parse = (body: JsonNode, refuse: Refuse<'VALIDATION_FAILED'>): CreateRefund => {
  const parsed = CreateRefund.safeParse(toPlainValue(body));
  const metadata = metadataIn(body);
  const problems: FieldError[] = [
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...(metadata ? metadataProblems(metadata) : []),
  ];
  if (!parsed.success || problems.length > 0) throw invalidBody(refuse, problems);
  return parsed.data;
};

const metadataIn = (body: JsonNode): JsonNode | undefined =>
  body.kind === 'object' ? body.members.get('metadata') : undefined;

const toError = (
  { code, message }: RefundProblem,
  payment: RefundablePayment,
  at: Date,
  refuse: Refuse<RefundProblem['code']>,
) => {
  const { amount, amountRefunded, amountRefundPending, amountDisputed } = payment;
  const hasDetails =
    code === 'REFUND_EXCEEDS_PAYMENT' ||
    code === 'REFUNDABLE_AMOUNT_CHANGED' ||
    code === 'REFUND_IN_PROGRESS';
  const details = {
    amount,
    amount_refunded: amountRefunded,
    amount_refund_pending: amountRefundPending,
    amount_disputed: amountDisputed,
    refundable: refundableOf(payment, at).refundable,
  };
  return refuse(code, message, hasDetails ? { details } : {});
};
