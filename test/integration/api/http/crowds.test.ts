import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Handle } from '../../../support/http-application.ts';
import { serve } from '../../../support/http-application.ts';
import { rawConnection } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

const me = 'GET /api/v1/me HTTP/1.1\r\nhost: x\r\n\r\n';
const docs = 'GET /api/v1/docs HTTP/1.1\r\nhost: x\r\n\r\n';

/** The last one of its connection. */
const last = (request: string) => request.replace(/\r\n$/, 'connection: close\r\n\r\n');

const answersIn = (text: string) => text.match(/HTTP\/1\.1 200 OK/g)?.length ?? 0;

/** A handler whose requests wait until they are let go. */
const aGate = () => {
  const gate = Promise.withResolvers<void>();
  let came = 0;
  const handle: Handle = async () => {
    came += 1;
    await gate.promise;
    return { status: 200, body: '{}' };
  };
  return { handle, open: () => gate.resolve(), came: () => came };
};

describe('requests of one connection that are sent ahead', () => {
  it('are answered in their order, eight of them, and as many again', async () => {
    const { handle, open, came } = aGate();
    const { url } = await serve({ getApplication: handle });
    const { socket, closed } = await rawConnection(url);
    socket.write(me.repeat(8));
    await until('all have come', () => came() === 8);
    open();
    let received = '';
    socket.on('data', (chunk: string) => (received += chunk));
    await until('all are answered', () => answersIn(received) === 8);
    socket.write(me.repeat(7) + last(me));
    expect(answersIn(await closed)).toBe(16);
  });

  it('are cut off beyond that, before they are worked on', async () => {
    const { handle, came } = aGate();
    const { url } = await serve({ getApplication: handle });
    const { socket, closed } = await rawConnection(url);
    socket.write(me.repeat(1_000));
    expect(await closed).toBe('');
    expect(came()).toBe(8);
  });

  it('are counted also where they are refused for want of a host', async () => {
    const { handle, came } = aGate();
    const { url } = await serve({ getApplication: handle });
    const { socket, closed } = await rawConnection(url);
    socket.write(me + 'GET /api/v1/me HTTP/1.1\r\n\r\n'.repeat(1_000));
    expect(await closed).toBe('');
    expect(came()).toBe(1);
  });
});

