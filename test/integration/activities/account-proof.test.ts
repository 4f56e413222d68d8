import { expect, it } from 'vitest';
import { createPayoutTask } from '../../../activities/sweeper-tasks/payouts.ts';
import { newPaymentId } from '../../../contract/ids.ts';
import { hourMs } from '../../../contract/time.ts';
import { createAdminPayouts } from '../../../postgres/admin/payouts.ts';
import { createPayouts } from '../../../postgres/accounts/payouts.ts';
import { anAccountOf, startLiveStripe } from '../../support/data/account-activities.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { newRefundId } from '../../support/gateways/fixture.ts';
import { readableLogger } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords());
const { sql } = records;
const { stripe, newAdapter, gateway } = await startLiveStripe();
const account = await anAccountOf(records, { gateway, newAdapter });
const { lookAtPayouts } = createPayoutTask({
  payouts: createPayouts(sql),
  gatewayOf: newAdapter,
  logger: readableLogger().logger,
});

const days = 10;
const dayOf = (n: number) => `2026-11-${String(n).padStart(2, '0')}`;
const at = (n: number, minute: number) =>
  new Date(Date.parse(`${dayOf(n)}T00:00:00Z`) + minute * 60_000);

/** In the night after the day. */
const compare = async (n: number, later?: number) => {
  await account.compare(dayOf(n), later);
  while ((await lookAtPayouts()) > 0);
};

const labels = (type: string, category = type) => ({ type, reporting_category: category });
let count = 0;
const movements: Record<string, string | number | Date | boolean | null>[] = [];
const booked = (
  kind: string,
  { subject, paymentId = subject }: { subject: string; paymentId?: string },
  { amount, currency, time }: { amount: number; currency: string; time: Date },
) =>
  movements.push({
    ...{ id: `${kind}:${subject}`, kind, gateway, day: time.toISOString().slice(0, 10), amount },
    ...{ payment_id: paymentId, refund_id: kind === 'payment' ? null : subject },
    ...{ application: 'shop', test: false, order_id: 'order-1', occurred_at: time },
    currency: currency.toUpperCase(),
  });

/** A payment here and at Stripe. @returns its line, and what later lines of it belong to */
const pay = (n: number, currency: string) => {
  count += 1;
  const id = newPaymentId();
  const amount = 100 + ((count * 7_919) % 90_000);
  const time = at(n, count % 1_400);
  booked('payment', { subject: id }, { amount, currency, time });
  const source = {
    ...{ id: `ch_${count}`, object: 'charge', amount, currency, status: 'succeeded' },
    ...{ payment_intent: `pi_${count}`, metadata: { payment_id: id } },
  };
  const fee = 25 + Math.round(amount * 0.015);
  const line = stripe.moveBalance(labels('charge'), { amount, currency, fee, source, at: time });
  return { line, source };
};

/** The lines of a day, of every kind. Purges have deleted their payments. @returns those that a payout takes */
const fill = (n: number): string[] => {
  const paid = Array.from({ length: 100 }, (_, i) => pay(n, i % 10 === 0 ? 'usd' : 'eur'));
  const inEur = paid.filter(({ source }) => source.currency === 'eur');
  const refund = (of: (typeof paid)[number], isReturned: boolean): string[] => {
    count += 1;
    const id = newRefundId();
    const { payment_intent, metadata } = of.source;
    const source = {
      ...{ id: `re_${count}`, object: 'refund', amount: 50, currency: 'eur', payment_intent },
      metadata: { ...metadata, refund_id: id },
    };
    const ids = { subject: id, paymentId: metadata.payment_id };
    booked('refund', ids, { amount: -50, currency: 'eur', time: at(n, 1_410) });
    const lines = [stripe.moveBalance(labels('refund'), { amount: -50, source, at: at(n, 1_410) })];
    if (!isReturned) return lines;
    booked('refund_returned', ids, { amount: 50, currency: 'eur', time: at(n, 1_415) });
    const back = { amount: 50, source, at: at(n, 1_415) };
    return [...lines, stripe.moveBalance(labels('refund_failure'), back)];
  };
  const dispute = ({ source }: (typeof paid)[number], ends: readonly ('lost' | 'won')[]) =>
    ends.flatMap((end, i) => {
      const of = { ...source, id: `du_${count}`, object: 'dispute', status: end };
      const taken = { amount: -source.amount, fee: 1_500, source: of, at: at(n, 1_420 + 2 * i) };
      const lines = [stripe.moveBalance(labels('adjustment', 'dispute'), taken)];
      if (end === 'lost') return lines;
      const given = { amount: source.amount, source: of, at: at(n, 1_421 + 2 * i) };
      return [...lines, stripe.moveBalance(labels('adjustment', 'dispute_reversal'), given)];
    });
  const [one, two, three] = inEur;
  if (!one || !two || !three) throw new Error('No payment');
  const others: [string, string, number][] = [
    ['stripe_fee', 'fee', -99],
    ['stripe_fx_fee', 'fee', -3],
    ['tax_fee', 'tax', -19],
    ['network_cost', 'network_cost', -7],
    ['topup', 'topup', 5_000],
    ['topup_reversal', 'topup_reversal', -5_000],
    ['reserve_hold', 'reserve_hold', -800],
    ['reserve_release', 'reserve_release', 800],
    ['payout_minimum_balance_hold', 'payout_minimum_balance_hold', -1],
    ['something_new', 'other_adjustment', 13],
  ];
  return [
    ...inEur.map(({ line }) => line),
    ...inEur.slice(10, 50).flatMap((of, i) => refund(of, i < 5)),
    ...[...dispute(one, ['won']), ...dispute(two, ['lost']), ...dispute(three, ['won', 'won'])],
    ...others.map(([type, category, amount]) =>
      stripe.moveBalance(labels(type, category), { amount, at: at(n, 1_430) }),
    ),
  ];
};

