import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  defaultPayloadConverter,
  defineSearchAttributeKey,
  type Headers,
  SearchAttributeType,
} from '@temporalio/common';
import { formatMoney } from '../contract/money.ts';
import type { WorkflowStart } from '../contract/payment.ts';
import { traceHeader } from '../contract/trace.ts';

/** Names and shapes that cross the engine. They are for ever: open workflows hold them. */
export const paymentsQueue = 'payments';
export const webhooksQueue = 'webhooks';

export const paymentWorkflow = 'payment';
export const latePaymentWorkflow = 'latePayment';
export const sweepWorkflow = 'sweep';
export const sweepScheduleId = 'sweep';
export const verifyUpdate = 'verify';
export const recheckSignal = 'recheck';

export interface PaymentInput {
  id: string;
  gateway: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** ISO 8601. */
  expiresAt: string;
}

export interface VerifyRequest {
  /** The payer came back: where the outcome is not certain, the payment is `processing` now. */
  returned: boolean;
  /** By the gateway's cancel link: where it can still be paid, it is to be closed there. */
  cancelled?: boolean;
}

/** Whether a try that was told this has done what the request asks for: one that knew less did less. */
export const covers = (told: VerifyRequest, request: VerifyRequest): boolean =>
  (told.returned || !request.returned) && (told.cancelled === true || request.cancelled !== true);

/** For operators; set at start and never upserted, which would cost a fifth of the throughput. */
export const searchAttributes = {
  application: defineSearchAttributeKey('Application', SearchAttributeType.KEYWORD),
  orderId: defineSearchAttributeKey('OrderId', SearchAttributeType.KEYWORD),
};

/** How long closed histories are kept: resets, the operators' searches and healing need them. */
export const historyRetention = '30 days';

/**
 * Arguments of a start, the same for every starter; nothing in them is personal or secret. A running
 * workflow is left alone; one that has closed is started again only where `again` says so.
 */
export const paymentStartOptions = (
  { id, gateway, amount, currency, expiresAt, ...facts }: WorkflowStart,
  { again = false } = {},
) => {
  const input: PaymentInput = { id, gateway, amount, currency, expiresAt: expiresAt.toISOString() };
  return {
    taskQueue: paymentsQueue,
    workflowId: id,
    workflowIdReusePolicy: again ? ('ALLOW_DUPLICATE' as const) : ('REJECT_DUPLICATE' as const),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    // A task that is lost with its worker is handed out again after this. The default of 10 s is all
    // that a payer at the checkout waits.
    workflowTaskTimeout: '4 seconds' as const,
    // Its activities inherit it: where the engine has fairness on, an application with many tasks due
    // does not stand in front of the others.
    priority: { fairnessKey: facts.application },
    args: [input] as [PaymentInput],
    typedSearchAttributes: [
      { key: searchAttributes.application, value: facts.application },
      { key: searchAttributes.orderId, value: facts.orderId },
    ],
    staticSummary: `${formatMoney({ amount, currency })} for ${facts.application}`,
    staticDetails: `Order ${asCode(facts.orderId)} through ${gateway}, to be paid before ${input.expiresAt}`,
  };
};

/** Details are Markdown: a backtick or the end of a line would end the code, and a link begin. */
const asCode = (text: string): string => `\`${text.replace(/[`\p{Cc}\u2028\u2029]/gu, "'")}\``;

/** Arguments of news for a workflow. Where it is lost, or was never started, it begins and has them. */
export const paymentRecheckOptions = (facts: WorkflowStart) => ({
  ...paymentStartOptions(facts, { again: true }),
  signal: recheckSignal,
  signalArgs: [],
});

/** For a client: a start carries the trace of what it is made for, where there is one. */
export const tracedStarts = (traceId: () => string | undefined): WorkflowClientInterceptor => ({
  start: (input, next) => next(traced(input, traceId())),
  signalWithStart: (input, next) => next(traced(input, traceId())),
});

const traced = <T extends { headers: Headers }>(input: T, trace: string | undefined): T => {
  if (trace === undefined) return input;
  const header = defaultPayloadConverter.toPayload(trace);
  return { ...input, headers: { ...input.headers, [traceHeader]: header } };
};

export interface LatePaymentInput {
  /** The payment's. */
  id: string;
  /** Of a run that goes on for another: when to give up, in ms since 1970. */
  until?: number;
}

/**
 * Arguments of a start of the search for late money. A running one is used. One that has closed may
 * have found nothing: what came since then is looked for again, and what was found is in the record.
 */
export const latePaymentStartOptions = (paymentId: string) => ({
  taskQueue: paymentsQueue,
  workflowId: `LATE_${paymentId}`,
  workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  args: [{ id: paymentId }] as [LatePaymentInput],
  staticSummary: `Money after the end of ${paymentId}`,
});

/** Arguments of news of a payer who may have paid: a running search does not end without asking again. */
export const latePaymentRecheckOptions = (paymentId: string) => ({
  ...latePaymentStartOptions(paymentId),
  signal: recheckSignal,
  signalArgs: [] as [],
});
