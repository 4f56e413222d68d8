import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forFile } from '../../support/for-file.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { aLink, finishTry } from '../../support/service/links.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const postgres = await startOwnPostgres({
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'all',
  'pg_stat_statements.track_planning': 'on',
  // After an analyze of a table each connection plans its statements anew.
  autovacuum: 'off',
});
await postgres.sql`create extension pg_stat_statements`;
const service = await forFile(startService({ database: postgres }));

const lanes = 10;
const payments = 200;
/** A connection that was idle ends after a minute. */
const idleMs = 62_000;
/** Pays and delivers all payments, and as many links. @returns the statements of the service that each payment sends, with their plans */
const plansOfPayments = async () => {
  const { application, journey } = await service.anApplication();
  await postgres.sql`select pg_stat_statements_reset()`;
  const lane = async () => {
    for (let nth = 0; nth < payments / lanes; nth += 1) {
      await journey.finish('pay');
      const link = await aLink(service, journey);
      await finishTry(journey, (await link.begin()) ?? '', 'pay');
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await until('all are delivered', async () => {
    const delivered = await postgres.sql`
      select from deliveries where application = ${application} and status = 'delivered'`;
    // The event of each payment, and of each link.
    return delivered.length === payments * 3;
  });
  return postgres.sql<{ query: string; calls: number; plans: number }[]>`
    select query, calls::float8, plans::float8 from pg_stat_statements
    where calls >= ${payments}`;
};

it('plans a statement once for each connection and not for each payment, also after the connections were idle', async () => {
  for (const pauseMs of [0, idleMs]) {
    await sleep(pauseMs);
    const statements = await plansOfPayments();
    // At least those of the create, the opening, the outcome, its movement and the attempt.
    expect(statements.length).toBeGreaterThan(10);
    expect(statements.filter(({ calls, plans }) => plans > calls / 5)).toEqual([]);
  }
});
