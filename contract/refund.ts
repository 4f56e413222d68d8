import { boolean, integer, json, codecOf, nullable, stored, text, time } from './fields.ts';
import type { RefundStart } from './payment.ts';
import { type RefundFailureCode, refundFailureReason } from './refund-failure-codes.ts';

/** The states of a refund. `succeeded` may still become `failed`: the bank sent the money back. */
export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/**
 * Where a pending refund is. `reserved`: the gateway was not told. `sent`: it was told and has not answered.
 * `accepted`: it works on it. `waiting_for_balance`: until the account has enough money. `by_hand`: nobody can know what
 * became of it, so an admin finds out.
 */
export const refundStages = [
  'reserved',
  'sent',
  'accepted',
  'waiting_for_balance',
  'by_hand',
] as const;
export type RefundStage = (typeof refundStages)[number];

/** Why the money goes back, in the application's words. It is never sent to a gateway. */
export const refundReasons = ['requested_by_customer', 'duplicate', 'fraudulent', 'other'] as const;
export type RefundReason = (typeof refundReasons)[number];

/** Who asked for the refund. `gateway`: somebody made it at the gateway, e.g. in its dashboard. */
export const refundRequesters = ['application', 'admin', 'gateway'] as const;
export type RefundRequester = (typeof refundRequesters)[number];

/** How the money goes back. `recorded`: outside of the gateway, e.g. in cash. */
export const refundMethods = ['refund', 'recorded'] as const;
export type RefundMethod = (typeof refundMethods)[number];

const writtenAtCreate = stored('create');
const progress = stored('progress');

/**
 * The fields of a refund by their names in the API, in the API's order. The type {@link Refund}, the JSON of responses
 * and the columns of `refunds` derive from this list.
 */
export const refundFields = {
  refund_id: writtenAtCreate('id', text),
  payment_id: writtenAtCreate('paymentId', text),
  application: writtenAtCreate('application', text),
  order_id: writtenAtCreate('orderId', text),
  status: writtenAtCreate('status', codecOf<RefundStatus>('text')),
  stage: writtenAtCreate('stage', nullable(codecOf<RefundStage>('text'))),
  amount: writtenAtCreate('amount', integer),
  currency: writtenAtCreate('currency', text),
  method: writtenAtCreate('method', codecOf<RefundMethod>('text')),
  requested_by: writtenAtCreate('requestedBy', codecOf<RefundRequester>('text')),
  reason: writtenAtCreate('reason', nullable(codecOf<RefundReason>('text'))),
  reference: writtenAtCreate('reference', nullable(text)),
  bank_reference: progress('bankReference', nullable(text)),
  failure_code: progress('failureCode', nullable(codecOf<RefundFailureCode>('text'))),
  failure_reason: {
    toJson: ({ failureCode }: { failureCode: RefundFailureCode | null }) =>
      JSON.stringify(failureCode && refundFailureReason(failureCode)),
  },
  expected_at: progress('expectedAt', nullable(time)),
  test: writtenAtCreate('test', boolean),
  metadata: writtenAtCreate('metadata', json),
  succeeded_at: progress('succeededAt', nullable(time)),
  failed_at: progress('failedAt', nullable(time)),
  created_at: writtenAtCreate('createdAt', time),
  updated_at: writtenAtCreate('updatedAt', time),
} as const;

export type RefundField = keyof typeof refundFields;
type StoredField = Extract<(typeof refundFields)[RefundField], { property: string }>;

/** A refund as the service stores it. Its amount is in minor units of its currency. */
export type Refund = {
  [Field in StoredField as Field['property']]: Field extends {
    codec: { toJson: (value: infer Value) => string };
  }
    ? Value
    : never;
};

export const storedRefundFields: readonly StoredField[] = Object.values(refundFields).filter(
  (field) => 'property' in field,
);

const fieldNames = Object.keys(refundFields) as RefundField[]; // The keys are the list's own.

/** The JSON of a refund in the API: all fields in their order. */
export const presentRefund = (refund: Refund): string =>
  `{${fieldNames.map((name) => `"${name}":${refundFields[name].toJson(refund)}`).join()}}`;

/** The refund as its create returned it, whatever has become of it. */
export const asCreated = (refund: Refund): Refund => ({
  ...refund,
  ...(refund.method === 'refund' && { status: 'pending', stage: 'reserved', succeededAt: null }),
  bankReference: null,
  failureCode: null,
  expectedAt: null,
  failedAt: null,
  updatedAt: refund.createdAt,
});

export const refundStart = ({
  id,
  paymentId,
  application,
  orderId,
  amount,
  currency,
}: Refund): RefundStart => ({
  refundId: id,
  id: paymentId,
  application,
  orderId,
  refundAmount: amount,
  currency,
});
