import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLink } from '../../../../chaos/link.ts';
import { connect } from '../../../../postgres/driver/connection.ts';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';
import { startOwnPostgres } from '../../../support/servers/own-postgres.ts';
import { speakTls } from '../../../support/servers/speak-tls.ts';
import { forFile } from '../../../support/for-file.ts';

const postgres = await forFile(startOwnPostgres());
await speakTls(postgres.sql);

/** Pools whose connections to Postgres can be reset. */
const startResettableLink = async (settings: string) => {
  const { url: link, reset, stop } = await startLink(postgres.url);
  onTestFinished(stop);
  const url = new URL(`${postgres.url}${settings}`);
  url.port = new URL(link).port;
  const open = (max: number) => {
    const sql = connect(url.href, { name: 'tests', max });
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  };
  return { open, reset };
};

/** Calls `call` between the `error` of a socket and its `close`. @returns a promise for the `close` */
const betweenErrorAndClose = (call: () => void): Promise<void> => {
  const { emit } = Socket.prototype;
  const closed = Promise.withResolvers<void>();
  const restore = () => {
    Socket.prototype.emit = emit;
  };
  onTestFinished(restore);
  Socket.prototype.emit = function (this: Socket, ...args: [name: string, ...unknown[]]) {
    const result = Reflect.apply(emit, this, args);
    if (args[0] !== 'error') return result;
    restore();
    this.once('close', closed.resolve);
    call();
    return result;
  };
  return closed.promise;
};

describe.each(['', '?sslmode=require'])('when connections are reset (%j)', (settings) => {
  it('gives each query its own result or an error', { timeout: 60_000 }, async () => {
    const link = await startResettableLink(settings);
    const sql = link.open(2);
    const seen = { answered: 0, failed: 0, wrong: 0 };
    const runQueries = async (first: number) => {
      for (let n = first; n < first + 40; n += 1) {
        const result: unknown = await sql`select ${n}::int as n, pg_sleep(0.01)`.catch(
          (error: unknown) => error,
        );
        if (isPostgresUnavailable(result)) seen.failed += 1;
        else if (Array.isArray(result) && result[0]?.n === n) seen.answered += 1;
        else seen.wrong += 1;
      }
    };
    const done = Promise.all(Array.from({ length: 8 }, (_, index) => runQueries(index * 100))).then(
      () => true,
    );
    while (!(await Promise.race([done, sleep(50)]))) link.reset();
    expect(seen).toEqual({ answered: expect.any(Number), failed: expect.any(Number), wrong: 0 });
    expect(seen.failed).toBeGreaterThan(0);
    expect(seen.answered).toBeGreaterThan(0);
  });

  it('does not report a query that was never sent as carried out', async () => {
    const link = await startResettableLink(settings);
    const sql = link.open(1);
    await sql`select 1`;
    const late = Promise.withResolvers<unknown>();
    const closed = betweenErrorAndClose(() => {
      sql`select 2 as n`.then(late.resolve, late.resolve);
    });
    link.reset();
    await closed;
    expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
    const result = await late.promise;
    if (!isPostgresUnavailable(result)) expect(result).toEqual([{ n: 2 }]);
  });
});

it('answers the next query after Postgres has ended a connection', async () => {
  const sql = connect(postgres.url, { name: 'tests', max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const terminated = sql`select pg_sleep(9)`.catch((error: unknown) => error);
  await postgres.sql`
    select pg_terminate_backend(${own?.pid ?? 0}) from pg_sleep(0.1)`;
  expect(await terminated).toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
});