interface Difference {
  day: string;
  kind: string;
  gap: number;
}
const differences = () => sql<Difference[]>`
  select day::text, kind, (their_amount - our_amount)::int as gap from account_differences
  where gateway = ${gateway} and state = 'open' and kind <> 'kind_unknown' order by day, id`;

/** Postgres is as it was before this day. */
const restoreTo = (day: string) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const table of ['days', 'balances', 'differences'].map((name) => `account_${name}`))
      await tx`delete from ${tx(table)} where day >= ${day}`;
    for (const table of ['statement_lines', 'gateway_entries'])
      await tx`delete from ${tx(table)} where day >= ${day}`;
    await tx`delete from movements where day >= ${day} and kind not in ('payment', 'refund', 'refund_returned')`;
    await tx`delete from payouts where created_at >= ${day}`;
    await tx`delete from payout_lines where payout not in (select id from payouts)`;
  });

it('1,500 lines of every kind over ten days add up to the cent, and each planted gap is named', async () => {
  stripe.before.set('eur', 123_456);
  const gaps: Difference[] = [];
  const plant = (n: number, gap: number) => {
    stripe.hidden.add(stripe.moveBalance(labels('charge'), { amount: gap, at: at(n, 700) }));
    gaps.push({ day: dayOf(n), kind: 'balance_differs', gap });
  };
  const payouts: { id: string; amount: number }[] = [];
  for (let n = 1; n <= days; n += 1) {
    const lines = fill(n);
    if (n === 3) plant(n, 1);
    if (n === 8) plant(n, -1);
    const made = stripe.payOut(lines, { at: at(n, 1_439), status: 'paid' });
    payouts.push(made);
    if (n === 4) {
      made.status = 'failed';
      const back = { amount: made.amount, source: made.id, at: at(n + 1, 10) };
      stripe.moveBalance(labels('payout_failure', 'payout_reversal'), back);
    }
    await sql`insert into movements ${sql(movements.splice(0))}`;
    await compare(n);
    if (n === 6) {
      await restoreTo(dayOf(5));
      await compare(5, 30 * hourMs);
      await compare(6, 6 * hourMs);
    }
  }
  const [{ lines } = { lines: 0 }] = await sql<{ lines: number }[]>`
    select count(*)::int as lines from statement_lines where gateway = ${gateway}`;
  expect(lines).toBeGreaterThan(1_500);
  expect(await differences()).toEqual(gaps);
  const [off] = await sql`
    select from account_balances b
    where gateway = ${gateway} and opening + net <> reported
      and not exists (select from account_differences d where d.kind = 'balance_differs' and d.day = b.day)`;
  expect(off).toBeUndefined();
  const [closed] = await sql`
    select count(*)::int as count from account_days where gateway = ${gateway} and closed_at is not null`;
  expect(closed).toEqual({ count: days });
  // Every payout is the sum of its lines.
  const read = createAdminPayouts(sql);
  for (const { id, amount } of payouts) {
    const sums = await read.sum(gateway, id);
    expect(
      sums.reduce((all, { net }) => all + net, 0),
      id,
    ).toBe(amount);
  }
});
