import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { TerminalStatus } from '../../../contract/status.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import { holdLock } from '../../support/hold-lock.ts';
import type { Records } from '../../support/records.ts';
import { endOf, minuteMs, noWords, startRecords } from '../../support/records.ts';

let records: Records;
beforeAll(async () => {
  records = await startRecords();
});
afterAll(() => records.drop());

const elsewhere = {
  redirect: { method: 'GET', url: 'https://gateway.example/other' } as const,
  exchanges: [],
};
const unsent = { ...noWords, unsent: true };

const end = (payment: Payment, status: TerminalStatus, options = noWords) => {
  const { ended, event } = endOf(payment, status);
  return records.paymentOutcomes.end(ended, event, options);
};
const lock = ({ id }: Payment) =>
  holdLock(records.sql, (tx) => tx`select from payments where id = ${id} for update`);

describe('paymentOutcomes.end', () => {
  it.each(terminalStatuses)('writes %s, its event to the byte and its delivery', async (status) => {
    const payment = await records.sent({ metadata: '{"z": 1.50, "a": "é\u2028😀"}' });
    const { ended, event } = endOf(payment, status);
    const words = { code: '-51', message: 'the gateway said so' };
    expect(await records.paymentOutcomes.end(ended, event, { ...noWords, words })).toBe(true);

    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
      ...ended,
      delivery: 'pending',
    });
    const [stored, ...more] = await records.eventsOf(payment.id);
    expect(more).toEqual([]);
    expect(stored).toMatchObject({ id: event.id, kind: `payment.${status}` });
    expect(stored?.body.equals(Buffer.from(event.body))).toBe(true);
    const [row] = await records.sql`
      select p.gateway_code, p.gateway_message, p.updated_at, d.next_attempt_at
      from payments p join deliveries d on d.payment_id = p.id where p.id = ${payment.id}`;
    expect(row).toEqual({
      gateway_code: words.code,
      gateway_message: words.message,
      updated_at: event.createdAt,
      next_attempt_at: event.createdAt,
    });
  });

  it('notes that there is nothing to deliver where there is no webhook URL', async () => {
    const payment = await records.sent({ application: 'quiet' });
    expect(await end(payment, 'paid')).toBe(true);
    const [row] = await records.sql`
      select status, next_attempt_at from deliveries where payment_id = ${payment.id}`;
    expect(row).toEqual({ status: 'none', next_attempt_at: null });
    expect(await records.eventsOf(payment.id)).toHaveLength(1);
  });

  it('FS-11: ends a payment once, however many try at the same time', async () => {
    const payment = await records.sent();
    const held = await lock(payment);
    // All of them have begun before any of them can write.
    const answers = Promise.all(terminalStatuses.map((status) => end(payment, status)));
    await held.blocked('everybody', { count: 4 });
    await held.release();

    expect((await answers).filter(Boolean)).toHaveLength(1);
    const stands = await records.paymentOutcomes.get(payment.id);
    const [event, ...more] = await records.eventsOf(payment.id);
    expect(more).toEqual([]);
    // FS-13: the event tells of the state that was written with it.
    expect(event?.kind).toBe(`payment.${stands?.status}`);
  });

  it('ends a payment that is processing', async () => {
    const payment = await records.sent();
    await records.asked(payment.id, { processing: true });
    expect(await end(payment, 'paid')).toBe(true);
  });

  it('with `unsent` ends only a payment whose payer was never sent to the gateway', async () => {
    const sent = await records.sent();
    const before = await records.everythingOf(sent.id);
    expect(await end(sent, 'expired', unsent)).toBe(false);
    expect(await records.everythingOf(sent.id)).toEqual(before);
    expect(await end(await records.opened(), 'expired', unsent)).toBe(true);
  });

  it('with `unsent` sees a payer who is being sent in this very moment', async () => {
    const payment = await records.opened();
    const held = await holdLock(
      records.sql,
      (tx) => tx`update payments set checkout_at = now() where id = ${payment.id}`,
    );
    const answer = end(payment, 'expired', unsent);
    await held.blocked('expiring');
    await held.commit();
    expect(await answer).toBe(false);
    expect(await records.eventsOf(payment.id)).toEqual([]);
  });
});

