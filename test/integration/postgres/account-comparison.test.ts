import { expect, it } from 'vitest';
import { dayMs } from '../../../contract/time.ts';
import { createAccountComparison } from '../../../postgres/account-comparison.ts';
import { hashDay } from '../../../postgres/account-hash.ts';
import { forFile } from '../../support/for-file.ts';
import { startRecords } from '../../support/data/records.ts';

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
    insert into gateway_entries (gateway, reference, kind, day, at, amount, currency)
    select 'sandbox', 'E' || lpad(n::text, 6, '0'), 'payment', ${day.day}::date, now(), n, 'EUR'
    from generate_series(1, ${count}::int) as n`;
  const { findDifferences } = createAccountComparison(sql);
  expect(await findDifferences(day)).toEqual({ open: count, newUnknown: count });
  expect(await findDifferences(day)).toEqual({ open: count, newUnknown: 0 });
  await sql`delete from gateway_entries where reference in ('E000001', ${`E00${count}`})`;
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
