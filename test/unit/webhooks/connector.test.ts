import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectPlain, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DialRequest } from '../../../webhooks/connector.ts';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import type { WebhookRequest } from '../../../webhooks/request.ts';
import { attempt } from '../../support/attempt.ts';
import { AttemptError } from '../../../webhooks/failure.ts';
import { createResolver } from '../../../webhooks/resolver.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** A receiver on loopback that every stubbed dial ends at, whatever address it was handed. */
const aSink = async () => {
  const requests: string[] = [];
  let held: (() => Promise<void>) | undefined;
  const server = createServer((req, res) => {
    requests.push(String(req.headers.host));
    const wait = held;
    held = undefined;
    req
      .resume()
      .on('end', () => void (wait?.() ?? Promise.resolve()).then(() => res.writeHead(204).end()));
  });
  /** The next request is answered only when it is released. */
  const hold = () => {
    const received = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    held = () => (received.resolve(), released.promise);
    return { received: received.promise, release: () => released.resolve() };
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  return { port, requests, hold };
};

interface Options {
  resolve?: (hostname: string) => Promise<string[]>;
  allowLoopback?: boolean;
  sinkPort?: number;
}

const aSender = ({ resolve, allowLoopback = false, sinkPort = 9 }: Options) => {
  const dialled: DialRequest[] = [];
  const dial = (request: DialRequest): Socket => {
    dialled.push(request);
    return connectPlain(sinkPort, '127.0.0.1');
  };
  const dispatcher = createWebhookDispatcher({
    allowLoopback,
    dial,
    timeoutMs: 1_000,
    ...(resolve && { resolve }),
  });
  cleanUps.push(() => dispatcher.destroy());
  const send = (url: string, options: Partial<WebhookRequest> = {}) =>
    attempt(url, { dispatcher, deadlineMs: 2_000, ...options });
  return { dialled, send };
};

describe('the guarded connector', () => {
  it('FS-39: dials only what was vetted when the name is bound anew after the check', async () => {
    const { port, requests } = await aSink();
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const { dialled, send } = aSender({
      sinkPort: port,
      resolve: async () => answers.shift() ?? [],
    });
    expect(await send('http://receiver.example/hook')).toMatchObject({ responseStatus: 204 });
    expect(dialled).toMatchObject([{ addresses: ['93.184.216.34'] }]);
    expect(requests).toEqual(['receiver.example']);
    // Another port is another connection, for which the name is asked again.
    expect(await send('http://receiver.example:81/hook')).toMatchObject({ errorClass: 'blocked' });
    expect(dialled).toHaveLength(1);
  });

  it('keeps a connection to a vetted address for the next webhook', async () => {
    const { port } = await aSink();
    const { dialled, send } = aSender({
      sinkPort: port,
      resolve: async () => ['93.184.216.34'],
    });
    for (let webhook = 0; webhook < 5; webhook += 1) {
      await send('http://receiver.example/hook');
      // The pool takes a connection back after the answer has been read.
      await setImmediate();
    }
    expect(dialled).toHaveLength(1);
  });

  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['2606:4700::1111', '::1']],
    [['93.184.216.34', '64:ff9b::7f00:1']],
    [['169.254.169.254']],
    [['not an address']],
  ])('refuses a name when one of its addresses is denied: %j', async (addresses) => {
    const { dialled, send } = aSender({ resolve: async () => addresses });
    const result = await send('https://receiver.example/');
    expect(result).toMatchObject({ errorClass: 'blocked', responseStatus: null });
    for (const address of addresses) expect(result.error).not.toContain(address);
    expect(dialled).toEqual([]);
  });

  it.each([
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f000001/'],
    ...['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/'],
    ...['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[fd00:ec2::254]/'],
    ...['https://localhost/', 'https://0/', 'https://１２７.０.０.１/'],
  ])('FS-41: refuses the literal %s before anything is dialled', async (url) => {
    const { dialled, send } = aSender({
      resolve: () => Promise.reject(new Error('a literal is not looked up')),
    });
    expect(await send(url)).toMatchObject({ errorClass: 'blocked' });
    expect(dialled).toEqual([]);
  });

  it('hands all vetted addresses of both families over, with the name for the certificate', async () => {
    const { dialled, send } = aSender({
      resolve: async () => ['93.184.216.34', '2606:4700::1111'],
    });
    await send('https://receiver.example./hook', { deadlineMs: 200 });
    expect(dialled).toEqual([
      {
        addresses: ['93.184.216.34', '2606:4700::1111'],
        port: 443,
        tls: true,
        servername: 'receiver.example',
      },
    ]);
  });

  it('a setting allows this machine by literal and by name, without asking a name server', async () => {
    const { port, requests } = await aSink();
    const { dialled, send } = aSender({
      allowLoopback: true,
      sinkPort: port,
      resolve: () => Promise.reject(new Error('localhost is not looked up')),
    });
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await send(`http://${host}/`)).toMatchObject({ responseStatus: 204 });
    expect(dialled.map(({ addresses }) => addresses)).toEqual([
      ['127.0.0.1'],
      ['127.0.0.1', '::1'],
      ['::1'],
    ]);
    expect(requests).toHaveLength(3);
  });

  it('FS-39: keeps a connection for a minute, and asks for the name anew after it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    cleanUps.push(() => vi.useRealTimers());
    const { port, hold } = await aSink();
    const named = [['93.184.216.34'], ['93.184.216.35'], ['93.184.216.36']];
    const answers = named.values();
    const { dialled, send } = aSender({
      sinkPort: port,
      resolve: async () => answers.next().value ?? [],
    });
    const url = 'http://receiver.example/';
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    await setImmediate(); // The connection is free only after the answer was heard.
    vi.advanceTimersByTime(59_000);
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    await setImmediate();
    expect(dialled).toHaveLength(1);
    vi.advanceTimersByTime(2_000);
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    await setImmediate();
    // What is under way then comes to its end.
    const { received, release } = hold();
    const slow = send(url);
    await received;
    vi.advanceTimersByTime(61_000);
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    release();
    expect(await slow).toMatchObject({ responseStatus: 204 });
    expect(dialled.map(({ addresses }) => addresses)).toEqual(named);
  });

  it('pins the name for the real dial too, which tries one address after the other', async () => {
    const { port } = await aSink();
    const dispatcher = createWebhookDispatcher({
      allowLoopback: true,
      timeoutMs: 1_000,
      resolve: async () => ['127.0.0.2', '127.0.0.1'],
    });
    cleanUps.push(() => dispatcher.destroy());
    const result = await attempt(`http://nowhere.invalid:${port}/`, { dispatcher });
    expect(result).toMatchObject({ responseStatus: 204 });
  });

  it('FS-36: a name without address is a failed attempt of class dns', async () => {
    const { send } = aSender({
      resolve: () =>
        Promise.reject(
          new AttemptError({ errorClass: 'dns', error: 'The host name has no address' }),
        ),
    });
    expect(await send('https://receiver.example/')).toMatchObject({
      errorClass: 'dns',
      error: 'The host name has no address',
    });
  });

  it('FS-48: a connection that is never made keeps none of the others waiting', async () => {
    const dialled: DialRequest[] = [];
    const dispatcher = createWebhookDispatcher({
      allowLoopback: false,
      timeoutMs: 5_000,
      resolve: async () => ['93.184.216.34'],
      dial: (request) => (dialled.push(request), new Socket()),
    });
    cleanUps.push(() => dispatcher.destroy());
    const attempts = Array.from({ length: 5 }, () =>
      attempt('https://receiver.example/', { dispatcher, deadlineMs: 300 }),
    );
    for (const result of await Promise.all(attempts))
      expect(result).toMatchObject({ errorClass: 'timeout' });
    expect(dialled).toHaveLength(5);
  });
});

