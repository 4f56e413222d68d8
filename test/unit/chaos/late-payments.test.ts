import { expect, it } from 'vitest';
import { noDisruptions } from '../../../chaos/disruptions.ts';
import { findLateProblems } from '../../../chaos/late-payments.ts';
import { aVisit } from '../../support/chaos/support.ts';

const missing = 'its late payment is recorded as nothing, and must be returns';

type Outage = [part: 'temporal' | 'postgres', from: number, to: number];
it.each<[isFound: boolean, back: object, outage?: Outage]>([
  [true, {}],
  [false, { status: 'processing' }],
  [false, { where: 'verify' }],
  [false, { at: -1_000 }],
  // It may be missed only while Temporal or Postgres is down.
  [false, {}, ['temporal', -2_000, -1_000]],
  [false, {}, ['postgres', -100, 1_000]],
  [true, {}, ['temporal', -40_000, -30_000]],
  [true, {}, ['temporal', 100, 1_000]],
])('must be found: %s, after a return %j, with an outage %j', async (isFound, back, outage) => {
  const { payment, gateway, reference } = await aVisit();
  payment.expiresAt = 0;
  const { at: paidAt } = gateway.decide(reference, 'paid')!; // It was open.
  const seen = { status: 'expired', where: 'return', at: 1_000, ...back };
  seen.at += paidAt;
  const [part, from, to] = outage ?? ['temporal', -90_000, -80_000];
  const disruptions = { ...noDisruptions, [part]: [{ from: seen.at + from, to: seen.at + to }] };
  const find = (statuses: (typeof seen)[]) =>
    findLateProblems(payment, { status: 'expired', failure_code: null }, { statuses, disruptions });
  expect([find([]), find([seen])]).toEqual([[], isFound ? [missing] : []]);
});

it('must be found when another amount was paid, and be recorded with where the money went', async () => {
  const { payment, gateway, reference, entry } = await aVisit({ slug: 'stripe' });
  gateway.decide(reference, 'paid');
  entry.reversed = 1;
  const outcome = { status: 'failed', failure_code: 'amount_mismatch' };
  const count = (recorded?: string) =>
    findLateProblems(payment, outcome, { recorded, statuses: [], disruptions: noDisruptions })
      .length;
  const all = [undefined, 'found', 'by_hand', 'returns', 'reversed'];
  expect(all.map(count)).toEqual([1, 1, 1, 1, 0]);
});