describe('a process that has as much to do as it can', () => {
  it('503: says so before it looks who asks, and to payers by a page, until there is room', async () => {
    const { handle, open, came } = aGate();
    let authenticated = 0;
    const { url } = await serve(
      { getApplication: handle, checkout: handle },
      {
        requestsMax: 20,
        authenticate: async () => {
          authenticated += 1;
          await new Promise(() => {});
          throw new Error('never');
        },
      },
    );
    const checkout = `${url}/api/v1/payments/PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP/checkout`;
    const waiting = Array.from({ length: 20 }, () => fetch(checkout));
    await until('all have come', () => came() === 20);

    const refused = await fetch(`${url}/api/v1/me`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(refused.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await refused.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(authenticated).toBe(0);
    const page = await fetch(checkout);
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(page.headers.get('refresh')).toBe(page.headers.get('retry-after'));
    expect(await page.text()).toMatch(/^<!doctype html>/);

    open();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
    expect((await fetch(checkout)).status).toBe(200);
  });

  it('takes no more connections than it has room for, and logs that once', async () => {
    const { url, server, lines } = await serve({ showDocs: aGate().handle });
    expect(server.maxConnections).toBe(5_000);
    server.maxConnections = 2;
    await rawConnection(url);
    await rawConnection(url);
    for (let turn = 0; turn < 3; turn += 1)
      expect(await (await rawConnection(url)).closed).toBe('');
    expect(lines).toEqual([{ level: 'error', msg: 'There is no room for more connections' }]);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is kept of what was sent on some connections, once all of it has come: in MB. */
const keptOf = async ({ url, server }: { url: string; server: Server }, texts: string[]) => {
  const came: Socket[] = [];
  server.on('connection', (socket) => came.push(socket));
  const connections = [];
  for (let index = 0; index < texts.length; index += 1) connections.push(await rawConnection(url));
  const kept = () => {
    collect();
    return process.memoryUsage().heapUsed / (1 << 20);
  };
  const before = kept();
  for (const [index, { socket }] of connections.entries()) socket.write(texts[index] ?? '');
  const sent = texts.reduce((sum, text) => sum + text.length, 0);
  const isAllThere = () => came.reduce((sum, { bytesRead }) => sum + bytesRead, 0) === sent;
  await until('all has come', isAllThere, 20_000);
  const after = kept();
  for (const { socket } of connections) socket.destroy();
  return after - before;
};

describe('a crowd', () => {
  const inBytes = `1\r\n \r\n`.repeat(65_000);
  const head = (first: string) => `${first} HTTP/1.1\r\nhost: x\r\n`;
  const chunked = 'transfer-encoding: chunked\r\n\r\n';

  it.each<[string, string, Handle]>([
    [
      'read',
      'POST /api/v1/gateways/x/notifications',
      ({ readBytes }) => readBytes().then(() => ({ status: 200 })),
    ],
    ['not read', 'POST /api/v1/gateways/x/notifications', () => new Promise(() => {})],
    ['not asked for', 'GET /api/v1/me', () => new Promise(() => {})],
  ])('takes little with bodies in pieces of one byte that are %s', async (_, first, handle) => {
    const service = await serve({ notifyOfPayment: handle, getApplication: handle });
    const texts = Array<string>(10).fill(head(first) + chunked + inBytes);
    expect(await keptOf(service, texts)).toBeLessThan(10);
  });

  it('takes little with heads of very many lines', async () => {
    const service = await serve({});
    const lines = Array.from({ length: 900 }, (_, index) => `${index.toString(36)}:${index}\r\n`);
    const texts = Array<string>(600).fill(head('GET /api/v1/me') + lines.join(''));
    expect(await keptOf(service, texts)).toBeLessThan(10);
  });
});

describe('an answer that nobody takes', () => {
  const large = Buffer.alloc(50 << 20, ' ');

  /** The clock by which a server looks at its answers, moved on by the test. */
  const aClock = () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    return (seconds: number) => void vi.advanceTimersByTime(seconds * 1000);
  };

  /** A reader who has begun to take the answer, and takes no more of it. */
  const aReader = async (url: string) => {
    const connection = await rawConnection(url);
    connection.socket.write(last(docs));
    await once(connection.socket, 'data');
    connection.socket.pause();
    return connection;
  };
  const connectionsOf = (server: Server) => promisify(server.getConnections.bind(server));

  it('is cut off after a minute, though its reader takes a little now and then', async () => {
    const pass = aClock();
    const { url, server } = await serve({ showDocs: async () => ({ status: 200, body: large }) });
    const connections = connectionsOf(server);
    const { socket, closed } = await aReader(url);
    pass(1);
    for (let turn = 0; turn < 59; turn += 1) {
      socket.read(100);
      pass(1);
    }
    expect(await connections()).toBe(1);
    pass(1);
    await until('it is cut off', async () => (await connections()) === 0);
    socket.resume();
    await expect(closed).rejects.toThrow('ECONNRESET');
  });

  it('is cut off before its time where all of them hold more than 192 MB, the oldest first', async () => {
    const pass = aClock();
    const { url, server } = await serve({ showDocs: async () => ({ status: 200, body: large }) });
    const connections = connectionsOf(server);
    const waiting = [];
    for (let turn = 0; turn < 3; turn += 1) {
      waiting.push(await aReader(url));
      pass(1);
    }
    expect(await connections()).toBe(3);
    waiting.push(await aReader(url));
    pass(1);
    await until('one of them is cut off', async () => (await connections()) === 3);
    for (const { socket } of waiting) socket.resume();
    const [oldest, ...others] = waiting;
    await expect(oldest?.closed).rejects.toThrow('ECONNRESET');
    for (const { closed } of others) expect((await closed).length).toBeGreaterThan(large.length);
  });

  it('is not kept, nor its connection, once it was taken', async () => {
    const { url, server } = await serve({ showDocs: async () => ({ status: 200, body: 'x' }) });
    const came: WeakRef<Socket>[] = [];
    server.on('connection', (socket) => came.push(new WeakRef(socket)));
    for (let turn = 0; turn < 20; turn += 1) {
      const { socket, closed } = await rawConnection(url);
      socket.write(last(docs));
      await closed;
    }
    const isGone = () => {
      collect();
      return came.every((socket) => socket.deref() === undefined);
    };
    await until('none is there any more', isGone, 20_000);
    expect(came).toHaveLength(20);
  });

  it('is no other answer of its connection, and no connection that rests', async () => {
    const pass = aClock();
    const { url } = await serve({ showDocs: async () => ({ status: 200, body: 'x' }) });
    const { socket, closed } = await rawConnection(url);
    for (let turn = 0; turn < 4; turn += 1) {
      socket.write(docs);
      await once(socket, 'data');
      pass(50);
    }
    socket.write(last(docs));
    expect(answersIn(await closed)).toBe(5);
  });
});
