import type { Queries } from '../driver/sql.ts';

/** What admins ask for, and another admin confirms above an amount. */
export type ApprovalKind = 'refund' | 'link';

/** The amounts above which another admin must confirm, of each currency, in minor units. */
export const createApprovals = (sql: Queries, kind: ApprovalKind) => ({
  async list(): Promise<{ currency: string; above: number }[]> {
    return sql<{ currency: string; above: number }[]>`
      select currency, above from approvals where kind = ${kind} order by currency`;
  },

  /** Null: none needs another admin. */
  async get(currency: string): Promise<number | null> {
    const [row] = await sql<{ above: number }[]>`
      select above from approvals where kind = ${kind} and currency = ${currency}`;
    return row?.above ?? null;
  },

  async set(currency: string, above: number | null): Promise<void> {
    if (above === null)
      await sql`delete from approvals where kind = ${kind} and currency = ${currency}`;
    else
      await sql`
        insert into approvals (kind, currency, above) values (${kind}, ${currency}, ${above})
        on conflict (kind, currency) do update set above = excluded.above`;
  },
});
