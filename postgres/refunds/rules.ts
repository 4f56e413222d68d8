import { changesOne, type Queries } from '../driver/sql.ts';

/** A rule for refunds: the limit of an application, or the amount above which another admin confirms (null). */
export interface RefundRule {
  application: string | null;
  currency: string;
  /** In minor units; null: none. */
  amount: number | null;
}

/** A looser rule that an admin of the console has asked for. Another admin confirms it. */
export interface RefundRuleRequest extends RefundRule {
  askedBy: string;
  askedAt: Date;
}

/** The changes that the console may make to the rules for refunds. Functions of the owner carry it out. */
export const createRefundRuleQueries = (sql: Queries) => ({
  async listRequests(): Promise<RefundRuleRequest[]> {
    return sql<RefundRuleRequest[]>`
      select application, currency, amount, asked_by as "askedBy", asked_at as "askedAt"
      from refund_rule_requests order by application nulls first, currency`;
  },

  /** @returns `asked` for a looser rule, which waits for another admin */
  async ask(
    { application, currency, amount }: RefundRule,
    askedBy: string,
  ): Promise<'set' | 'asked'> {
    const [row] = await sql<{ done: 'set' | 'asked' }[]>`
      select ask_refund_rule(${application}, ${currency}, ${amount}, ${askedBy}) as done`;
    if (!row) throw new Error('A select without a condition returned no row');
    return row.done;
  },

  /** @returns whether there was one */
  dropRequest: ({ application, currency }: Omit<RefundRule, 'amount'>) =>
    changesOne(sql`
      delete from refund_rule_requests
      where application is not distinct from ${application} and currency = ${currency}`),
});
