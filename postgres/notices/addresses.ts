import { createHash } from 'node:crypto';
import { first, type Queries } from '../driver/sql.ts';

export interface NoticeAddress {
  address: string;
  addedAt: Date;
  /** Null: nobody has opened the link of the first mail and agreed. */
  confirmedAt: Date | null;
  unsubscribedAt: Date | null;
  /** Nobody has agreed, and the time for it is over. */
  isTooLate: boolean;
  /** The newest mail to it; null: none is known any more. */
  last: { kind: string; at: Date; result: string | null } | null;
}

/** The address that a link in a mail belongs to. */
export interface LinkedAddress {
  application: string;
  isConfirmed: boolean;
  isUnsubscribed: boolean;
  /** The time in which it may be confirmed is over. */
  isTooLate: boolean;
}

/** Only hashes of tokens are stored. */
export const hashLink = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Of addresses `a`. */
const isTooLate = (sql: Queries) =>
  sql`a.confirmed_at is null and now() > confirmable_until(a.added_at)`;

/** The addresses of an application's people, whom the service tells about its receiver. */
export const createNoticeAddresses = (sql: Queries) => ({
  /** @returns in the order in which they were added */
  async list(application: string): Promise<NoticeAddress[]> {
    const rows = await sql<
      (Omit<NoticeAddress, 'last'> & { kind: string | null; at: Date; result: string | null })[]
    >`
      select a.address, a.added_at as "addedAt", a.confirmed_at as "confirmedAt",
        a.unsubscribed_at as "unsubscribedAt", ${isTooLate(sql)} as "isTooLate", n.kind, n.created_at as at, n.result
      from notice_addresses a
      left join lateral (
        select kind, created_at, result from notices
        where application = a.application and address = a.address
        order by created_at desc limit 1) n on true
      where a.application = ${application}
      order by a.added_at, a.address`;
    return rows.map(({ kind, at, result, ...row }) => ({
      ...row,
      last: kind === null ? null : { kind, at, result },
    }));
  },

  /**
   * Adds an address with the notice that asks it to confirm. An address is asked once a day, whichever applications add it: a
   * further question waits. An address that has ended the application's notices never gets another mail, also after it was removed.
   */
  async insert(
    application: string,
    address: string,
  ): Promise<{ asksAt: Date } | 'exists' | 'has ended'> {
    // Two applications that add it at once would both ask now.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`notices to ${address}`}, 0))`;
    const [row] = await sql<{ hasEnded: boolean; asksAt: Date | null }[]>`
      with known as (
        select application, asked_at, ended_at from removed_notice_addresses where hash = hash_of_address(${address})
        union all
        select application, added_at, unsubscribed_at from notice_addresses where address = ${address}
        union all
        select application, created_at, null from notices where address = ${address} and kind = 'confirmation'
      ), past as (
        select coalesce(bool_or(application = ${application} and ended_at is not null), false) as has_ended,
          greatest(now(), max(asked_at) + interval '1 day') as asks_at
        from known
      ), added as (
        insert into notice_addresses (application, address)
        select ${application}, ${address} from past where not has_ended
        on conflict do nothing returning added_at
      ), asked as (
        insert into notices (application, kind, state_since, address, created_at, next_try_at)
        select ${application}, 'confirmation', added_at, ${address}, asks_at, asks_at from added, past
        returning created_at
      )
      select has_ended as "hasEnded", (select created_at from asked) as "asksAt" from past`;
    if (row?.hasEnded) return 'has ended';
    return row?.asksAt ? { asksAt: row.asksAt } : 'exists';
  },

  /** Deletes an address with its notices and links. @returns whether there was one */
  async delete(application: string, address: string): Promise<boolean> {
    const { count } = await sql`
      delete from notice_addresses where application = ${application} and address = ${address}`;
    return count === 1;
  },

  getByLink: (token: string) =>
    first(sql<LinkedAddress[]>`
      select a.application, a.confirmed_at is not null as "isConfirmed",
        a.unsubscribed_at is not null as "isUnsubscribed",
        ${isTooLate(sql)} as "isTooLate"
      from notice_links l join notice_addresses a using (application, address)
      where l.hash = ${hashLink(token)}`),

  /** @returns whether the address is confirmed now */
  async confirm(token: string): Promise<boolean> {
    const [row] = await sql<{ done: boolean }[]>`select agree_to_notices(${token}) as done`;
    return row?.done ?? false;
  },

  /** @returns whether the link belongs to an address; it gets no further mail */
  async unsubscribe(token: string): Promise<boolean> {
    const [row] = await sql<{ done: boolean }[]>`select end_notices(${token}) as done`;
    return row?.done ?? false;
  },
});
export type NoticeAddresses = ReturnType<typeof createNoticeAddresses>;
