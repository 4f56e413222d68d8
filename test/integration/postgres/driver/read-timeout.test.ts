import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect, isAway } from '../../../../postgres/driver/connection.ts';
import { createReadTimeout } from '../../../../postgres/driver/read-timeout.ts';
import { startOwnPostgres } from '../../../support/own-postgres.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { speakTls } from '../../../support/speak-tls.ts';

describe('a connection', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  const aSocket = (watch = createReadTimeout()) => {
    const socket = {
      ...{ bytesRead: 0, bytesWritten: 0, destroyed: false },
      destroy: () => Object.assign(socket, { destroyed: true }) as never,
    };
    watch(socket);
    return socket;
  };
  const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

  it('that was asked may answer for as long as a statement takes, and no longer', () => {
    const socket = aSocket();
    socket.bytesWritten += 10;
    pass(12);
    expect(socket.destroyed).toBe(false);
    pass(3);
    expect(socket.destroyed).toBe(true);
    pass(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is given all the time anew by every answer, and after having been idle', () => {
    const socket = aSocket();
    for (let answer = 0; answer < 5; answer += 1) {
      socket.bytesWritten += 10;
      pass(12);
      socket.bytesRead += 10;
      pass(40);
    }
    expect(socket.destroyed).toBe(false);
  });

  it('that may be idle is left to the pool, and cut where the pool does not end it', () => {
    const socket = aSocket();
    socket.bytesWritten += 10;
    socket.bytesRead += 10;
    pass(65);
    expect(socket.destroyed).toBe(false);
    pass(10);
    expect(socket.destroyed).toBe(true);
  });

  it('that may be idle is cut at once beside one that surely waits in vain', () => {
    const watch = createReadTimeout();
    const [maybe, another, waits, lively] = [
      aSocket(watch),
      aSocket(),
      aSocket(watch),
      aSocket(watch),
    ];
    for (const socket of [maybe, another]) {
      socket.bytesWritten += 10;
      socket.bytesRead += 10;
    }
    pass(5);
    waits.bytesWritten += 10;
    pass(10);
    lively.bytesRead += 10;
    pass(5);
    expect([maybe, another, waits, lively].map(({ destroyed }) => destroyed)).toEqual([
      ...[true, false, true, false],
    ]);
  });
});

it('a pool leaves a server that vanished without a word, with TLS or without, but for a migration', async () => {
  const postgres = await startOwnPostgres();
  onTestFinished(postgres.drop);
  await speakTls(postgres.sql);
  const proxy = await startTcpProxy([postgres.url]);
  onTestFinished(proxy.stop);
  const pool = (query: string, patient: boolean) => {
    const url = postgres.url.replace(/:\d+\//, `:${new URL(proxy.url).port}/`);
    const sql = connect(`${url}${query}`, { name: 'tests', max: 1, patient });
    onTestFinished(() => sql.end({ timeout: 0 }));
    return sql;
  };
  const pools = [pool('', false), pool('?sslmode=require', false)];
  const migrating = pool('', true);
  await Promise.all([...pools, migrating].map((sql) => sql`select 1`));

  // A tick of the watch, lest it has to wait until they cannot be idle.
  await sleep(2_500);
  proxy.silence();
  let given = false;
  void migrating`select 2`.catch(() => {}).finally(() => (given = true));
  const answers = await Promise.allSettled(pools.map((sql) => sql`select 2`));
  for (const answer of answers) {
    expect(answer).toMatchObject({ reason: { code: 'CONNECTION_CLOSED' } });
    expect(answer.status === 'rejected' && isAway(answer.reason)).toBe(true);
  }
  for (const sql of pools) expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  expect(given).toBe(false);
}, 120_000);
