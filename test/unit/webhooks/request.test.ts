import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { attemptDeadlineMs, type WebhookRequest } from '../../../webhooks/request.ts';
import { attempt } from '../../support/service/send-webhook.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';
import { until } from '../../support/until.ts';

const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: attemptDeadlineMs });
afterAll(() => dispatcher.destroy());

const send = (url: string, options: Partial<WebhookRequest> = {}) =>
  attempt(url, {
    headers: { 'Content-Type': 'application/json', 'X-Service-Delivery-Attempt': '1' },
    body: Buffer.from('{"note":"grüße 😀"}'),
    dispatcher,
    ...options,
  });

/** The attempt's time passes as the test says. */
const sendByFakeClock = (url: string) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return send(url);
};

const responding = (text: string) => (socket: Socket) => void socket.write(text);

/** Sends a beginning, and then a piece again and again. */
const dripping = (beginning: string, piece: string) => (socket: Socket) => {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), 30);
  socket.once('close', () => clearInterval(timer));
};

/** Shorter than the real deadline, to save time, and long enough for what comes before it on a busy machine. */
const deadlineMs = 1_500;

describe('a receiver that responds', () => {
  it.each([
    ['200 OK', null],
    ['201 Created', null],
    ['204 No Content', null],
    ['299 Whatever', null],
    ['301 Moved Permanently', 'http_status'],
    ['400 Bad Request', 'http_status'],
    ['410 Gone', 'http_status'],
    ['429 Too Many Requests\r\nretry-after: 1', 'http_status'],
    ['500 Internal Server Error', 'http_status'],
    ['503 Service Unavailable', 'http_status'],
  ])('a response with %s gives the error class %s', async (status, errorClass) => {
    const length = status.startsWith('204') ? '' : 'content-length: 2\r\n';
    await using server = await startRawServer(
      responding(`HTTP/1.1 ${status}\r\n${length}\r\n${length && 'no'}`),
    );
    const result = await send(server.url);
    expect(result).toMatchObject({
      errorClass,
      responseStatus: Number(status.slice(0, 3)),
      error: errorClass && `The receiver answered ${status.slice(0, 3)}`,
      responseBody: length ? 'no' : null,
      responseTruncated: false,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['hints before it', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n', 200],
    ['a continue before it', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n', 202],
    ['no reason and HTTP 1.0', 'HTTP/1.0 200\r\n', 200],
    ['a reset of its form', 'HTTP/1.1 205 Reset Content\r\n', 205],
    ['doubled headers', 'HTTP/1.1 200 OK\r\nserver: a\r\nserver: b\r\ndate: x\r\n', 200],
    ['another charset', 'HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=x-mac-greek\r\n', 200],
  ])('accepts the event with %s', async (_, head, responseStatus) => {
    await using server = await startRawServer(responding(`${head}content-length: 0\r\n\r\n`));
    expect(await send(server.url)).toMatchObject({ errorClass: null, responseStatus });
  });

  it('gets the names of the headers in the documented case', async () => {
    await using server = await startRawServer(responding('HTTP/1.1 204 No Content\r\n\r\n'));
    await send(server.url);
    expect(server.requests[0]).toContain('\r\nX-Service-Delivery-Attempt: 1\r\n');
  });

  it('is not followed to another place: a redirect fails the attempt', async () => {
    await using other = await startRawServer(responding('HTTP/1.1 204 No Content\r\n\r\n'));
    for (const status of [301, 302, 303, 307, 308]) {
      await using server = await startRawServer(
        responding(`HTTP/1.1 ${status} Go\r\nlocation: ${other.url}\r\ncontent-length: 0\r\n\r\n`),
      );
      const failed = { responseStatus: status, errorClass: 'http_status' };
      expect(await send(server.url)).toMatchObject(failed);
      expect(server.requests).toHaveLength(1);
    }
    expect([other.requests, other.most()]).toEqual([[], 0]);
  });

  it('gets the unchanged bytes, their length in bytes and the whole URL', async () => {
    await using server = await startRawServer(responding('HTTP/1.1 204 No Content\r\n\r\n'));
    await send(`${server.url}?key=1#part`);
    const [head = '', body = ''] = server.requests[0]?.split('\r\n\r\n') ?? [];
    expect(Buffer.from(body, 'latin1').toString()).toBe('{"note":"grüße 😀"}');
    expect(head.toLowerCase()).toContain(`content-length: ${body.length}`);
    expect(head.toLowerCase()).not.toContain('accept-encoding');
    expect(head).toMatch(/^POST \/hook\?key=1 HTTP\/1\.1\r\n/);
  });

  it('is accepted when it responds shortly before the deadline', async () => {
    let answer = () => {};
    await using server = await startRawServer((socket) => {
      answer = () => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    });
    const sent = sendByFakeClock(server.url);
    while (server.requests.length === 0) await nextTurn();
    vi.advanceTimersByTime(9_999);
    answer();
    expect(await sent).toMatchObject({ responseStatus: 204, errorClass: null, durationMs: 9_999 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a receiver that hangs', () => {
  const behaviours: [string, (socket: Socket) => void][] = [
    ['before the headers', () => {}],
    ['within the headers', responding('HTTP/1.1 200 OK\r\ncontent-')],
    ['after endless 100 responses', dripping('', 'HTTP/1.1 100 Continue\r\n\r\n')],
    ['after endless 102 responses', dripping('', 'HTTP/1.1 102 Processing\r\n\r\n')],
    ['while it drips bytes of a header', dripping('HTTP/1.1 200 OK\r\nx: ', 'a')],
  ];
  it.each(behaviours)(
    'a receiver that hangs %s fails with a timeout at the deadline',
    async (_, behave) => {
      await using server = await startRawServer(behave);
      const result = await send(server.url, { deadlineMs });
      expect(result).toMatchObject({ errorClass: 'timeout', responseStatus: null });
      expect(result.durationMs).toBeGreaterThanOrEqual(deadlineMs - 5);
      expect(result.durationMs).toBeLessThan(attemptDeadlineMs);
      await until('the connection is closed', () => server.open() === 0);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('gets no POST when its name is resolved after the deadline', async () => {
    await using server = await startRawServer(responding('HTTP/1.1 204 No Content\r\n\r\n'));
    const name = Promise.withResolvers<string[]>();
    const late = createWebhookDispatcher({
      allowLoopback: true,
      timeoutMs: attemptDeadlineMs,
      resolve: () => name.promise,
    });
    const url = server.url.replace('127.0.0.1', 'receiver.example');
    const result = await send(url, { deadlineMs, dispatcher: late });
    expect(result).toMatchObject({ errorClass: 'timeout', responseStatus: null });
    expect(result.durationMs).toBeLessThan(attemptDeadlineMs);
    name.resolve(['127.0.0.1']);
    // The next attempt uses the connection, which has no rest of the aborted one.
    expect(await send(url, { dispatcher: late })).toMatchObject({ responseStatus: 204 });
    expect(server.requests).toHaveLength(1);
    await late.destroy();
  });

  it.each([
    ['200 OK', null],
    ['500 Oh', 'http_status'],
  ])(
    'while it drips its body after a %s has the class %s at the deadline',
    async (status, errorClass) => {
      const head = `HTTP/1.1 ${status}\r\ncontent-length: 1000\r\n\r\n`;
      await using server = await startRawServer(dripping(head, 'x'));
      const result = await send(server.url, { deadlineMs });
      expect(result).toMatchObject({ errorClass, responseStatus: Number(status.slice(0, 3)) });
      expect(result.responseBody).toMatch(/^x+$/);
      expect(result.durationMs).toBeLessThan(attemptDeadlineMs);
      await until('the connection is closed', () => server.open() === 0);
    },
  );

  it('gets the whole 10 s by default', async () => {
    await using server = await startRawServer(() => {});
    let isOver = false;
    const sent = sendByFakeClock(server.url).finally(() => (isOver = true));
    while (server.requests.length === 0) await nextTurn();
    vi.advanceTimersByTime(9_999);
    await nextTurn();
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await sent).toMatchObject({
      errorClass: 'timeout',
      error: 'No complete response within 10 seconds',
      durationMs: 10_000,
    });
  });
});

describe('a receiver that sends a 100 Continue which nobody has asked for', () => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  const writeSlowly = async (socket: Socket, pieces: readonly string[]) => {
    for (const piece of pieces) {
      socket.write(piece);
      await sleep(2);
    }
  };

  it.each([
    ['one packet', [`HTTP/1.1 100 Continue\r\n\r\n${ok}`]],
    ['two packets', ['HTTP/1.1 100\r\nx: y\r\n\r\n', ok]],
    ['single bytes', [...`HTTP/1.1 100 Continue\r\n\r\n${ok}`]],
    ['single bytes, twice', [...`HTTP/1.1 100 Continue\r\n\r\n`.repeat(2), ok]],
    ['single bytes, without a 100', [...ok]],
  ])('is accepted with a 200 after it, in %s', async (_, pieces) => {
    const connections = new Set<Socket>();
    await using server = await startRawServer((socket) => {
      connections.add(socket);
      void writeSlowly(socket, pieces);
    });
    const accepted = { errorClass: null, responseStatus: 200, responseBody: 'ok' };
    expect(await send(server.url)).toMatchObject(accepted);
    await nextTurn(); // The connection is free only after the response has ended.
    expect(await send(server.url)).toMatchObject(accepted);
    expect(server.requests).toHaveLength(2);
    expect(connections.size).toBe(1);
  });

  it('has its body kept where that looks like one', async () => {
    const responseBody = 'HTTP/1.1 100 Continue\r\n\r\n';
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${responseBody.length}\r\n\r\n`;
    await using server = await startRawServer(
      (socket) => void writeSlowly(socket, [head, responseBody]),
    );
    expect(await send(server.url)).toMatchObject({ responseStatus: 200, responseBody });
  });
});

describe('a receiver that breaks off', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['resets the connection', (socket) => socket.resetAndDestroy()],
    ['closes the connection', (socket) => socket.end()],
    ['ends within the first line', (socket) => socket.end('HTTP/1.1 20')],
    ['ends within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
  ])('fails the attempt, and gets no hidden second POST: it %s', async (_, behave) => {
    await using server = await startRawServer(behave);
    expect(await send(server.url)).toMatchObject({ errorClass: 'reset', responseStatus: null });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['right after the headers', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n', null],
    ['within the body', 'HTTP/1.1 202 OK\r\ncontent-length: 10\r\n\r\nabc', 'abc'],
    ['within a chunk', 'HTTP/1.1 201 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', 'ab'],
  ])('an end %s of a 2xx is accepted', async (_, text, responseBody) => {
    await using server = await startRawServer((socket) =>
      socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    );
    expect(await send(server.url)).toMatchObject({ errorClass: null, responseBody });
  });

  it('a receiver that does not listen fails with connect, and the error shows no address', async () => {
    const server = await startRawServer(() => {});
    await server[Symbol.asyncDispose]();
    const result = await send(server.url);
    expect(result).toMatchObject({ errorClass: 'connect', responseStatus: null });
    expect(result.error).not.toMatch(/127|::1|localhost/);
  });
});

describe('a receiver that sends too much', () => {
  it.each([
    [
      'The headers of the response are too large',
      `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
    ],
    ['The response is not valid HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ])('fails with protocol: %s', async (error, text) => {
    await using server = await startRawServer(responding(text));
    const nothing = { errorClass: 'protocol', error, responseStatus: null };
    expect(await send(server.url)).toMatchObject(nothing);
  });

  it('a response with a body of 10 KB is accepted: 4 KB are kept and marked as truncated', async () => {
    const text = `${'é'.repeat(100)}\0${'b'.repeat(10_000)}`;
    await using server = await startRawServer((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${text}`),
    );
    const result = await send(server.url);
    expect(result.responseTruncated).toBe(true);
    expect(result.responseBody).not.toContain('\0');
    expect(Buffer.byteLength(result.responseBody ?? '')).toBeLessThanOrEqual(4_096);
    expect(result.responseBody).toMatch(/^é{100}b+$/);
  });

  it('a response with a body of 1 GB is accepted after 64 KB, without much memory', async () => {
    const piece = Buffer.alloc(64 * 1024, 'a');
    let written = 0;
    await using server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1024 ** 3}\r\n\r\n`);
      const pour = () => {
        while (!socket.destroyed && socket.write(piece)) written += piece.length;
        if (!socket.destroyed) socket.once('drain', pour);
      };
      pour();
    });
    const before = process.memoryUsage().rss;
    const result = await send(server.url);
    expect(result).toMatchObject({
      errorClass: null,
      responseStatus: 200,
      responseTruncated: true,
    });
    await until('the connection is closed', () => server.open() === 0);
    // No more than the kernel's buffers of both sides hold.
    expect(written).toBeLessThan(64 * 1024 ** 2);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
  });

  it('a gzip bomb is accepted, and the body is never decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 ** 2));
    await using server = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n');
      socket.write(`content-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const before = process.memoryUsage().rss;
    const result = await send(server.url);
    expect(result).toMatchObject({
      errorClass: null,
      responseStatus: 200,
      responseTruncated: true,
      // The compressed bytes as text. Decompressed, all of them would be NUL.
      responseBody: bomb.subarray(0, 4_096).toString('utf8').replaceAll('\0', ''),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(25 * 1024 ** 2);
  });
});

it('rejects with the reason of the signal when the worker stops', async () => {
  await using server = await startRawServer(() => {});
  const stopping = new AbortController();
  const sent = send(server.url, { signal: stopping.signal });
  await until('the request is there', () => server.requests.length === 1);
  stopping.abort(new Error('the worker stops'));
  await expect(sent).rejects.toThrow('the worker stops');
});
