import type { EventKind } from '../../contract/event.ts';
import { eventOf } from '../../contract/event.ts';
import { newPaymentId } from '../../contract/ids.ts';
import type { Payment } from '../../contract/payment.ts';
import type { TerminalStatus } from '../../contract/status.ts';
import { createApplications } from '../../postgres/applications.ts';
import { createGateways, sandboxAccount } from '../../postgres/gateways.ts';
import { createPayments } from '../../postgres/payments.ts';
import { createPaymentOutcomes } from '../../postgres/payment-outcomes.ts';
import { aDatabase } from './database.ts';

export const minuteMs = 60_000;
/** Of an end that the gateway has said nothing about. */
export const noWords = { words: { code: null, message: null }, unsent: false, exchanges: [] };

/** A payment that was created now and has half an hour. */
export const aPayment = (fields: Partial<Payment> = {}): Payment => {
  const now = new Date();
  return {
    id: newPaymentId(),
    application: 'shop',
    orderId: 'order-1',
    status: 'pending',
    amount: 1250,
    currency: 'EUR',
    gateway: 'sandbox',
    description: null,
    callbackUrl: 'https://shop.example/return',
    metadata: '{}',
    test: true,
    trackingCode: null,
    cardPanMasked: null,
    paidAt: null,
    failureCode: null,
    expiresAt: new Date(now.getTime() + 30 * minuteMs),
    createdAt: now,
    updatedAt: now,
    ...fields,
  };
};

/** The payment as it is to stand once it has ended, and the event of that. */
export const endOf = (payment: Payment, status: TerminalStatus, endedAt = new Date()) => {
  const ended: Payment = {
    ...payment,
    status,
    updatedAt: endedAt,
    paidAt: status === 'paid' ? endedAt : null,
    failureCode: status === 'failed' ? 'card_declined' : null,
    trackingCode: status === 'paid' ? 'T-1' : null,
  };
  return { ended, event: eventOf(ended, endedAt) };
};

/**
 * A database with one gateway and two applications, `shop` and, without a webhook URL, `quiet`;
 * in it payments of any age and stage.
 */
export const startRecords = async () => {
  const database = await aDatabase();
  const { sql } = database;
  const payments = createPayments(sql);
  const paymentOutcomes = createPaymentOutcomes(sql);
  await createGateways(sql).insert(sandboxAccount);
  for (const [application, webhookUrl] of [
    ['shop', 'https://shop.example/webhooks'],
    ['quiet', null],
  ] as const)
    await createApplications(sql).insert({
      slug: application,
      defaultGateway: sandboxAccount.slug,
      callbackUrls: ['https://shop.example/return'],
      webhookUrl,
    });

  const records = {
    ...database,
    payments,
    paymentOutcomes,
    async created(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = aPayment(fields);
      await payments.insert(payment, null);
      return payment;
    },
    /** Open at its gateway under the reference `REF_<id>`. */
    async opened(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = await records.created(fields);
      const redirect = { method: 'GET', url: `https://gateway.example/${payment.id}` } as const;
      const reference = `REF_${payment.id}`;
      await paymentOutcomes.open(payment.id, { reference, redirect, exchanges: [] });
      return payment;
    },
    /** Its payer stands before the gateway's page. */
    async sent(fields: Partial<Payment> = {}): Promise<Payment> {
      const payment = await records.opened(fields);
      await payments.sendToGateway(payment.id, payment.createdAt);
      return payment;
    },
    /** Its gateway was asked and said, unless told otherwise, that the payer has not decided. */
    asked: (id: string, how: Partial<Parameters<typeof paymentOutcomes.wait>[1]> = {}) => {
      const waiting = { processing: false, unanswered: false, now: new Date(), exchanges: [] };
      return paymentOutcomes.wait(id, { ...waiting, ...how });
    },
    async ended(status: TerminalStatus, fields: Partial<Payment> = {}): Promise<Payment> {
      const { ended, event } = endOf(await records.sent(fields), status);
      await paymentOutcomes.end(ended, event, noWords);
      return ended;
    },
    /** A payment that ended; the next attempt of its delivery should have begun so long ago. */
    async deliveryOverdue(minutes: number): Promise<string> {
      const { id } = await records.ended('paid');
      await sql`
        update deliveries set next_attempt_at = now() - ${`${minutes} minutes`}::interval
        where payment_id = ${id}`;
      return id;
    },
    /** Everything that is known of a payment, to see that nothing changed. */
    async everythingOf(id: string): Promise<unknown> {
      const [row] = await sql`
        select to_jsonb(p) as payment, to_jsonb(e) as event, to_jsonb(d) as delivery
        from payments p
        left join events e on e.payment_id = p.id
        left join deliveries d on d.payment_id = p.id
        where p.id = ${id}`;
      return row;
    },
    eventsOf: (id: string) => sql<{ id: string; kind: EventKind; body: Buffer }[]>`
      select id, kind, body from events where payment_id = ${id}`,
  };
  return records;
};
export type Records = Awaited<ReturnType<typeof startRecords>>;
