import { describe, expect, it } from 'vitest';
import { noDisruptions } from '../../../chaos/disruptions.ts';
import { findLateProblems } from '../../../chaos/late-payments.ts';
import { aVisit } from '../../support/chaos/support.ts';

const mismatch = { status: 'failed', failure_code: 'amount_mismatch' };
const expired = { status: 'expired', failure_code: null };
const nothing = { statuses: [], disruptions: noDisruptions };

const aCharge = async (slug = 'zarinpal') => {
  const visit = await aVisit({ slug, behaviour: 'late' });
  visit.gateway.decide(visit.reference, 'paid');
  return visit;
};

const cameBack = (status: string, at = Date.now() + 1_000) => ({ at, status, where: 'return' });

describe('a late payment', () => {
  it('is recorded when another amount was paid', async () => {
    const { payment } = await aCharge();
    expect(findLateProblems(payment, mismatch, nothing)).toEqual([
      'its late payment is recorded as nothing, and must be returns',
    ]);
    const evidence = { ...nothing, recorded: 'returns' };
    expect(findLateProblems(payment, mismatch, evidence)).toEqual([]);
  });

  it('is recorded with where the money went', async () => {
    const { payment, entry } = await aCharge('stripe');
    entry.reversed = 1;
    const countProblems = (recorded: string) =>
      findLateProblems(payment, mismatch, { ...nothing, recorded }).length;
    expect(countProblems('reversed')).toBe(0);
    expect(countProblems('found')).toBe(1);
    expect(countProblems('by_hand')).toBe(1);
    expect(countProblems('returns')).toBe(1);
  });

  it('is searched for when the payer came back after the end', async () => {
    const { payment } = await aCharge();
    const problems = (statuses: ReturnType<typeof cameBack>[], disruptions = noDisruptions) =>
      findLateProblems(payment, expired, { ...nothing, statuses, disruptions }).length;
    expect(problems([cameBack('expired')])).toBe(1);
    expect(problems([cameBack('processing')])).toBe(0);
    const unseen = (recorded?: string) =>
      findLateProblems(payment, expired, { ...nothing, recorded });
    expect([unseen().length, unseen('found').length]).toEqual([0, 1]);
    expect(problems([cameBack('expired', Date.now() - 1_000)]), 'before paying').toBe(0);
    expect(problems([{ ...cameBack('expired'), where: 'verify' }])).toBe(0);
  });

  it('may be missed only while Temporal or Postgres is down', async () => {
    const { payment } = await aCharge();
    const back = cameBack('expired');
    const problems = (part: 'temporal' | 'postgres', from: number, to: number) =>
      findLateProblems(payment, expired, {
        ...nothing,
        statuses: [back],
        disruptions: { ...noDisruptions, [part]: [{ from: back.at + from, to: back.at + to }] },
      }).length;
    expect(problems('temporal', -2_000, -1_000)).toBe(0);
    expect(problems('postgres', -100, 1_000)).toBe(0);
    expect(problems('temporal', -40_000, -30_000)).toBe(1);
    expect(problems('temporal', 100, 1_000)).toBe(1);
  });

  it('is not recorded when there was none', async () => {
    const { payment } = await aVisit();
    const { payment: charged } = await aCharge();
    const evidence = { ...nothing, recorded: 'returns' };
    const problem = ['a late payment is recorded (returns): there is none'];
    expect(findLateProblems(payment, expired, evidence)).toEqual(problem);
    const paid = { status: 'paid', failure_code: null };
    expect(findLateProblems(charged, paid, evidence)).toEqual(problem);
    expect(findLateProblems(charged, paid, nothing)).toEqual([]);
  });
});
