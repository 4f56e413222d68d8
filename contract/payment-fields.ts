import type { FailureCode } from './failure-codes.ts';
import { failureReason } from './failure-codes.ts';
import type { Status } from './status.ts';
import { isTerminal } from './status.ts';
import { isoTime } from './time.ts';

/** A kind of value: its Postgres type and its JSON text. `Value` is its type in code. */
interface Kind<Value> {
  sqlType: string;
  toJson: (value: Value) => string;
}

const kind = <Value>(
  sqlType: string,
  toJson: (value: Value) => string = JSON.stringify,
): Kind<Value> => ({ sqlType, toJson });

const nullable = <Value>({ sqlType, toJson }: Kind<Value>): Kind<Value | null> => ({
  sqlType,
  toJson: (value) => (value === null ? 'null' : toJson(value)),
});

const text = kind<string>('text');
const integer = kind<number>('bigint');
const boolean = kind<boolean>('boolean');
const time = kind<Date>('timestamptz', (value) => `"${isoTime(value)}"`);
/** JSON as the caller sent it: stored as text and returned unchanged. */
const json = kind<string>('text', (value) => value);

/** A field with a column. `property` is its name in code. */
const stored =
  (writtenBy: 'create' | 'outcome') =>
  <Property extends string, Value>(property: Property, valueKind: Kind<Value>) => ({
    property,
    kind: valueKind,
    writtenBy,
    toJson: (payment: Record<Property, Value>) => valueKind.toJson(payment[property]),
  });
/** Written when the payment is created. */
const created = stored('create');
/** Written when the payment ends; null before that. */
const outcome = stored('outcome');

interface CheckoutFields {
  id: string;
  status: Status;
}

/** The payer starts here; null once the payment has ended. */
const checkoutUrl = ({ id, status }: CheckoutFields, publicBaseUrl: string): string | null =>
  isTerminal(status) ? null : `${publicBaseUrl}/api/v1/payments/${id}/checkout`;

/**
 * The fields of a payment by their names in the API, in the API's order. The type {@link Payment}, the JSON
 * of responses and events, their schemas (responses.ts, event-schema.ts) and the columns
 * (postgres/payment-columns.ts) derive from this list. It has no zod, which would take the workflow bundle
 * from 1.6 to 2.7 MB.
 */
export const paymentFields = {
  payment_id: created('id', text),
  application: created('application', text),
  order_id: created('orderId', text),
  status: created('status', kind<Status>('text')),
  amount: created('amount', integer),
  currency: created('currency', text),
  gateway: created('gateway', text),
  description: created('description', nullable(text)),
  checkout_url: {
    toJson: (payment: CheckoutFields, publicBaseUrl: string) =>
      JSON.stringify(checkoutUrl(payment, publicBaseUrl)),
  },
  callback_url: created('callbackUrl', text),
  tracking_code: outcome('trackingCode', nullable(text)),
  card_pan_masked: outcome('cardPanMasked', nullable(text)),
  paid_at: outcome('paidAt', nullable(time)),
  failure_code: outcome('failureCode', nullable(kind<FailureCode>('text'))),
  failure_reason: {
    toJson: ({ failureCode }: { failureCode: FailureCode | null }) =>
      JSON.stringify(failureCode && failureReason(failureCode)),
  },
  test: created('test', boolean),
  metadata: created('metadata', json),
  expires_at: created('expiresAt', time),
  created_at: created('createdAt', time),
  updated_at: created('updatedAt', time),
} as const;

export type PaymentField = keyof typeof paymentFields;
type StoredField = Extract<(typeof paymentFields)[PaymentField], { property: string }>;

/** A payment as the service stores it. Its amount is in minor units of its currency. */
export type Payment = {
  [Field in StoredField as Field['property']]: Field extends { kind: Kind<infer Value> }
    ? Value
    : never;
};

export const storedFields: readonly StoredField[] = Object.values(paymentFields).filter(
  (field) => 'property' in field,
);
