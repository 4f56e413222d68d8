import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../../contract/time.ts';
import { createAccountComparison } from '../../../../postgres/accounts/comparison.ts';
import { createAccountDays } from '../../../../postgres/accounts/days.ts';
import { hashDay } from '../../../../postgres/accounts/hash.ts';
import { createMovements, type ExportFilter } from '../../../../postgres/accounts/movements.ts';
import { forFile } from '../../../support/for-file.ts';
import { startRecords } from '../../../support/data/records.ts';

const { sql } = await forFile(startRecords());
const hourMs = 3_600_000;
const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const day = { gateway: 'sandbox', day: '2026-11-20' };

it('hashes more movements than a statement takes, each of them', async () => {
  const count = 10_001;
  await sql`
    insert into movements (id, kind, gateway, day, test, amount, currency, occurred_at)
    select 'fee:' || lpad(n::text, 6, '0'), 'fee', 'sandbox', ${day.day}::date, true, -n, 'EUR', now()
    from generate_series(1, ${count}::int) as n`;
  const before = await hashDay(sql, day);
  expect(before.movements).toBe(count);
  const sum = { application: null, test: true, kind: 'fee', currency: 'EUR' };
  expect(before.sums).toEqual([{ ...sum, count, amount: (-count * (count + 1)) / 2 }]);
  expect(await hashDay(sql, day)).toEqual(before);
  await sql`alter table movements disable trigger movements__append_only`;
  const change = (id: string, amount: number) => sql`
    update movements set amount = amount + ${amount} where id = ${id}`;
  for (const id of ['fee:000001', `fee:0${count}`]) {
    await change(id, 1);
    expect((await hashDay(sql, day)).hash).not.toBe(before.hash);
    await change(id, -1);
  }
  expect(await hashDay(sql, day)).toEqual(before);
});

it('names differences in more entries than a statement takes, each once', async () => {
  const count = 5_001;
  await sql`
    insert into gateway_entries (gateway, id, kind, day, at, amount, currency)
    select 'sandbox', 'E' || lpad(n::text, 6, '0'), 'payment', ${day.day}::date, now(), n, 'EUR'
    from generate_series(1, ${count}::int) as n`;
  const { findDifferences } = createAccountComparison(sql);
  expect(await findDifferences(day)).toEqual({ open: count, newUnknown: count });
  expect(await findDifferences(day)).toEqual({ open: count, newUnknown: 0 });
  await sql`delete from gateway_entries where id in ('E000001', ${`E00${count}`})`;
  expect(await findDifferences(day)).toEqual({ open: count - 2, newUnknown: 0 });
});

it('closes no day that is not over by both clocks, that of Postgres and that of the worker', async () => {
  await sql`
    insert into gateways (slug, driver, kind, created_at)
    values ('clocks', 'sandbox', 'sandbox', now() - interval '3 days')`;
  const comparison = createAccountComparison(sql);
  const due = async (now?: Date) =>
    (await comparison.listDue(now)).flatMap(({ gateway, day: each }) =>
      gateway === 'clocks' ? [each] : [],
    );
  const closed = async () =>
    (await sql`select from account_days where gateway = 'clocks' and closed_at is not null`).length;
  // In the first hour of a day, yesterday is not due yet.
  const at = (days: number) => new Date(Date.parse(dateOf(Date.now() + days * dayMs)) + 2 * hourMs);
  const first = dateOf(Date.now() - 3 * dayMs);
  // Postgres is two days ahead of the worker.
  expect(await due(at(-2))).toEqual([first]);
  // The worker is a month ahead.
  expect((await due(at(31))).at(-1)).not.toBe(dateOf(Date.now()));
  const account = { gateway: 'clocks', day: first };
  await comparison.finishDay(account, 'each', at(-3));
  expect(await closed()).toBe(0);
  await comparison.finishDay(account, 'each', at(-2));
  expect(await closed()).toBe(1);
});

describe('the sums of some days', () => {
  const movements = createMovements(sql);
  const gateway = 'sums';
  const range = { gateway, from: '2026-10-01', to: '2026-10-04' };
  const sumOf = async (filter: Partial<ExportFilter> = {}) =>
    (await movements.sum({ ...range, application: null, test: null, ...filter })).map(
      ({ application, test, kind, currency, count, amount }) =>
        [application, test, kind, currency, count, amount].join(' '),
    );

  it('are the same before and after a part of the days is closed', async () => {
    await sql`
      insert into gateways (slug, driver, kind, created_at) values (${gateway}, 'sandbox', 'sandbox', '2026-10-01')`;
    await sql`
      insert into movements (id, kind, gateway, day, application, test, amount, currency, occurred_at)
      select kind || ':' || currency || day || application || test, kind, ${gateway}, day, nullif(application, ''), test,
        case kind when 'payment' then 1000 else -7 end + extract(day from day), currency, day
      from unnest(array['payment', 'fee']) as kind, unnest(array['EUR', 'IRR']) as currency,
        unnest(array['', 'shop', 'tickets']) as application, unnest(array[true, false]) as test,
        generate_series('2026-10-01'::date, '2026-10-04', '1 day') as day
      where not (currency = 'IRR' and extract(day from day) = 2)`;
    const filters = [
      {},
      { application: 'shop' },
      { test: true },
      { from: '2026-10-02', to: '2026-10-02' },
      { from: '2026-10-02' },
      { from: '2026-10-04' },
      { to: '2026-10-01' },
      { from: '2026-09-01', to: '2026-09-30' },
    ];
    const all = () => Promise.all(filters.map(sumOf));
    const before = await all();
    expect(before.map((rows) => rows.length)).toEqual([24, 8, 12, 12, 24, 24, 24, 0]);
    expect(before[0]).toContain('shop true payment EUR 4 4010');
    const comparison = createAccountComparison(sql);
    for (const closed of ['2026-10-01', '2026-10-02']) {
      await comparison.finishDay({ gateway, day: closed }, 'list');
      expect(await all()).toEqual(before);
    }
    const [row] =
      await sql`select count(*) from account_days where gateway = ${gateway} and sums is not null`;
    expect(row).toEqual({ count: 2 });
  });

  it('are verified with the hash', async () => {
    const verify = async () => {
      const found: boolean[] = [];
      for await (const each of createAccountDays(sql).verify())
        if (each.gateway === gateway) found.push(each.whole);
      return found;
    };
    expect(await verify()).toEqual([true, true]);
    await expect(
      sql`update account_days set sums = '[]' where gateway = ${gateway}`,
    ).rejects.toThrow('append-only');
    await sql`alter table account_days disable trigger account_days__final`;
    await sql`
      update account_days set sums = jsonb_set(sums, '{0,amount}', '1') where gateway = ${gateway} and day = '2026-10-02'`;
    expect(await verify()).toEqual([true, false]);
  });
});
