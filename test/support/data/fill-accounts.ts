import { newPaymentId } from '../../../contract/ids.ts';
import { dayMs } from '../../../contract/time.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

const comparedDays = 9;

interface KnownPayment {
  id: string;
  application: string;
  status: string;
  gateway: string;
  test: boolean;
}

/**
 * Movements, compared days and differences of `sandbox` and `zarinpal` over the last nine days. Yesterday is not closed.
 * @param hostile a text that no page may take for its own
 */
export const fillAccounts = async (
  sql: Sql,
  payments: readonly KnownPayment[],
  hostile: string,
) => {
  const now = Date.now();
  const dayOf = (ago: number) => new Date(now - ago * dayMs).toISOString().slice(0, 10);
  const agos = Array.from({ length: comparedDays }, (_, n) => n + 1);
  const days = ['sandbox', 'zarinpal'].flatMap((gateway) =>
    agos.map((ago) => ({ gateway, ago, day: dayOf(ago), test: gateway === 'sandbox' })),
  );
  const moved = days.flatMap(({ gateway, ago, day, test }) => {
    const at = new Date(`${day}T12:00:00Z`);
    const shared = { gateway, day, test, currency: 'EUR', occurred_at: at, recorded_at: at };
    const ofApplication = ['shop', 'tickets'].flatMap((application) =>
      [
        { kind: 'payment', amount: 1_000 + ago * 10 },
        { kind: 'refund', amount: -100 },
      ].map(({ kind, amount }) => {
        const id = newPaymentId();
        const order = { application, payment_id: id, order_id: `order-of-${application}` };
        return { ...shared, ...order, id: `${kind}:${id}`, kind, amount, reference: `R-${id}` };
      }),
    );
    const fee = { kind: 'fee', amount: -30, reference: 'txn', application: null };
    return [
      ...ofApplication,
      { ...shared, ...fee, id: `fee:${gateway}:${day}`, payment_id: null, order_id: null },
    ];
  });
  await sql`insert into movements ${sql(moved)}`;
  await sql`insert into account_days ${sql(
    days.map(({ gateway, ago, day }) => {
      const method = gateway === 'sandbox' ? 'list' : 'each';
      return { gateway, day, method, compared_at: new Date(now - (ago - 1) * dayMs) };
    }),
  )}`;
  await sql`
    update account_days d set closed_at = d.compared_at, movements = of_day.count, sums = of_day.sums,
      hash = sha256(convert_to(d.gateway || ' ' || d.day, 'UTF8'))
    from (
      select gateway, day, sum(count) as count, jsonb_agg(s) as sums from (
        select gateway, day, application, test, kind, currency, count(*), sum(amount) as amount from movements
        group by gateway, day, application, test, kind, currency) s
      group by gateway, day) of_day
    where of_day.gateway = d.gateway and of_day.day = d.day and d.day <= ${dayOf(2)}::date`;
  const find = (application: string, status: string): string =>
    payments.find(
      (each) => each.application === application && each.status === status && !each.test,
    )?.id ?? '';
  const at = new Date(`${dayOf(2)}T14:30:00Z`);
  const add = async (difference: Record<string, unknown>): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      insert into account_differences ${sql({ gateway: 'zarinpal', day: dayOf(2), ...difference })} returning id`;
    return row?.id ?? 0;
  };
  const theirs = { their_amount: 1_250, their_currency: 'EUR', their_time: at };
  const ours = { our_amount: 1_200, our_currency: 'EUR', our_time: at };
  const [unpaid, paid] = [find('shop', 'failed'), find('tickets', 'paid')];
  return {
    /** Closed, and nothing is open. */
    greenDay: dayOf(4),
    /** A difference of each application is open. */
    openDay: dayOf(2),
    /** Compared, but not closed. */
    youngDay: dayOf(1),
    mendable: await add({
      kind: 'captured_not_paid',
      subject: 'R-unpaid',
      payment_id: unpaid,
      application: 'shop',
      workflow_runs: false,
      ...theirs,
    }),
    open: await add({
      kind: 'amount_differs',
      subject: `payment:${paid}`,
      payment_id: paid,
      application: 'tickets',
      ...ours,
      ...theirs,
    }),
    explained: await add({
      kind: 'refund_missing',
      day: dayOf(3),
      subject: 'refund:REF_1',
      application: 'tickets',
      ...ours,
      state: 'explained',
      reason: 'Paid out of the till',
    }),
    unknown: await add({
      kind: 'captured_unknown',
      gateway: 'sandbox',
      day: dayOf(1),
      subject: hostile,
      payment_id: newPaymentId(),
      ...theirs,
    }),
  };
};