describe('the resolver', () => {
  const aDeadNameServer = async () => {
    const server = createSocket('udp4');
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUps.push(() => server.close());
    return `127.0.0.1:${server.address().port}`;
  };

  it('a name server that is not there is no fault of the receiver', async () => {
    const gone = await aDeadNameServer();
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    const resolve = createResolver({ budgetMs: 400, servers: [gone] });
    const { send } = aSender({ resolve });
    await expect(send('https://receiver.example/')).rejects.toThrow(
      'cannot be asked: ECONNREFUSED',
    );
  });

  it('FS-45: a name server that never answers costs its budget, and others nothing', async () => {
    // Several: asking each of them, twice, would take longer than is allowed below.
    const servers = await Promise.all(Array.from({ length: 12 }, aDeadNameServer));
    const dead = createResolver({ budgetMs: 400, servers });
    const began = performance.now();
    const [stalled, ...others] = await Promise.all([
      dead('a.example').then(
        () => undefined,
        (error: unknown) => ({ error, ms: performance.now() - began }),
      ),
      // Many at once: four of them would fill the system's own resolver.
      ...Array.from({ length: 20 }, () => dead('b.example').catch(() => performance.now() - began)),
    ]);
    expect(stalled?.error).toMatchObject({ failure: { errorClass: 'dns' } });
    for (const ms of [stalled?.ms, ...others]) {
      expect(ms).toBeGreaterThan(200);
      expect(ms).toBeLessThan(5_000);
    }
  });

  it('FS-45: while name resolution of A hangs, B is delivered to without waiting for it', async () => {
    const { port } = await aSink();
    // Far longer than a machine stands still.
    const longMs = 20_000;
    const dead = createResolver({ budgetMs: longMs, servers: [await aDeadNameServer()] });
    const { send } = aSender({
      sinkPort: port,
      resolve: (hostname) =>
        hostname === 'a.example' ? dead(hostname) : Promise.resolve(['93.184.216.34']),
    });
    const stopping = new AbortController();
    const waits = { deadlineMs: 2 * longMs, signal: stopping.signal };
    let over = 0;
    const stalled = Array.from({ length: 10 }, () =>
      send('http://a.example/', waits).finally(() => (over += 1)),
    );
    expect(await send('http://b.example/', waits)).toMatchObject({ responseStatus: 204 });
    expect(over).toBe(0);
    const ends = Promise.allSettled(stalled);
    stopping.abort();
    for (const { status } of await ends) expect(status).toBe('rejected');
  });
});
