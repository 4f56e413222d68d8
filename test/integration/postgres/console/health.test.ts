import { expect, it } from 'vitest';
import { createHealthQueries } from '../../../../postgres/console/health.ts';
import { aDatabase } from '../../../support/data/database.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { forFile } from '../../../support/for-file.ts';
import { dayMs } from '../../../../contract/time.ts';

const { sql } = await forFile(aDatabase());
await fillConsole(sql);
const health = createHealthQueries(sql);

it('the health of a receiver adds up, and is that of its application and mode alone', async () => {
  const since = new Date(Date.now() - dayMs);
  const figures = await health.receiver('shop', false, since);
  const whole = figures.find(({ hour }) => hour === null);
  const hours = figures.filter(({ hour }) => hour !== null);
  const sum = (name: 'attempts' | 'accepted') =>
    hours.reduce((total, each) => total + each[name], 0);
  const [expected] = await sql<{ attempts: number; accepted: number; last: Date }[]>`
    select count(*)::int as attempts, (count(*) filter (where a.response_status = 204))::int as accepted,
      max(a.completed_at) filter (where a.response_status = 204) as last
    from deliveries d join attempts a using (event_id)
    where d.application = 'shop' and not d.test and d.created_at >= ${since} and a.started_at >= ${since}`;
  expect(hours.length).toBeGreaterThan(20);
  expect([sum('attempts'), sum('accepted')]).toEqual([expected?.attempts, expected?.accepted]);
  expect(whole).toEqual({
    hour: null,
    attempts: expected?.attempts,
    accepted: expected?.accepted,
    p50: 30,
    p95: 30,
    lastAcceptedAt: expected?.last,
  });
  expect(await health.receiver('nobody', false, since)).toEqual([
    { hour: null, attempts: 0, accepted: 0, p50: null, p95: null, lastAcceptedAt: null },
  ]);
});

it('failures are counted by gateway, reason and quarter of the time', async () => {
  const until = new Date();
  const since = new Date(until.getTime() - dayMs);
  const expectedIn = (test: boolean) => sql<{ gateway: string; quarters: number[] }[]>`
    select gateway, jsonb_build_array(
      (count(*) filter (where age >= 18))::int, (count(*) filter (where age >= 12 and age < 18))::int,
      (count(*) filter (where age >= 6 and age < 12))::int, (count(*) filter (where age < 6))::int) as quarters
    from (
      select gateway, extract(epoch from ${until}::timestamptz - created_at) / 3600 as age
      from payments where status = 'failed' and test = ${test} and created_at >= ${since}) as f
    group by 1 order by count(*) desc, 1`;
  for (const test of [false, true]) {
    const found = await health.failures(test, { since, until }, 20);
    const expected = await expectedIn(test);
    expect(expected.length).toBeGreaterThan(0);
    expect(found).toEqual(expected.map((each) => ({ ...each, failureCode: 'card_declined' })));
    expect(await health.failures(test, { since, until }, 1)).toEqual(found.slice(0, 1));
  }
});
