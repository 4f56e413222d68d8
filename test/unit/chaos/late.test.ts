import { describe, expect, it } from 'vitest';
import { lateProblems } from '../../../chaos/late.ts';
import { noAbsences } from '../../../chaos/recovery.ts';
import { aVisit } from '../../support/chaos/support.ts';

const mismatch = { status: 'failed', failure_code: 'amount_mismatch' };
const expired = { status: 'expired', failure_code: null };
const nothing = { written: [], shown: [], absences: noAbsences };

const aCharge = async (slug = 'zarinpal') => {
  const visit = await aVisit({ slug, story: 'late' });
  visit.gateway.decide(visit.reference, 'paid');
  return visit;
};

const cameBack = (status: string, at = Date.now() + 1_000) => ({ at, status, where: 'return' });

describe('FS-16: money that came for a payment that is not paid', () => {
  it('is written down where another amount was paid', async () => {
    const { payment } = await aCharge();
    expect(lateProblems(payment, mismatch, nothing)).toEqual([
      'the audit log has its late money as nothing, and must have it as returns',
    ]);
    for (const written of [['returns'], ['found', 'returns']])
      expect(lateProblems(payment, mismatch, { ...nothing, written })).toEqual([]);
  });

  it('is followed to where it went, and that is written down once', async () => {
    const { payment, entry } = await aCharge('stripe');
    entry.reversed = 1;
    const says = (...written: string[]) =>
      lateProblems(payment, mismatch, { ...nothing, written }).length;
    expect(says('found', 'reversed')).toBe(0);
    expect(says('found')).toBe(1);
    expect(says('found', 'by_hand')).toBe(1);
    expect(says('returns')).toBe(1);
    expect(says('found', 'reversed', 'reversed')).toBe(1);
  });

  it('is looked for where its payer came back after the end', async () => {
    const { payment } = await aCharge();
    const problems = (shown: ReturnType<typeof cameBack>[], absences = noAbsences) =>
      lateProblems(payment, expired, { ...nothing, shown, absences }).length;
    expect(problems([cameBack('expired')])).toBe(1);
    expect(problems([cameBack('processing')])).toBe(0);
    const unheard = (written: string[]) => lateProblems(payment, expired, { ...nothing, written });
    expect([unheard([]).length, unheard(['found']).length]).toEqual([0, 1]);
    expect(problems([cameBack('expired', Date.now() - 1_000)]), 'before paying').toBe(0);
    expect(problems([{ ...cameBack('expired'), where: 'verify' }])).toBe(0);
  });

  it('may be missed while the engine or Postgres is away, and only then', async () => {
    const { payment } = await aCharge();
    const back = cameBack('expired');
    const problems = (away: 'temporal' | 'postgres', from: number, to: number) =>
      lateProblems(payment, expired, {
        ...nothing,
        shown: [back],
        absences: { ...noAbsences, [away]: [{ from: back.at + from, to: back.at + to }] },
      }).length;
    expect(problems('temporal', -2_000, -1_000)).toBe(0);
    expect(problems('postgres', -100, 1_000)).toBe(0);
    expect(problems('temporal', -40_000, -30_000)).toBe(1);
    expect(problems('temporal', 100, 1_000)).toBe(1);
  });

  it('is not written down where there was none', async () => {
    const { payment } = await aVisit();
    const { payment: charged } = await aCharge();
    const evidence = { ...nothing, written: ['returns'] };
    const problem = ['the audit log has its late money (returns): there is none'];
    expect(lateProblems(payment, expired, evidence)).toEqual(problem);
    const paid = { status: 'paid', failure_code: null };
    expect(lateProblems(charged, paid, evidence)).toEqual(problem);
    expect(lateProblems(charged, paid, nothing)).toEqual([]);
  });
});
