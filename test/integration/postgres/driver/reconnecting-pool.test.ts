import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startLink } from '../../../../chaos/link.ts';
import type { Sql } from '../../../../postgres/driver/connection.ts';
import { connect, isAway } from '../../../../postgres/driver/connection.ts';
import { reconnectingPool } from '../../../../postgres/driver/reconnecting-pool.ts';
import { startOwnPostgres } from '../../../support/own-postgres.ts';
import { speakTls } from '../../../support/speak-tls.ts';

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  await speakTls(postgres.sql);
});
afterAll(() => postgres?.drop());

/** Pools on a way to Postgres that can be reset. */
const aWay = async (settings: string) => {
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

/** Calls it once, between the next error of a socket and its end. @returns once that has come */
const betweenErrorAndEnd = (call: () => void): Promise<void> => {
  const { emit } = Socket.prototype;
  const ended = Promise.withResolvers<void>();
  const restore = () => {
    Socket.prototype.emit = emit;
  };
  onTestFinished(restore);
  Socket.prototype.emit = function (this: Socket, ...args: [name: string, ...unknown[]]) {
    const result = Reflect.apply(emit, this, args);
    if (args[0] !== 'error') return result;
    restore();
    this.once('close', ended.resolve);
    call();
    return result;
  };
  return ended.promise;
};

describe.each(['', '?sslmode=require'])('a pool whose connections are reset (%j)', (settings) => {
  it(
    'gives each statement its own answer or an error, and goes on',
    { timeout: 60_000 },
    async () => {
      const way = await aWay(settings);
      const sql = way.open(2);
      const seen = { answered: 0, failed: 0, wrong: 0 };
      const lane = async (first: number) => {
        for (let n = first; n < first + 40; n += 1) {
          const answer: unknown = await sql`select ${n}::int as n, pg_sleep(0.01)`.catch(
            (error: unknown) => error,
          );
          if (isAway(answer)) seen.failed += 1;
          else if (Array.isArray(answer) && answer[0]?.n === n) seen.answered += 1;
          else seen.wrong += 1;
        }
      };
      const over = Promise.all(Array.from({ length: 8 }, (_, index) => lane(index * 100))).then(
        () => true,
      );
      while (!(await Promise.race([over, sleep(50)]))) way.reset();
      expect(seen).toEqual({ answered: expect.any(Number), failed: expect.any(Number), wrong: 0 });
      expect(seen.failed).toBeGreaterThan(0);
      expect(seen.answered).toBeGreaterThan(0);
    },
  );

  it('does not say that what was never sent was carried out', async () => {
    const way = await aWay(settings);
    const sql = way.open(1);
    await sql`select 1`;
    const late = Promise.withResolvers<unknown>();
    const ended = betweenErrorAndEnd(() => {
      sql`select 2 as n`.then(late.resolve, late.resolve);
    });
    way.reset();
    await ended;
    expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
    const answer = await late.promise;
    if (!isAway(answer)) expect(answer).toEqual([{ n: 2 }]);
  });
});

it('FS-22: after Postgres has ended a statement’s connection the next one does not fail by it', async () => {
  const sql = connect(postgres.url, { name: 'tests', max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const ended = sql`select pg_sleep(9)`.catch((error: unknown) => error);
  await postgres.sql`
    select pg_terminate_backend(${own?.pid ?? 0}) from pg_sleep(0.1)`;
  expect(await ended).toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
});

describe('a pool is replaced', () => {
  /** How many pools it takes, where every statement fails so, on sockets that have read so much. */
  const poolsFor = async (code: string, bytesRead: number) => {
    let pools = 0;
    const sql = reconnectingPool((show) => {
      pools += 1;
      show(Object.defineProperty(new Socket(), 'bytesRead', { value: bytesRead }));
      const fail = () => Promise.reject(Object.assign(new Error('It failed'), { code }));
      return Object.assign(fail, { end: async () => {} }) as unknown as Sql;
    });
    for (let nth = 1; nth <= 3; nth += 1) await expect(sql`select 1`).rejects.toThrow('It failed');
    await sql.end();
    await expect(sql`select 1`).rejects.toThrow('It failed');
    return pools;
  };

  it.each([
    ['a connection was lost', 4, 'ECONNRESET', 1],
    ['not where nobody was reached', 1, 'ECONNRESET', 0],
    ['not where Postgres has refused a statement', 1, '23505', 1],
    ['not where Postgres lets nobody in', 1, '57P03', 1],
  ])('%s: %i', async (_, pools, code, bytesRead) => {
    expect(await poolsFor(code, bytesRead)).toBe(pools);
  });
});
