import { afterAll, expect, it } from 'vitest';
import type { Queries } from '../../../../postgres/driver/sql.ts';
import { connect } from '../../../../postgres/driver/connection.ts';
import { aDatabase } from '../../../support/data/database.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const database = await forFile(aDatabase());
const sql = connect(database.url, { name: 'transactions', max: 1 });
afterAll(async () => {
  await sql.end({ timeout: 1 });
});

const backend = async (tx: Queries) => {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
};
const terminate = (pid: number) => database.sql`select pg_terminate_backend(${pid})`;
const connectionClosed = { code: 'CONNECTION_CLOSED' };
const resultOrError = (work: Promise<unknown>) => work.catch((error: unknown) => error);

// An uncaught error fails the run of these tests.
it('fails only the transaction when its connection is lost during a query', async () => {
  const transaction = resultOrError(
    sql.begin(async (tx) => {
      const pid = await backend(tx);
      await Promise.all([tx`select pg_sleep(9)`, terminate(pid)]);
    }),
  );
  expect(await transaction).toMatchObject(connectionClosed);
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
});

it.each(['sends another query', 'ends'])(
  'fails a transaction whose connection is lost between queries, when its work then %s',
  async (then) => {
    const failed = Promise.withResolvers<void>();
    const next = Promise.withResolvers<unknown>();
    const transaction = sql.begin(async (tx) => {
      await terminate(await backend(tx));
      await failed.promise;
      next.resolve(
        then === 'ends'
          ? connectionClosed
          : await resultOrError(tx`select ${tx(['n'])} from (select 1 as n) as one`),
      );
    });
    expect(await resultOrError(transaction)).toMatchObject(connectionClosed);
    failed.resolve();
    expect(await next.promise).toMatchObject(connectionClosed);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  },
);

it('rolls back after any other error, also after the lost connection of something else', async () => {
  await sql`create table kept (n int)`;
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  const transaction = sql.begin(async (tx) => {
    await tx`insert into kept values (1)`;
    throw reset;
  });
  expect(await resultOrError(transaction)).toBe(reset);
  expect(await resultOrError(sql.begin('read only', (tx) => tx`delete from kept`))).toMatchObject({
    code: '25006',
  });
  expect(await sql.begin((tx) => tx`select from kept`)).toEqual([]);
  await until('no transaction is open', async () => {
    const open = await sql`
      select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`;
    return open.length === 0;
  });
});
