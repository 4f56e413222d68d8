import type { Queries } from '../driver/sql.ts';

/** To one address in a day. */
const noticesPerDay = 3;
/** Longer than the time between two digests: the last one says whether the address knows of the trouble. */
const keptDays = 7;

/** The notices to the people of applications about their live receivers. queue.ts sends them. */
export const createNotices = (sql: Queries) => ({
  /**
   * Writes the notices that are due to the confirmed addresses of applications. Each state gets one, each kind at most
   * once in 24 hours, and while the receiver is unwell a digest follows 24 hours after the last notice. Those who know
   * of the trouble get one of its end. What is not due now is due in a later sweep, if it is still true then.
   * @returns how many
   */
  async write(now: Date): Promise<number> {
    const { count } = await sql`
      with addressed as (
        select r.application, r.state, r.since, a.address, n.* from receivers r
        join notice_addresses a on a.application = r.application
        cross join lateral (
          select count(*) filter (where n.created_at > b.day_ago) as in_day,
            array_agg(n.kind) filter (where n.created_at > b.day_ago) as kinds_in_day,
            max(n.created_at) <= b.day_ago as is_quiet,
            coalesce(bool_or(n.kind = r.state and n.state_since = r.since), false) as knows_state,
            coalesce(max(n.created_at) filter (where n.kind <> 'recovered' and coalesce(n.result, '') not in ('refused', 'failed'))
              > coalesce(max(n.created_at) filter (where n.kind = 'recovered'), '-infinity'), false) as knows_trouble
          from (select ${now}::timestamptz - interval '24 hours' as day_ago) as b
          left join notices n on n.application = r.application and n.address = a.address and n.kind <> 'confirmation'
          group by b.day_ago
        ) as n
        where not r.test and a.confirmed_at is not null and a.unsubscribed_at is null
      ), due as (
        select t.*, case
          when t.in_day >= ${noticesPerDay} then null
          when t.state = 'ok' then case when t.knows_trouble then 'recovered' end
          when not t.knows_state and not (t.state = 'failing' and t.knows_trouble) then t.state
          when t.is_quiet then 'digest'
        end as kind
        from addressed t
      )
      insert into notices (application, kind, state_since, address, created_at, next_try_at)
      select d.application, d.kind, case d.kind when 'digest' then date_trunc('day', ${now}::timestamptz, 'UTC') else d.since end,
        d.address, ${now}, ${now}
      from due d
      where d.kind is not null and d.kind <> all (coalesce(d.kinds_in_day, '{}'))
      on conflict do nothing`;
    return count;
  },

  async deleteOld(now: Date): Promise<void> {
    await sql`
      delete from notices where created_at < ${now}::timestamptz - make_interval(days => ${keptDays}::int)`;
  },
});
export type Notices = ReturnType<typeof createNotices>;
