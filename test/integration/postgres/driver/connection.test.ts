import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, isAway } from '../../../../postgres/driver/connection.ts';
import { aDatabase } from '../../../support/database.ts';

const message = (kind: string, content: string) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(content)]);
};

/** A Postgres that lets anybody in, and dies at the first thing it is asked. */
const startDyingServer = async () => {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', () => {
      const facts = ['in_hot_standby', 'default_transaction_read_only'].map((name) =>
        message('S', `${name}\0off\0`),
      );
      // AuthenticationOk, ParameterStatus, ReadyForQuery.
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), ...facts, message('Z', 'I')]));
      socket.once('data', (question) => {
        asked.push(question.toString('latin1'));
        server.close();
        socket.destroy();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, port: (server.address() as AddressInfo).port };
};

describe('connect', () => {
  it('FS-22: asks a new connection for nothing but its statement, whose error somebody catches', async () => {
    const { asked, port } = await startDyingServer();
    const sql = connect(`postgres://anybody@127.0.0.1:${port}/any`, { name: 'tests', max: 1 });
    onTestFinished(() => sql.end({ timeout: 1 }));

    await expect(sql`select 42`).rejects.toThrow(/CONNECTION_CLOSED|ECONNREFUSED/);
    expect(asked).toEqual([expect.stringContaining('select 42')]);
  });

  it.each(['', '?sslmode=verify-full'])(
    'says so where a proxy takes connections and closes them, as no Postgres is behind it (%j)',
    { timeout: 10_000 },
    async (settings) => {
      let taken = 0;
      const server = createServer((socket) => {
        taken += 1;
        socket.once('data', () => socket.end()).on('error', () => {});
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // It listens on a TCP port.
      const url = `postgres://anybody@127.0.0.1:${port}/any${settings}`;
      const sql = connect(url, { name: 'tests', max: 1 });
      onTestFinished(async () => {
        await sql.end({ timeout: 1 });
        server.close();
      });

      for (let nth = 1; nth <= 2; nth += 1) {
        const error: unknown = await sql`select 1`.catch((reason: unknown) => reason);
        expect([isAway(error), taken]).toEqual([true, nth]);
      }
    },
  );

  it.each([
    ['nothing at all', '', /before Postgres said anything/],
    ['what a web server says', 'HTTP/1.1 400 Bad Request\r\n\r\n', /is not Postgres/],
    ['what a shell server says', 'SSH-2.0-OpenSSH_9.2\r\n', /is not Postgres/],
  ])('fails where a server closes with %s', { timeout: 20_000 }, async (_, answer, reason) => {
    const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const sql = connect(`postgres://anybody@127.0.0.1:${port}/any`, { name: 'tests', max: 1 });
    const error: unknown = await sql`select 1`.catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(reason);
    expect(isAway(error)).toBe(true);
    await sql.end();
  });

  it('has Postgres end what takes long, and what stands still within a transaction', async () => {
    const { sql, drop } = await aDatabase();
    onTestFinished(drop);
    const limits = await sql`
      select name, setting from pg_settings
      where name in ('statement_timeout', 'idle_in_transaction_session_timeout') order by name`;
    expect(limits).toEqual([
      { name: 'idle_in_transaction_session_timeout', setting: '30000' },
      { name: 'statement_timeout', setting: '10000' },
    ]);
  });

  it('brings arrays of texts there and back as they are', async () => {
    const { sql, drop } = await aDatabase();
    onTestFinished(drop);
    const text = fc.string({ unit: fc.constantFrom(...'aZ09 "\\\'{},\n\té\u2028😀') });
    const texts = fc.array(fc.oneof(text, fc.constantFrom('', 'NULL', 'null')));
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        const [row] = await sql`
          select ${given}::text[] as back, cardinality(${given}::text[]) as length,
            ${given[0] ?? ''} = any(${given}::text[]) as found`;
        expect(row).toEqual({ back: given, length: given.length, found: given.length > 0 });
      }),
    );
  });
});

describe('isAway', () => {
  const failed = (code: string) => Object.assign(new Error('It failed'), { code });

  it.each([
    ...['CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED'],
    ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EPIPE', 'ETIMEDOUT'],
    ...['NO_ANSWER', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['57P01', '57P02', '57P03', '53300', '57014', '25006'],
  ])('tells that Postgres is away by %s', (code) => {
    expect(isAway(failed(code))).toBe(true);
  });

  it.each(['23505', '42P01', 'UNDEFINED_VALUE', 'ERR_INVALID_ARG_TYPE'])(
    'takes %s for a fault of the statement',
    (code) => {
      expect(isAway(failed(code))).toBe(false);
    },
  );

  it('takes what has no code, or is no error, for something else', () => {
    expect(isAway(new TypeError('x is undefined'))).toBe(false);
    expect(isAway({ code: 'ECONNREFUSED' })).toBe(false);
  });

  it('tells that a server which only reads is away, as one that was the primary until now', async () => {
    const { sql, drop } = await aDatabase();
    onTestFinished(drop);
    const refusal = await sql
      .begin('read only', (tx) => tx`delete from workflow_outbox`)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: '25006' });
    expect(isAway(refusal)).toBe(true);
  });
});
