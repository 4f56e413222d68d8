import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queries, Sql } from '../../../../postgres/driver/connection.ts';
import { connect } from '../../../../postgres/driver/connection.ts';
import type { Database } from '../../../support/database.ts';
import { aDatabase } from '../../../support/database.ts';
import { until } from '../../../support/until.ts';

let database: Database;
let sql: Sql;
beforeAll(async () => {
  database = await aDatabase();
  sql = connect(database.url, { name: 'transactions', max: 1 });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await database.drop();
});

const backend = async (tx: Queries) => {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
};
const end = (pid: number) => database.sql`select pg_terminate_backend(${pid})`;
const lost = { code: 'CONNECTION_CLOSED' };
const outcome = (work: Promise<unknown>) => work.catch((error: unknown) => error);

// What nobody catches fails the run of these tests.
it('a transaction whose connection is lost in a statement fails, and nothing else', async () => {
  const transaction = outcome(
    sql.begin(async (tx) => {
      const pid = await backend(tx);
      await Promise.all([tx`select pg_sleep(9)`, end(pid)]);
    }),
  );
  expect(await transaction).toMatchObject(lost);
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
});

it.each(['sends another statement', 'has done all'])(
  'one whose connection is lost between two statements fails: what goes on and %s',
  async (then) => {
    const gone = Promise.withResolvers<void>();
    const after = Promise.withResolvers<unknown>();
    const transaction = sql.begin(async (tx) => {
      await end(await backend(tx));
      await gone.promise;
      after.resolve(
        then === 'has done all'
          ? lost
          : await outcome(tx`select ${tx(['n'])} from (select 1 as n) as one`),
      );
    });
    expect(await outcome(transaction)).toMatchObject(lost);
    gone.resolve();
    expect(await after.promise).toMatchObject(lost);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  },
);

it('any other failure within a transaction takes it back, also one of another connection', async () => {
  await sql`create table kept (n int)`;
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  const transaction = sql.begin(async (tx) => {
    await tx`insert into kept values (1)`;
    throw reset;
  });
  expect(await outcome(transaction)).toBe(reset);
  expect(await outcome(sql.begin('read only', (tx) => tx`delete from kept`))).toMatchObject({
    code: '25006',
  });
  expect(await sql.begin((tx) => tx`select from kept`)).toEqual([]);
  await until('nobody is left within one', async () => {
    const open = await sql`
      select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    return open.length === 0;
  });
});
