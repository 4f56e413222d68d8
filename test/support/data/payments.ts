import { newPaymentId } from '../../../contract/ids.ts';
import { createEvent } from '../../../contract/event.ts';
import { blankPayment, type Payment } from '../../../contract/payment-fields.ts';
import { minuteMs } from '../../../contract/time.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import type { IdempotencyRecord } from '../../../postgres/payments/payments.ts';

/** A pending payment of `shop` that is created now, with a deadline in half an hour. */
export const aPayment = (fields: Partial<Payment> = {}): Payment => {
  const { createdAt = new Date(), expiresAt } = fields;
  return {
    ...blankPayment,
    id: newPaymentId(),
    application: 'shop',
    orderId: 'order-1',
    status: 'pending',
    amount: 1250,
    currency: 'EUR',
    gateway: 'sandbox',
    callbackUrl: 'https://shop.example/return',
    metadata: '{}',
    test: true,
    createdAt,
    updatedAt: createdAt,
    ...fields,
    expiresAt: expiresAt ?? new Date(createdAt.getTime() + 30 * minuteMs),
  };
};

/** A payment as its row has it. */
export interface WrittenPayment extends Partial<Payment> {
  gatewayReference?: string;
  gatewayRedirect?: object;
  checkoutAt?: Date;
}

/** Inserts payments in this order, without a workflow, an outbox row or anything else that belongs to them. */
export const writePayments = async (sql: Sql, payments: readonly WrittenPayment[]) => {
  const rows = payments.map((fields) => {
    const payment = aPayment(fields);
    const ended = {
      paidAt: payment.status === 'paid' ? payment.updatedAt : null,
      failureCode: payment.status === 'failed' ? 'unknown' : null,
      cancelledBy: payment.status === 'cancelled' ? 'payer' : null,
    };
    return Object.fromEntries(
      Object.entries({ ...payment, ...ended, ...fields }).map(([property, value]) => [
        property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    );
  });
  const columns = sql(Object.keys(rows[0] ?? {}));
  // In parts: each statement has its time limit, also on a busy machine.
  for (let first = 0; first < rows.length; first += partSize) {
    const part = JSON.stringify(rows.slice(first, first + partSize));
    await sql`
      insert into payments (${columns})
      select ${columns} from jsonb_populate_recordset(null::payments, ${part}::text::jsonb)`;
  }
};
const partSize = 500;

/**
 * Inserts paid payments with an event each and nothing else of them.
 * @param deliveryOf the columns of the delivery of each, but for those of every event. `n` counts from 1.
 */
export const writeDeliveries = async (
  sql: Sql,
  payments: readonly WrittenPayment[],
  deliveryOf: (n: number) => Record<string, unknown>,
) => {
  const at = new Date();
  const paid = payments.map((fields) => {
    const { id, application, test } = aPayment(fields);
    return { ...fields, id, application, test, status: 'paid', paidAt: at } as const;
  });
  await writePayments(sql, paid);
  const events = paid.map((fields) => {
    const { id: payment_id, application, test } = fields;
    const { id, kind, body } = createEvent(aPayment(fields), at);
    const shared = { payment_id, application, test, kind, created_at: at };
    return { id, subject: payment_id, ...shared, body: Buffer.from(body) };
  });
  await sql`insert into events ${sql(events)}`;
  const deliveries = events.map(({ id, subject: _subject, body: _body, ...shared }, index) => {
    const delivery = { event_id: id, order_id: 'order-1', recorded_at: at };
    return { ...shared, ...delivery, ...deliveryOf(index + 1) };
  });
  await sql`insert into deliveries ${sql(deliveries)}`;
};

/** What a create with this key stores. */
export const anIdempotencyRecord = (key: string, keptFor = '24 hours'): IdempotencyRecord => ({
  route: 'POST /api/v1/payments',
  key,
  fingerprint: Buffer.alloc(32, key),
  status: 201,
  location: '/there',
  body: `the response to ${key}`,
  keptFor,
});

/** As many as wanted, each with fields of its own. `n` counts from 1. */
export const manyPayments = (
  count: number,
  fieldsOf: (n: number) => WrittenPayment,
): WrittenPayment[] => Array.from({ length: count }, (_, index) => fieldsOf(index + 1));

/** A pending payment with fixed values. */
export const examplePayment = (changes: Partial<Payment> = {}): Payment =>
  aPayment({
    id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    orderId: 'order "1"',
    amount: 999_999_999_999,
    expiresAt: new Date('2026-11-20T11:11:37.120Z'),
    createdAt: new Date('2026-11-20T10:41:37.123Z'),
    updatedAt: new Date('2026-11-20T10:41:37.000Z'),
    ...changes,
  });
export const paidPayment = examplePayment({
  status: 'paid',
  trackingCode: 'T-77',
  cardPanMasked: '411111******1111',
  paidAt: new Date('2026-11-20T10:45:00.001Z'),
});
