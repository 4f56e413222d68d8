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

/** The time in which a new address may be confirmed. */
const confirmableDays = 7;

/** Of addresses `a`. */
const isTooLate = (sql: Queries) =>
  sql`a.confirmed_at is null and a.added_at < now() - make_interval(days => ${confirmableDays})`;

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

  /** Adds an address with the notice that asks it to confirm. @returns false if the application has it already */
  async insert(application: string, address: string): Promise<boolean> {
    const { count } = await sql`
      with added as (
        insert into notice_addresses (application, address) values (${application}, ${address})
        on conflict do nothing returning application, address, added_at
      )
      insert into notices (application, kind, state_since, address, created_at, next_try_at)
      select application, 'confirmation', added_at, address, added_at, added_at from added`;
    return count === 1;
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
    const { count } = await sql`
      update notice_addresses a set confirmed_at = coalesce(a.confirmed_at, now())
      from notice_links l
      where l.hash = ${hashLink(token)} and l.application = a.application and l.address = a.address
        and a.unsubscribed_at is null
        and (a.confirmed_at is not null or a.added_at >= now() - make_interval(days => ${confirmableDays}))`;
    return count === 1;
  },

  /** @returns whether the link belongs to an address; it gets no further mail */
  async unsubscribe(token: string): Promise<boolean> {
    const { count } = await sql`
      update notice_addresses a set unsubscribed_at = coalesce(a.unsubscribed_at, now())
      from notice_links l
      where l.hash = ${hashLink(token)} and l.application = a.application and l.address = a.address`;
    return count === 1;
  },
});
export type NoticeAddresses = ReturnType<typeof createNoticeAddresses>;
