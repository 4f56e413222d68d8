import { dayMs } from '../../../contract/time.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';

interface Payment {
  id: string;
  gateway: string;
  amount: number;
  currency: string;
}

/** Of a statement: what differs from a line without a fee that `po_listed` has paid out. */
interface Line {
  amount: number;
  source: string | null;
  type?: string;
  category?: string;
  fee?: number;
  payout?: string;
  payment_id?: string | null;
}

/**
 * Two payouts of `gateway`, as its statement and the sweeper have them: `po_listed` of these payments, less fees and a refund, whose
 * sum has a rest, and `po_chosen`, which somebody has chosen.
 * @param rest what no line explains, in minor units
 */
export const fillPayouts = async (
  sql: Sql,
  {
    gateway,
    payments,
    rest = 0,
    words = {},
  }: {
    gateway: string;
    payments: readonly Payment[];
    rest?: number;
    words?: { descriptor?: string; bank_reference?: string };
  },
): Promise<{ amount: number }> => {
  const at = new Date(Date.now() - 3 * dayMs);
  const shared = { gateway, at, day: at.toISOString().slice(0, 10), currency: 'EUR' };
  const lineOf = (id: string, kind: string, own: Line) => ({
    ...{ ...shared, id, kind, type: kind, category: kind, fee: 0, payout: 'po_listed' },
    ...{ payment_id: null, ...own },
  });
  const listed = [
    ...payments.map(({ id, amount }, n) =>
      lineOf(`txn_charge_${String(n).padStart(5, '0')}`, 'payment', {
        ...{ type: 'charge', category: 'charge', amount, fee: 25 + Math.round(amount * 0.015) },
        ...{ source: `ch_${n}`, payment_id: id },
      }),
    ),
    lineOf('txn_refund_1', 'refund', {
      ...{ amount: -100, source: 're_1', payment_id: payments[0]?.id ?? null },
    }),
  ];
  const amount = listed.reduce((sum, line) => sum + line.amount - line.fee, 0) + rest;
  const lines = [
    ...listed,
    lineOf('txn_payout_1', 'payout', { amount: -amount, source: null }),
    lineOf('txn_payout_2', 'payout', {
      ...{ amount: -5_000, source: null, payout: 'po_chosen' },
    }),
  ];
  await sql`insert into statement_lines ${sql(
    lines,
    ...(['gateway', 'id', 'day', 'at', 'kind', 'type', 'category'] as const),
    ...(['amount', 'fee', 'currency', 'source', 'payout'] as const),
  )}`;
  await sql`insert into gateway_entries ${sql(
    lines,
    ...(['gateway', 'id', 'source', 'kind', 'day', 'at', 'amount', 'currency'] as const),
    ...(['fee', 'payment_id'] as const),
  )}`;
  const known = {
    gateway,
    currency: 'EUR',
    created_at: at,
    arrives_on: shared.day,
    status: 'paid',
  };
  await sql`insert into payouts ${sql([
    {
      ...{ ...known, id: 'po_listed', amount, lines: 'listed', read_at: new Date() },
      ...{ descriptor: 'SHOP', bank_reference: 'TRACE4711', ...words },
    },
    {
      ...{ ...known, id: 'po_chosen', amount: 5_000, lines: 'never', read_at: null },
      ...{ descriptor: null, bank_reference: null },
    },
  ])}`;
  return { amount };
};
