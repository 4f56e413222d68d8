import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { formatMoney } from '../contract/money.ts';
import type { EventStart, RefundStart, WorkflowStart } from '../contract/payment.ts';
import {
  type AccountDayInput,
  accountDayWorkflowId,
  type EventInput,
  type LatePaymentInput,
  type PaymentInput,
  paymentsQueue,
  type RefundInput,
  type ReplayInput,
  type ReplayManyInput,
  type WebhookTestInput,
} from './messages.ts';

/**
 * Operators search by these. They are set at the start and never upserted: an upsert costs a fifth of
 * Temporal's throughput.
 */
export const searchAttributes = {
  application: defineSearchAttributeKey('Application', SearchAttributeType.KEYWORD),
  orderId: defineSearchAttributeKey('OrderId', SearchAttributeType.KEYWORD),
};

const searchable = ({ application, orderId }: Pick<WorkflowStart, 'application' | 'orderId'>) => [
  { key: searchAttributes.application, value: application },
  { key: searchAttributes.orderId, value: orderId },
];

/** A running workflow is left alone. A closed one is started again. */
const startOrJoin = {
  workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  workflowIdConflictPolicy: 'USE_EXISTING',
} as const;

/**
 * A running workflow is left alone.
 * @param options.restart also start a workflow whose earlier run has closed
 */
export const paymentStartOptions = (
  { id, gateway, amount, currency, expiresAt, application, orderId }: WorkflowStart,
  { restart = false } = {},
) => {
  // Temporal keeps the input for the retention period: nothing personal or secret.
  const input: PaymentInput = { id, gateway, amount, currency, expiresAt: expiresAt.toISOString() };
  return {
    taskQueue: paymentsQueue,
    workflowId: id,
    workflowIdReusePolicy: restart ? ('ALLOW_DUPLICATE' as const) : ('REJECT_DUPLICATE' as const),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    // Temporal hands out a task again after this time if its worker was lost. The default of 10 s is as
    // long as a payer waits at the checkout.
    workflowTaskTimeout: '4 seconds' as const,
    // The payment's activities inherit the key. If fairness is on in Temporal, an application with many
    // due tasks does not delay the tasks of others.
    priority: { fairnessKey: application },
    args: [input] as [PaymentInput],
    typedSearchAttributes: searchable({ application, orderId }),
    staticSummary: `${formatMoney({ amount, currency })} for ${application}`,
    staticDetails: `Order ${markdownCode(orderId)} through ${gateway}, expires at ${input.expiresAt}`,
  };
};

/** A running workflow is left alone. A closed one is started again: the bank may have sent the money back. */
export const refundStartOptions = ({
  id,
  refundId,
  application,
  orderId,
  refundAmount: amount,
  currency,
}: RefundStart) => ({
  taskQueue: paymentsQueue,
  workflowId: refundId,
  ...startOrJoin,
  priority: { fairnessKey: application },
  args: [{ id: refundId, paymentId: id }] as [RefundInput],
  typedSearchAttributes: searchable({ application, orderId }),
  staticSummary:
    typeof amount === 'number' && currency !== undefined
      ? `Refund of ${formatMoney({ amount, currency })} for ${application}`
      : `Refund for ${application}`,
  staticDetails: `Order ${markdownCode(orderId)}, payment ${id}`,
});

/** A running workflow is left alone. A closed one is started again: the event is replayed. */
export const eventStartOptions = ({
  id,
  ownEventId: eventId,
  application,
  orderId,
}: EventStart) => ({
  taskQueue: paymentsQueue,
  workflowId: eventWorkflowId(eventId),
  ...startOrJoin,
  priority: { fairnessKey: application },
  args: [{ id, eventId }] as [EventInput],
  typedSearchAttributes: searchable({ application, orderId }),
  staticSummary: `Event for ${application}`,
  staticDetails: `Order ${markdownCode(orderId)}, ${id}`,
});

export const eventWorkflowId = (eventId: string): string => `EVENT_${eventId}`;

/**
 * Temporal shows details as Markdown. A backtick or a line break in an order id would end the code
 * span, and the application could put a link there.
 */
const markdownCode = (text: string): string =>
  `\`${text.replace(/[`\p{Cc}\u2028\u2029]/gu, "'")}\``;

/** All late searches take turns as if they were one application. No slug has a colon. */
const lateFairnessKey = ':late';

/**
 * A running workflow is left alone. A closed one is started again: money may have come since.
 * @param askAt the earliest time of its first inquiry, in ms since 1970
 */
export const latePaymentStartOptions = (paymentId: string, askAt?: number) => ({
  taskQueue: paymentsQueue,
  workflowId: latePaymentWorkflowId(paymentId),
  ...startOrJoin,
  // Anybody with a payment's link can start one.
  priority: { fairnessKey: lateFairnessKey },
  args: [{ id: paymentId, ...(askAt !== undefined && { askAt }) }] as [LatePaymentInput],
  staticSummary: `Late payment of ${paymentId}`,
});

/** A running workflow is left alone: callers at the same moment share one replay. */
export const replayStartOptions = (input: ReplayInput, application: string) => ({
  taskQueue: paymentsQueue,
  workflowId: `REPLAY_${input.eventId}`,
  ...startOrJoin,
  priority: { fairnessKey: application },
  args: [input] as [ReplayInput],
  staticSummary: `Replay of an event of ${application}`,
});

/** All replays of operators take turns as if they were one application. No slug has a colon. */
const operatorsFairnessKey = ':operators';

/**
 * Also starts a replay again whose workflow was lost.
 * @param application null: an operator's replay, which may span applications
 */
export const replayManyStartOptions = (replayId: string, application: string | null) => ({
  taskQueue: paymentsQueue,
  workflowId: replayId,
  ...startOrJoin,
  priority: { fairnessKey: application ?? operatorsFairnessKey },
  args: [{ replayId }] as [ReplayManyInput],
  staticSummary:
    application === null ? 'Replay of many events' : `Replay of many events of ${application}`,
});

export const webhookTestStartOptions = (testId: string, application: string) => ({
  taskQueue: paymentsQueue,
  workflowId: `WEBHOOK_TEST_${testId}`,
  // Somebody waits for it, so it comes before deliveries.
  priority: { fairnessKey: application, priorityKey: 1 },
  // A sample that comes later helps nobody.
  workflowExecutionTimeout: '1 minute' as const,
  args: [{ testId }] as [WebhookTestInput],
  staticSummary: `Webhook test of ${application}`,
});

const accountsFairnessKey = ':accounts';

/** Also compares a day again. */
export const accountDayStartOptions = (input: AccountDayInput) => ({
  taskQueue: paymentsQueue,
  workflowId: accountDayWorkflowId(input),
  ...startOrJoin,
  // Payers do not wait for it.
  priority: { fairnessKey: accountsFairnessKey, priorityKey: 5 },
  args: [input] as [AccountDayInput],
  staticSummary: `Comparison of ${input.day} with ${input.gateway}`,
});

const latePaymentPrefix = 'LATE_';

export const latePaymentWorkflowId = (paymentId: string): string => latePaymentPrefix + paymentId;

/** The payment's id from the id of either of its workflows. */
export const paymentIdOf = (workflowId: string): string =>
  workflowId.startsWith(latePaymentPrefix)
    ? workflowId.slice(latePaymentPrefix.length)
    : workflowId;
