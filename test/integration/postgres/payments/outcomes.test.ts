import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../../contract/payment.ts';
import { terminalStatuses, type TerminalStatus } from '../../../../contract/status.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { minuteMs } from '../../../../contract/time.ts';
import { withOutcome, noAnswer, startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const elsewhere = {
  redirect: { method: 'GET', url: 'https://gateway.example/other' } as const,
  exchanges: [],
};
const onlyIfUnsent = { ...noAnswer, onlyIfUnsent: true };

const finalize = (payment: Payment, status: TerminalStatus, options = noAnswer) => {
  const { ended, event } = withOutcome(payment, status);
  return records.paymentOutcomes.finalize(ended, event, options);
};
const lockPayment = ({ id }: Payment) =>
  holdLock(records.sql, (tx) => tx`select from payments where id = ${id} for update`);

describe('paymentOutcomes.finalize', () => {
  it.each(terminalStatuses)('writes %s with the exact event and the delivery', async (status) => {
    const payment = await records.sent({ metadata: '{"z": 1.50, "a": "é\u2028😀"}' });
    const { ended, event } = withOutcome(payment, status);
    const providerMessage = { code: '-51', message: 'the gateway said so' };
    expect(
      await records.paymentOutcomes.finalize(ended, event, { ...noAnswer, providerMessage }),
    ).toBe('done');

    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({
      ...ended,
      delivery: 'pending',
    });
    const [stored, ...more] = await records.listEvents(payment.id);
    expect(more).toEqual([]);
    expect(stored).toMatchObject({ id: event.id, kind: `payment.${status}` });
    expect(stored?.body.equals(Buffer.from(event.body))).toBe(true);
    const [row] = await records.sql`
      select p.gateway_code, p.gateway_message, p.updated_at, d.next_attempt_at
      from payments p join deliveries d on d.payment_id = p.id where p.id = ${payment.id}`;
    expect(row).toEqual({
      gateway_code: providerMessage.code,
      gateway_message: providerMessage.message,
      updated_at: event.createdAt,
      next_attempt_at: event.createdAt,
    });
  });

  it('writes a delivery with the status none when there is no webhook URL', async () => {
    const payment = await records.sent({ application: 'quiet' });
    expect(await finalize(payment, 'paid')).toBe('done');
    const [row] = await records.sql`
      select status, next_attempt_at from deliveries where payment_id = ${payment.id}`;
    expect(row).toEqual({ status: 'none', next_attempt_at: null });
    expect(await records.listEvents(payment.id)).toHaveLength(1);
  });

  it('ends a payment once when several calls run at the same time', async () => {
    const payment = await records.sent();
    const held = await lockPayment(payment);
    // All calls have started before one of them can write.
    const results = Promise.all(terminalStatuses.map((status) => finalize(payment, status)));
    await held.blocked('each call', { count: 4 });
    await held.release();

    const last = ['done', 'ended_before', 'ended_before', 'ended_before'];
    expect((await results).toSorted()).toEqual(last);
    const after = await records.paymentOutcomes.get(payment.id);
    const [event, ...more] = await records.listEvents(payment.id);
    expect(more).toEqual([]);
    expect(event?.kind).toBe(`payment.${after?.status}`);
  });

  it('finalize with onlyIfUnsent sees a payer who is being sent at the same time', async () => {
    const payment = await records.opened();
    const held = await holdLock(
      records.sql,
      (tx) => tx`update payments set checkout_at = now() where id = ${payment.id}`,
    );
    const result = finalize(payment, 'expired', onlyIfUnsent);
    await held.blocked('finalize');
    await held.commit();
    expect(await result).toBe('payer_sent');
    expect(await records.listEvents(payment.id)).toEqual([]);
  });
});

describe('a payment that has ended', () => {
  it.each(terminalStatuses)('a payment that ended as %s never changes', async (status) => {
    const payment = await records.ended(status);
    const before = await records.snapshot(payment.id);
    for (const other of terminalStatuses)
      expect(await finalize(payment, other)).toBe('ended_before');
    for (const becomesProcessing of [true, false])
      expect(await records.inquired(payment.id, { becomesProcessing })).toBe(false);
    const again = { reference: 'OTHER', ...elsewhere };
    expect(await records.paymentOutcomes.recordOpened(payment.id, again)).toBe(false);
    expect(await records.snapshot(payment.id)).toEqual(before);
  });

  it('a payment that ends while an inquiry is being recorded keeps its outcome', async () => {
    const payment = await records.sent();
    const { ended } = withOutcome(payment, 'cancelled');
    const held = await holdLock(
      records.sql,
      (tx) => tx`
        update payments set status = ${ended.status}, cancelled_by = 'payer' where id = ${payment.id}`,
    );
    const recorded = records.inquired(payment.id, { becomesProcessing: true });
    await held.blocked('recordInquiry');
    await held.commit();
    await recorded;
    expect(await records.paymentOutcomes.get(payment.id)).toMatchObject({ status: 'cancelled' });
  });
});

it('recordOpened rejects a reference that another payment of the gateway has', async () => {
  const { id } = await records.opened();
  const other = await records.created();
  await expect(
    records.paymentOutcomes.recordOpened(other.id, { reference: `REF_${id}`, ...elsewhere }),
  ).rejects.toMatchObject({ constraint_name: 'payments__gateway_reference' });
});

describe('paymentOutcomes.recordInquiry', () => {
  const getRow = async ({ id }: Payment) => {
    const [row] = await records.sql<{ status: string; inquired_at: Date; updated_at: Date }[]>`
      select status, inquired_at, updated_at from payments where id = ${id}`;
    return row;
  };

  it('writes the exact time of an unanswered inquiry after the deadline, because healing depends on it', async () => {
    const now = new Date();
    const ago = (minutes: number) => new Date(now.getTime() - minutes * minuteMs);
    const payment = await records.sent({ createdAt: ago(40), expiresAt: ago(1) });
    await records.inquired(payment.id, { answer: 'unknown', now });
    expect(await getRow(payment)).toMatchObject({ inquired_at: now });
  });

  it('lets the sweeper ask a gateway that verifies for long less and less often', async () => {
    const sentAt = new Date('2026-11-20T10:00:00Z');
    const minutesLater = (minutes: number) => new Date(sentAt.getTime() + minutes * minuteMs);
    const expiresAt = minutesLater(24 * 60);
    const payment = await records.sent({ createdAt: sentAt, expiresAt });
    const verified = {
      operation: 'verify',
      result: 'processing',
      code: null,
      message: null,
    } as const;
    const asked: number[] = [];
    // Sweeps from minute 40 on. The sweeper claims a payment 8 minutes after `inquired_at`.
    let nextAt = minutesLater(40);
    for (let sweep = 80; sweep < 2 * 24 * 60; sweep += 1) {
      const now = minutesLater(sweep / 2);
      if (now < nextAt) continue;
      asked.push(sweep / 2);
      const exchanges = [{ ...verified, at: now, durationMs: 5 }];
      await records.inquired(payment.id, {
        answer: 'processing',
        isTwoStep: true,
        becomesProcessing: true,
        now,
        exchanges,
      });
      const { inquired_at: inquiredAt } = (await getRow(payment)) as { inquired_at: Date };
      nextAt = new Date(inquiredAt.getTime() + 8 * minuteMs);
    }
    // Soon at first, because the gateway may return the money.
    expect(asked.slice(0, 4)).toEqual([40, 40.5, 41, 41.5]);
    expect(asked.filter((minute) => minute < 70).length).toBeGreaterThan(12);
    // Every 30 seconds would be 2,800 times.
    expect(asked.length).toBeLessThan(200);
    expect(asked.at(-1)! - asked.at(-2)!).toBeLessThanOrEqual(8.5);
  });

  it('writes its time, and moves a pending payment to processing once, and never back', async () => {
    const payment = await records.sent();
    const times = [1, 2, 3, 4].map((count) => new Date(Date.now() + count * minuteMs));
    const rows: unknown[] = [];
    for (const [index, now] of times.entries()) {
      await records.inquired(payment.id, { becomesProcessing: index === 1 || index === 2, now });
      rows.push(await getRow(payment));
    }
    const [first, second, third, fourth] = times;
    const processing = { status: 'processing', updated_at: second };
    expect(rows).toEqual([
      { status: 'pending', inquired_at: first, updated_at: payment.updatedAt },
      { ...processing, inquired_at: second },
      { ...processing, inquired_at: third },
      { ...processing, inquired_at: fourth },
    ]);
  });
});
