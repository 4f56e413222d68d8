import { describe, expect, it } from 'vitest';
import {
  createLatePayments,
  type LatePaymentResult,
} from '../../../../postgres/payments/late-payments.ts';
import { minuteMs } from '../../../../contract/time.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const latePayments = createLatePayments(records.sql);

const now = new Date();
const ended = async () => (await records.ended('expired')).id;
const record = (id: string, result: LatePaymentResult | null) =>
  latePayments.record(id, { result, facts: { code: 'G-1' }, now });
const auditActions = async (id: string): Promise<string[]> => {
  const rows = await records.sql<{ action: string }[]>`
    select action from audit_log where subject = ${`payment:${id}`} order by id`;
  return rows.map(({ action }) => action);
};

describe('latePayments', () => {
  it('records the finding once and one result once', async () => {
    const id = await ended();
    expect([await record(id, null), await record(id, null)]).toEqual([true, false]);
    expect([await record(id, 'reversed'), await record(id, 'reversed')]).toEqual([true, false]);
    expect([await record(id, 'by_hand'), await record(id, null)]).toEqual([false, false]);
    expect(await latePayments.get(id)).toEqual({ reversals: 0, result: 'reversed' });
    expect(await auditActions(id)).toEqual([
      'payment.late_payment_found',
      'payment.late_payment_reversed',
    ]);
  });

  it('lets money be found again that the gateway should have returned', async () => {
    const id = await ended();
    expect([await record(id, 'returns'), await record(id, 'returns')]).toEqual([true, false]);
    expect([await record(id, null), await record(id, null)]).toEqual([true, false]);
    expect(await latePayments.get(id)).toEqual({ reversals: 0, result: null });
  });

  const begin = (id: string, { maxReversals = 3, minutes = 0 } = {}) => {
    const at = new Date(now.getTime() + minutes * minuteMs);
    return latePayments.beginReversal(id, {
      maxReversals,
      lastBefore: new Date(at.getTime() - minuteMs),
      now: at,
    });
  };

  it('limits the number of reversals and the time between them', async () => {
    const id = await ended();
    expect(await begin(id)).toBe(false);
    await record(id, null);
    expect([await begin(id), await begin(id)]).toEqual([true, false]);
    expect(await begin(id, { minutes: 0.5 })).toBe(false);
    expect(await begin(id, { minutes: 1, maxReversals: 2 })).toBe(true);
    expect(await begin(id, { minutes: 5, maxReversals: 2 })).toBe(false);
    expect(await latePayments.get(id)).toEqual({ reversals: 2, result: null });
  });

  it('allows no reversal after a result', async () => {
    const id = await ended();
    await record(id, null);
    await record(id, 'by_hand');
    expect(await begin(id)).toBe(false);
  });

  it('allows one reversal when several workers begin it at the same time', async () => {
    const id = await ended();
    await record(id, null);
    const begun = await Promise.all([begin(id), begin(id), begin(id)]);
    expect(begun.filter(Boolean)).toHaveLength(1);
  });
});
