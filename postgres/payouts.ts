import type { RecordedAccount } from '../contract/gateway-account.ts';
import type { KnownPayout } from '../contract/payout.ts';
import type { Queries } from './driver/sql.ts';
import { accountColumns } from './gateways.ts';

/** A look at a payout at its gateway. */
export interface PayoutLook extends RecordedAccount {
  /** The gateway's own. */
  id: string;
  /** Where its list of lines goes on; null: at the beginning. */
  position: string | null;
  /** All of the list is here. */
  isRead: boolean;
}

/** After a look without an answer, or one that crashed. */
const retryMinutes = 10;
/** A payout that has arrived can still come back. Stripe: within five business days. */
const changesForDays = 14;

/** Payouts, which the sweeper looks at until nothing changes any more. */
export const createPayouts = (sql: Queries) => ({
  /** Claims looks that are due. One that is not recorded is due again in 10 minutes. */
  async claimLooks(limit: number): Promise<PayoutLook[]> {
    return sql<PayoutLook[]>`
      with due as (
        select gateway, id from payouts where due_at <= now() order by due_at limit ${limit} for update skip locked
      )
      update payouts p set due_at = now() + make_interval(mins => ${retryMinutes})
      from due join gateways g on g.slug = due.gateway
      where p.gateway = due.gateway and p.id = due.id
      returning p.id, p.position, p.read_at is not null as "isRead", ${accountColumns(sql)}`;
  },

  /** Records lines of the payout. @param next where the list goes on; null: it has ended */
  async recordLines(
    { gateway, id }: Pick<PayoutLook, 'gateway' | 'id'>,
    lines: readonly string[],
    next: string | null,
  ): Promise<void> {
    await sql`
      with paid_out as (
        update statement_lines set payout = ${id} where gateway = ${gateway} and id = any(${[...lines]}::text[])
      )
      update payouts set position = ${next}, read_at = case when ${next}::text is null then now() end
      where gateway = ${gateway} and id = ${id}`;
  },

  /** Records what the gateway says of it. It is due again in a day while something may change. */
  async recordLook(
    { gateway, id }: Pick<PayoutLook, 'gateway' | 'id'>,
    known: KnownPayout,
  ): Promise<void> {
    const { amount, currency, status, createdAt, arrivesOn, descriptor, bankReference } = known;
    await sql`
      update payouts set amount = ${amount}, currency = ${currency}, status = ${status}, created_at = ${createdAt},
        arrives_on = ${arrivesOn}, descriptor = ${descriptor}, bank_reference = ${bankReference}, lines = ${known.lines},
        due_at = case
          when ${known.lines} = 'listed' and read_at is null then now()
          when ${status} = 'on_its_way' or ${known.lines} = 'later'
            or greatest(${createdAt}, ${arrivesOn}::date::timestamptz) > now() - make_interval(days => ${changesForDays})
            then now() + interval '1 day' end
      where gateway = ${gateway} and id = ${id}`;
  },
});
export type Payouts = ReturnType<typeof createPayouts>;
