import type { NoticeKind, NoticeResult } from '../../contract/notice.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import { hashLink } from './addresses.ts';

/** The key of a notice. */
export interface NoticeKey {
  application: string;
  kind: NoticeKind;
  /** As Postgres writes it: a Date loses the microseconds. */
  stateSince: string;
  address: string;
}

export interface DueNotice extends NoticeKey {
  /** When the state began. */
  since: Date;
}

/** After this time nobody gets it any more: the state may be another one. */
const oldest = '1 hour';
/** No try takes so long. */
const longestTry = '1 minute';
/** Links in older mails end. */
const linkDays = 90;

/** The notices that wait to be sent. The sweeper writes those about receivers. */
export const createNoticeQueue = (sql: Queries) => {
  const isNotice = ({ application, kind, stateSince, address }: NoticeKey): Fragment => sql`
    n.application = ${application} and n.kind = ${kind} and n.state_since = ${stateSince}::text::timestamptz
      and n.address = ${address}`;
  return {
    /**
     * Ends what is claimed and has no result, because a worker was lost, and what is too old or whose address wants nothing.
     * @returns how many ended with each of the results
     */
    async endLost(): Promise<{ unknown: number; failed: number }> {
      const rows = await sql<{ result: NoticeResult }[]>`
        update notices n set next_try_at = null,
          result = case when n.claimed_at is null then 'failed' else 'unknown' end
        from notice_addresses a
        where n.next_try_at is not null and a.application = n.application and a.address = n.address
          and case when n.claimed_at is not null then n.claimed_at < now() - ${longestTry}::interval
            else n.created_at < now() - ${oldest}::interval or a.unsubscribed_at is not null end
        returning n.result`;
      const ended = (result: NoticeResult) => rows.filter((row) => row.result === result).length;
      return { unknown: ended('unknown'), failed: ended('failed') };
    },

    /**
     * Oldest first. Before an address is confirmed, it gets only the question for that. The key of a digest is its day, so
     * its state began when that of the receiver did.
     */
    listDue: (limit: number) => sql<DueNotice[]>`
      select n.application, n.kind, n.state_since::text as "stateSince",
        case n.kind when 'digest' then coalesce(r.since, n.state_since) else n.state_since end as since, n.address
      from notices n join notice_addresses a using (application, address)
      left join receivers r on r.application = n.application and not r.test
      where n.next_try_at <= now() and n.claimed_at is null and a.unsubscribed_at is null
        and (a.confirmed_at is not null or n.kind = 'confirmation')
      order by n.created_at limit ${limit}`,

    /**
     * Claims a notice, so that nobody else sends it, and stores the token of the links in its mail.
     * @returns false if it is claimed or finished
     */
    async claim(notice: NoticeKey, token: string): Promise<boolean> {
      const { count } = await sql`
        with claimed as (
          update notices n set claimed_at = now()
          where ${isNotice(notice)} and n.next_try_at is not null and n.claimed_at is null
          returning n.application, n.address
        )
        insert into notice_links (hash, application, address)
        select ${hashLink(token)}::bytea, application, address from claimed`;
      return count === 1;
    },

    /** Records the end of a claimed notice, or of one that the server refused before the claim. */
    async finish(notice: NoticeKey, result: NoticeResult): Promise<void> {
      await sql`
        update notices n set result = ${result}, next_try_at = null where ${isNotice(notice)}`;
    },

    /** Records a try after which the server has no mail: the next one is 5, then 30 minutes later, and the third is the last. @returns whether it was the last one */
    async retryLater(notice: NoticeKey): Promise<boolean> {
      const rows = await sql<{ isLast: boolean }[]>`
        update notices n set tries = n.tries + 1, claimed_at = null,
          next_try_at = now() + case n.tries when 0 then interval '5 minutes' when 1 then interval '30 minutes' end,
          result = case when n.tries >= 2 then 'failed' end
        where ${isNotice(notice)} and n.next_try_at is not null
        returning n.next_try_at is null as "isLast"`;
      return rows[0]?.isLast ?? false;
    },

    async deleteOldLinks(): Promise<void> {
      await sql`delete from notice_links where sent_at < now() - make_interval(days => ${linkDays})`;
    },
  };
};
export type NoticeQueue = ReturnType<typeof createNoticeQueue>;
