import { boolean, integer, nullable, shown, text, time } from './fields.ts';

/**
 * The kinds of changes of a gateway's account. Triggers of postgres/migrations/0001_schema.sql write them, `record_movement`, but
 * for the fees, chargebacks and payouts of a gateway's book: postgres/accounts/comparison.ts takes them from there.
 */
export const movementKinds = [
  'payment',
  'refund',
  // Somebody gave the money back outside the gateway.
  'refund_elsewhere',
  // The payer's bank sent the money of a refund back.
  'refund_returned',
  // Money that came after the payment had ended without it.
  'late_payment',
  'late_reversal',
  'fee',
  'chargeback',
  // The payer's bank gives money of a chargeback back.
  'chargeback_returned',
  // To the bank account of the owner.
  'payout',
  'payout_returned',
] as const;
export type MovementKind = (typeof movementKinds)[number];

/** A day of a gateway, `day` as YYYY-MM-DD in the time zone of its account. */
export interface AccountDay {
  gateway: string;
  day: string;
}

/** The sum of some movements. */
export interface MovementSum {
  application: string | null;
  test: boolean;
  kind: MovementKind;
  currency: string;
  count: number;
  /** Minor units. */
  amount: number;
}

export interface Movement {
  /** Kind and subject, for example `refund:REFUND_…`. */
  id: string;
  kind: MovementKind;
  gateway: string;
  /** The day of the account on which it was recorded, YYYY-MM-DD. */
  day: string;
  /** The day of the account on which it happened, where that was an earlier one. */
  earlierDay: string | null;
  /** Null for a fee that belongs to no payment, with the application and the order. */
  paymentId: string | null;
  refundId: string | null;
  application: string | null;
  test: boolean;
  orderId: string | null;
  /** Minor units; negative for money that leaves the account. */
  amount: number;
  currency: string;
  /** The gateway's own id of the payment, the refund, or the entry. */
  reference: string | null;
  occurredAt: Date;
  recordedAt: Date;
}

const field = shown<Movement>();

/** The fields of a movement by their names in the API, in the API's order. */
const movementFields = {
  movement_id: field('id', text),
  kind: field('kind', text),
  payment_id: field('paymentId', nullable(text)),
  refund_id: field('refundId', nullable(text)),
  application: field('application', nullable(text)),
  order_id: field('orderId', nullable(text)),
  gateway: field('gateway', text),
  reference: field('reference', nullable(text)),
  amount: field('amount', integer),
  currency: field('currency', text),
  test: field('test', boolean),
  day: field('day', text),
  earlier_day: field('earlierDay', nullable(text)),
  occurred_at: field('occurredAt', time),
  recorded_at: field('recordedAt', time),
} as const;
export type MovementField = keyof typeof movementFields;

const fields = Object.entries(movementFields);

/** The JSON of a movement in the API: all fields in their order. */
export const presentMovement = (movement: Movement): string =>
  `{${fields.map(([name, toJson]) => `"${name}":${toJson(movement)}`).join()}}`;
