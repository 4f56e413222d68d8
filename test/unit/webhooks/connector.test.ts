import { createServer } from 'node:http';
import { connect as connectPlain, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWebhookDispatcher, type DialRequest } from '../../../webhooks/connector.ts';
import type { WebhookRequest } from '../../../webhooks/request.ts';
import { attempt } from '../../support/service/send-webhook.ts';
import { AttemptError } from '../../../webhooks/failure.ts';
import { listenForTest } from '../../support/servers/listen.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** A receiver on loopback. The test's `dial` connects to it instead of the address it gets. */
const startSink = async () => {
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
  /** Delays the response to the next request until `release`. */
  const hold = () => {
    const received = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    held = () => (received.resolve(), released.promise);
    return { received: received.promise, release: () => released.resolve() };
  };
  return { port: await listenForTest(server), requests, hold };
};

interface Options {
  resolve?: (hostname: string) => Promise<string[]>;
  allowLoopback?: boolean;
  sinkPort?: number;
}

const createSender = ({ resolve, allowLoopback = false, sinkPort = 9 }: Options) => {
  const dialled: DialRequest[] = [];
  const dial = (request: DialRequest): Socket => {
    dialled.push(request);
    return connectPlain(sinkPort, '127.0.0.1');
  };
  const dispatcher = createWebhookDispatcher({
    allowLoopback,
    dial,
    timeoutMs: 20_000,
    ...(resolve && { resolve }),
  });
  cleanUps.push(() => dispatcher.destroy());
  const send = (url: string, options: Partial<WebhookRequest> = {}) =>
    attempt(url, { dispatcher, deadlineMs: 30_000, ...options });
  return { dialled, send };
};

describe('createWebhookDispatcher', () => {
  it('dials only the addresses that it checked, and checks them at every connection', async () => {
    const { port, requests } = await startSink();
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const { dialled, send } = createSender({
      sinkPort: port,
      resolve: async () => answers.shift() ?? [],
    });
    expect(await send('http://receiver.example/hook')).toMatchObject({ responseStatus: 204 });
    expect(dialled).toMatchObject([{ addresses: ['93.184.216.34'] }]);
    expect(requests).toEqual(['receiver.example']);
    // Another port needs another connection, which resolves the name again.
    expect(await send('http://receiver.example:81/hook')).toMatchObject({ errorClass: 'blocked' });
    expect(dialled).toHaveLength(1);
  });

  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['2606:4700::1111', '::1']],
    [['93.184.216.34', '64:ff9b::7f00:1']],
    [['169.254.169.254']],
    [['not an address']],
  ])('blocks a name when one of its addresses is denied: %j', async (addresses) => {
    const { dialled, send } = createSender({ resolve: async () => addresses });
    const result = await send('https://receiver.example/');
    expect(result).toMatchObject({ errorClass: 'blocked', responseStatus: null });
    for (const address of addresses) expect(result.error).not.toContain(address);
    expect(dialled).toEqual([]);
  });

  it('blocks a literal address, in any of its forms, without a lookup and without dialling', async () => {
    const { dialled, send } = createSender({
      resolve: () => Promise.reject(new Error('a literal is not looked up')),
    });
    for (const host of ['127.1', '10.0.0.1', '[::ffff:7f00:1]', 'localhost', '１２７.０.０.１'])
      expect(await send(`https://${host}/`), host).toMatchObject({ errorClass: 'blocked' });
    expect(dialled).toEqual([]);
  });

  it('dials all checked addresses of both families, with the name for the certificate', async () => {
    const { dialled, send } = createSender({
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

  it('connects to loopback by a setting, without a name server', async () => {
    const { port, requests } = await startSink();
    const { dialled, send } = createSender({
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

  it('reuses a connection for a minute, and resolves the name again after it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    cleanUps.push(() => vi.useRealTimers());
    const { port, hold } = await startSink();
    const named = [['93.184.216.34'], ['93.184.216.35'], ['93.184.216.36']];
    const answers = named.values();
    const { dialled, send } = createSender({
      sinkPort: port,
      resolve: async () => answers.next().value ?? [],
    });
    const url = 'http://receiver.example/';
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    await setImmediate(); // The connection is free only after the response has ended.
    // Node's servers close a connection that was idle for 5 s, so it is given up before.
    for (let seconds = 0; seconds < 58; seconds += 2) {
      vi.advanceTimersByTime(2_000);
      expect(await send(url)).toMatchObject({ responseStatus: 204 });
      await setImmediate();
    }
    expect(dialled).toHaveLength(1);
    vi.advanceTimersByTime(2_500);
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    await setImmediate();
    // A running attempt is not interrupted.
    const { received, release } = hold();
    const slow = send(url);
    await received;
    vi.advanceTimersByTime(61_000);
    expect(await send(url)).toMatchObject({ responseStatus: 204 });
    release();
    expect(await slow).toMatchObject({ responseStatus: 204 });
    expect(dialled.map(({ addresses }) => addresses)).toEqual(named);
  });

  it('tries the addresses one after the other, without resolving the name again', async () => {
    const { port } = await startSink();
    const dispatcher = createWebhookDispatcher({
      allowLoopback: true,
      timeoutMs: 20_000,
      resolve: async () => ['127.0.0.2', '127.0.0.1'],
    });
    cleanUps.push(() => dispatcher.destroy());
    const result = await attempt(`http://nowhere.invalid:${port}/`, { dispatcher });
    expect(result).toMatchObject({ responseStatus: 204 });
  });

  it('fails with dns for a name without address', async () => {
    const { send } = createSender({
      resolve: () =>
        Promise.reject(new AttemptError({ errorClass: 'dns', error: 'It has no address' })),
    });
    expect(await send('https://receiver.example/')).toMatchObject({
      errorClass: 'dns',
      error: 'It has no address',
    });
  });

  it('delays no attempt by a lookup or a connection of another one that never ends', async () => {
    const dialled: DialRequest[] = [];
    const dispatcher = createWebhookDispatcher({
      allowLoopback: false,
      timeoutMs: 5_000,
      resolve: async (hostname) =>
        hostname === 'a.example' ? new Promise(() => {}) : ['93.184.216.34'],
      dial: (request) => (dialled.push(request), new Socket()),
    });
    cleanUps.push(() => dispatcher.destroy());
    const attempts = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'b'].map((name) =>
      attempt(`https://${name}.example/`, { dispatcher, deadlineMs: 300 }),
    );
    for (const result of await Promise.all(attempts))
      expect(result).toMatchObject({ errorClass: 'timeout' });
    expect(dialled.map(({ servername }) => servername)).toEqual(Array(5).fill('b.example'));
  });
});
