import { refundEventId } from './ids.ts';
import { integer } from './fields.ts';
import {
  type EventPaymentField,
  eventPaymentFields,
  type Payment,
  type PaymentField,
  paymentFields,
} from './payment-fields.ts';
import { type Refund, type RefundField, refundFields } from './refund.ts';
import { isoTime } from './time.ts';

/**
 * The kinds of a refund's events, in the order in which they can happen. `refund.created`: the application did not ask
 * for the refund. `refund.failed` may follow `refund.succeeded`.
 */
export const refundEventKinds = ['refund.created', 'refund.succeeded', 'refund.failed'] as const;
export type RefundEventKind = (typeof refundEventKinds)[number];

type PaymentOnlyField = Exclude<EventPaymentField, RefundField>;
/** The payment's fields in the event. With them it has all fields of a payment's event, so a receiver can read both as one type. */
export const refundEventPaymentFields = [
  'amount_refunded',
  'amount_refund_pending',
  ...eventPaymentFields.filter((name): name is PaymentOnlyField => !(name in refundFields)),
] as const satisfies readonly PaymentField[];

/** The refund's fields in its event, before and after the payment's. */
export const refundEventFields = {
  before: ['payment_id', 'application', 'order_id', 'status', 'amount', 'currency'],
  after: [
    'requested_by',
    'reason',
    'reference',
    'failure_code',
    'failure_reason',
    'test',
    'metadata',
  ],
} as const satisfies Record<'before' | 'after', readonly RefundField[]>;

/** The event of a refund, with the bytes that every attempt sends. */
export const createRefundEvent = (
  kind: RefundEventKind,
  { refund, payment, createdAt }: { refund: Refund; payment: Payment; createdAt: Date },
) => {
  const id = refundEventId(refund.id, kind);
  const fields = (names: readonly RefundField[]) =>
    names.map((name) => `"${name}":${refundFields[name].toJson(refund)}`);
  const members = [
    `"event":"${kind}"`,
    `"event_id":"${id}"`,
    `"created_at":"${isoTime(createdAt)}"`,
    ...fields(['refund_id']),
    `"sequence":${refundEventKinds.indexOf(kind) + 1}`,
    ...fields(refundEventFields.before),
    `"payment_amount":${integer.toJson(payment.amount)}`,
    ...refundEventPaymentFields.map((name) => `"${name}":${paymentFields[name].toJson(payment)}`),
    ...fields(refundEventFields.after),
  ];
  return { id, kind, body: `{${members.join()}}`, createdAt };
};
