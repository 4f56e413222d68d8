import type { FailureCode } from './failure-codes.ts';
import { failureReason, nextStep } from './failure-codes.ts';
import {
  boolean,
  integer,
  json,
  codecOf,
  type Codec,
  nullable,
  stored,
  text,
  time,
} from './fields.ts';
import type { CancelledBy, Status } from './status.ts';
import { isTerminal } from './status.ts';

/** Written when the payment is created. */
const writtenAtCreate = stored('create');
/** Written when the payment ends; null before that. */
const outcome = stored('outcome');
/** Written while money goes back, or a bank takes it back; 0 before that. */
const refunds = stored('refunds');

interface TrackedMoney {
  trackingCode: string | null;
}

interface CheckoutFields {
  id: string;
  status: Status;
}

/** The payer starts here; null once the payment has ended. */
export const checkoutUrl = (
  { id, status }: CheckoutFields,
  publicBaseUrl: string,
): string | null => (isTerminal(status) ? null : `${publicBaseUrl}/api/v1/payments/${id}/checkout`);

/** The gateway sends the payer here. */
export const returnUrl = (id: string, publicBaseUrl: string): string =>
  `${publicBaseUrl}/api/v1/payments/${id}/return`;

/** A provider that signs nothing reports changes here. The key is the payment's own. */
export const reportUrl = (id: string, key: string, publicBaseUrl: string): string =>
  `${publicBaseUrl}/api/v1/payments/${id}/reports/${key}`;

export interface RefundSums {
  status: Status;
  amount: number;
  amountRefunded: number;
  amountRefundPending: number;
  /** Chargebacks that are not won hold this sum. Nobody refunds it. */
  amountDisputed: number;
}

/** The facts that a refund depends on: the payment, and the account that took it. */
export interface RefundBasis extends RefundSums {
  driver: string;
  /** The account has the credentials that refunds need. */
  hasRefundCredentials: boolean;
  currency: string;
  paidAt: Date | null;
}

/** The rest of a payment, in minor units, whether or not its gateway gives it back. 0 unless it is paid. */
export const amountLeft = (payment: RefundSums): number => {
  const { status, amount, amountRefunded, amountRefundPending, amountDisputed } = payment;
  return status === 'paid'
    ? Math.max(amount - amountRefunded - amountRefundPending - amountDisputed, 0)
    : 0;
};

/** The part of a payment that the gateway's account still gives back. It follows from other fields, see gateways/refundable.ts. */
export interface Refundable {
  refundable: number;
  refundableUntil: Date | null;
}
export const notRefundable: Refundable = { refundable: 0, refundableUntil: null };

/**
 * The fields of a payment by their names in the API, in the API's order. The type {@link Payment}, the JSON
 * of responses and events, their schemas (payment-responses.ts, event-schema.ts) and the columns
 * (postgres/payment-columns.ts) derive from this list. It has no zod, which would take the workflow bundle
 * from 1.6 to 2.7 MB.
 */
export const paymentFields = {
  payment_id: writtenAtCreate('id', text),
  application: writtenAtCreate('application', text),
  order_id: writtenAtCreate('orderId', text),
  status: writtenAtCreate('status', codecOf<Status>('text')),
  amount: writtenAtCreate('amount', integer),
  currency: writtenAtCreate('currency', text),
  gateway: writtenAtCreate('gateway', text),
  description: writtenAtCreate('description', nullable(text)),
  checkout_url: {
    toJson: (payment: CheckoutFields, publicBaseUrl: string) =>
      JSON.stringify(checkoutUrl(payment, publicBaseUrl)),
  },
  callback_url: writtenAtCreate('callbackUrl', text),
  tracking_code: {
    ...outcome('trackingCode', nullable(text)),
    // Money that is not paid here has one, too: its disputes and its refunds at the gateway are found by it.
    toJson: ({ status, trackingCode }: Pick<CheckoutFields, 'status'> & TrackedMoney) =>
      nullable(text).toJson(status === 'paid' ? trackingCode : null),
  },
  card_pan_masked: outcome('cardPanMasked', nullable(text)),
  paid_at: outcome('paidAt', nullable(time)),
  failure_code: outcome('failureCode', nullable(codecOf<FailureCode>('text'))),
  failure_reason: {
    toJson: ({ failureCode }: { failureCode: FailureCode | null }) =>
      JSON.stringify(failureCode && failureReason(failureCode)),
  },
  next_step: {
    toJson: ({ failureCode }: { failureCode: FailureCode | null }) =>
      JSON.stringify(failureCode && nextStep(failureCode)),
  },
  cancelled_by: outcome('cancelledBy', nullable(codecOf<CancelledBy>('text'))),
  cancellation_reason: outcome('cancellationReason', nullable(text)),
  amount_refunded: refunds('amountRefunded', integer),
  amount_refund_pending: refunds('amountRefundPending', integer),
  amount_disputed: refunds('amountDisputed', integer),
  refundable: {
    toJson: (_: unknown, __: string, { refundable }: Refundable) => integer.toJson(refundable),
  },
  refundable_until: {
    toJson: (_: unknown, __: string, { refundableUntil }: Refundable) =>
      nullable(time).toJson(refundableUntil),
  },
  link_id: writtenAtCreate('linkId', nullable(text)),
  test: writtenAtCreate('test', boolean),
  metadata: writtenAtCreate('metadata', json),
  expires_at: writtenAtCreate('expiresAt', time),
  created_at: writtenAtCreate('createdAt', time),
  updated_at: writtenAtCreate('updatedAt', time),
} as const;

export type PaymentField = keyof typeof paymentFields;
type StoredField = Extract<(typeof paymentFields)[PaymentField], { property: string }>;

/** A payment as the service stores it. Its amount is in minor units of its currency. */
export type Payment = {
  [Field in StoredField as Field['property']]: Field extends { codec: Codec<infer Value> }
    ? Value
    : never;
};

export const storedFields: readonly StoredField[] = Object.values(paymentFields).filter(
  (field) => 'property' in field,
);

/** The fields that the create of a payment writes. */
export type NewPayment = Pick<Payment, Extract<StoredField, { writtenBy: 'create' }>['property']>;

type BlankProperty =
  | { [Name in keyof Payment]: null extends Payment[Name] ? Name : never }[keyof Payment]
  | Extract<StoredField, { writtenBy: 'refunds' }>['property'];

/** The values of a payment of which nothing is known: null wherever it may be, and sums of 0. */
export const blankPayment = Object.fromEntries(
  storedFields
    .filter(({ codec: { isNullable }, writtenBy }) => isNullable || writtenBy === 'refunds')
    .map(({ property, codec: { isNullable } }) => [property, isNullable ? null : 0]),
) as Pick<Payment, BlankProperty>; // Object.fromEntries forgets the keys.

/** The payment's fields in its event, in their order. Source: service interface, table 6.3. */
export const eventPaymentFields = [
  'payment_id',
  'application',
  'order_id',
  'status',
  'amount',
  'currency',
  'tracking_code',
  'card_pan_masked',
  'paid_at',
  'failure_code',
  'failure_reason',
  'test',
  'metadata',
] as const satisfies readonly PaymentField[];
export type EventPaymentField = (typeof eventPaymentFields)[number];