describe('FS-12: a payment that has ended', () => {
  it.each(terminalStatuses)('as %s stays as it is, whatever comes later', async (status) => {
    const payment = await records.ended(status);
    const before = await records.everythingOf(payment.id);
    for (const other of terminalStatuses) expect(await end(payment, other)).toBe(false);
    for (const processing of [true, false])
      expect(await records.asked(payment.id, { processing })).toBe(false);
    const again = { reference: 'OTHER', ...elsewhere };
    expect(await records.paymentOutcomes.open(payment.id, again)).toBe(false);
    expect(await records.everythingOf(payment.id)).toEqual(before);
  });

  it('before it was opened is not opened afterwards', async () => {
    const payment = await records.created();
    await end(payment, 'expired');
    const before = await records.everythingOf(payment.id);
    const opened = { reference: 'LATE', ...elsewhere };
    expect(await records.paymentOutcomes.open(payment.id, opened)).toBe(false);
    expect(await records.everythingOf(payment.id)).toEqual(before);
  });

  it('while somebody was about to note that it waits is not touched by that', async () => {
    const payment = await records.sent();
    const { ended } = endOf(payment, 'cancelled');
    const held = await holdLock(
      records.sql,
      (tx) => tx`update payments set status = ${ended.status} where id = ${payment.id}`,
    );
    const waited = records.asked(payment.id, { processing: true });
    await held.blocked('noting');
    await held.commit();
    await waited;
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('paymentOutcomes.open', () => {
  it('keeps the first reference, however often the payment is opened', async () => {
    const payment = await records.opened();
    const again = { reference: 'SECOND', ...elsewhere };
    expect(await records.paymentOutcomes.open(payment.id, again)).toBe(false);
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
      reference: `REF_${payment.id}`,
    });
  });

  it('FS-08: refuses a reference that another payment of the gateway has', async () => {
    const { id } = await records.opened();
    const other = await records.created();
    await expect(
      records.paymentOutcomes.open(other.id, { reference: `REF_${id}`, ...elsewhere }),
    ).rejects.toMatchObject({ constraint_name: 'payments__gateway_reference' });
  });
});

describe('paymentOutcomes.wait', () => {
  const rowOf = async ({ id }: Payment) => {
    const [row] = await records.sql<{ status: string; inquired_at: Date; updated_at: Date }[]>`
      select status, inquired_at, updated_at from payments where id = ${id}`;
    return row;
  };

  it('notes when the gateway was asked, which is no news of the payment', async () => {
    const payment = await records.sent();
    const now = new Date(Date.now() + minuteMs);
    await records.asked(payment.id, { now });
    expect(await rowOf(payment)).toEqual({
      status: 'pending',
      inquired_at: now,
      updated_at: payment.updatedAt,
    });
  });

  it('notes the very time after the deadline, also where no answer came: healing goes by it', async () => {
    const now = new Date();
    const ago = (minutes: number) => new Date(now.getTime() - minutes * minuteMs);
    const payment = await records.sent({ createdAt: ago(40), expiresAt: ago(1) });
    await records.asked(payment.id, { unanswered: true, now });
    expect(await rowOf(payment)).toMatchObject({ inquired_at: now });
  });

  it('moves a pending payment to processing once, and never back', async () => {
    const payment = await records.sent();
    const [first, second, third] = [1, 2, 3].map(
      (count) => new Date(Date.now() + count * minuteMs),
    );
    await records.asked(payment.id, { processing: true, now: first! });
    await records.asked(payment.id, { processing: true, now: second! });
    await records.asked(payment.id, { now: third! });
    expect(await rowOf(payment)).toEqual({
      status: 'processing',
      inquired_at: third,
      updated_at: first,
    });
  });
});
