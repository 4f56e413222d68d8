import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../contract/limits.ts';
import { serve, type Handle } from '../../../support/servers/http-application.ts';
import { createHead, rawConnection } from '../../../support/servers/raw-http.ts';
import { until } from '../../../support/until.ts';

const created: Handle = async ({ readJson }) => {
  await readJson();
  return { status: 201, body: '{}' };
};
const ok: Handle = async () => ({ status: 200, body: '{}' });

const head = (...lines: string[]) => `${[...lines, 'host: x'].join('\r\n')}\r\n`;
const me = `${head('GET /api/v1/me HTTP/1.1')}\r\n`;

/** Sends `text` on a new connection. @returns everything received until the server closes it */
const responseTo = async (url: string, text: string): Promise<string> => {
  const { socket, closed } = await rawConnection(url);
  socket.write(text);
  return closed;
};

const tooLarge = /^HTTP\/1\.1 431 [^]*x-request-id: [^]*\r\n\r\n$/i;
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

it('a sender that does not finish its request gets 408 after 10 s for a head and 30 s for a body, even if it keeps sending', async () => {
  const { url, server } = await serve({ createPayment: created });
  expect([server.headersTimeout, server.requestTimeout]).toEqual([
    limits.requestHeadSeconds * 1000,
    limits.requestSeconds * 1000,
  ]);
  Object.assign(server, { headersTimeout: 500, requestTimeout: 1_500 });
  const slow = async (seconds: number, first: string, next: (piece: number) => string) => {
    const { socket, closed } = await rawConnection(url);
    const startedAt = performance.now();
    socket.write(first);
    let piece = 0;
    const sending = setInterval(() => socket.write(next((piece += 1))), 200);
    const response = await closed;
    clearInterval(sending);
    const tookSeconds = (performance.now() - startedAt) / 1000;
    expect(response).toMatch(/^HTTP\/1\.1 408 [^]*\r\n\r\n$/);
    expect(tookSeconds).toBeGreaterThan(seconds - 0.1);
    expect(tookSeconds).toBeLessThan(seconds + 30);
  };
  await Promise.all([
    slow(0.5, 'GET /api/v1/me HTTP/1.1\r\n', (piece) => `x-slow-${piece}: 1\r\n`),
    slow(0.5, '', () => ''),
    slow(1.5, `${createHead('token', 60_000)}{`, () => ' '),
  ]);
});

it('a request head over 16 KB gets 431 without a body, and no line in the log', async () => {
  const { url, lines } = await serve({});
  const ofSize = (kb: number) => {
    const start = head('GET /nowhere HTTP/1.1', 'connection: close');
    return `${`${start}x-long: `.padEnd(kb * 1024 - 4, 'a')}\r\n\r\n`;
  };
  expect(await responseTo(url, ofSize(limits.requestHeadKb - 1))).toMatch(/^HTTP\/1\.1 404 /);
  expect(lines).toHaveLength(1);
  expect(await responseTo(url, ofSize(limits.requestHeadKb + 1))).toMatch(tooLarge);
  expect(lines).toHaveLength(1);
});

it('a request head over 100 lines gets 431 whatever Node does with the further lines', async () => {
  const { url, server, lines } = await serve({});
  const address = 'x-forwarded-for: 192.0.2.7';
  const ofLines = (count: number) => {
    const more = Array.from({ length: count - 4 }, (_, index) => `x-${index}: 1`);
    return `${head('POST /nowhere HTTP/1.1', 'connection: close', ...more, address, 'content-length: 5')}\r\nhello`;
  };
  // With 0, Node itself counts nothing.
  for (const maxHeadersCount of [0, server.maxHeadersCount]) {
    server.maxHeadersCount = maxHeadersCount;
    expect(await responseTo(url, ofLines(limits.requestHeaders))).toMatch(/^HTTP\/1\.1 404 /);
    for (const count of [limits.requestHeaders + 1, 900])
      expect(await responseTo(url, ofLines(count))).toMatch(tooLarge);
  }
  expect(lines).toHaveLength(2);
});

describe('malformed HTTP', () => {
  it.each([
    ['without a host', 'GET /nowhere HTTP/1.1\r\n\r\n'],
    ['with an invalid header', 'GET / HTTP/1.1\r\nbad header\r\n\r\n'],
    ['of another version', 'GET / HTTP/3.7\r\nhost: x\r\n\r\n'],
    ['of one word', 'hello\r\n\r\n'],
    ['of half a request line', 'BREW /\r\n\r\n'],
    ['of JSON', '{"order_id":"o-1"}\r\n'],
    ['of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ])('%s gets 400 with a request id and without a body, and is closed', async (_, request) => {
    const { url } = await serve({});
    const response = await responseTo(url, request);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/\r\nx-request-id: req_/i);
    expect(response).toMatch(/\r\n\r\n$/);
  });

  it.each(['BREW', 'get', 'CONNECT'])('gets 405 for the method %s', async (method) => {
    const { url } = await serve({});
    const target = method === 'CONNECT' ? '127.0.0.1:9' : '/api/v1/payments';
    const response = await responseTo(url, `${head(`${method} ${target} HTTP/1.1`)}\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 405 /);
    expect(response).toMatch(/\r\nallow: GET, HEAD, POST\r\n/i);
    expect(response).toMatch(/\r\nx-request-id: req_/i);
    expect(response).toContain('"code":"METHOD_NOT_ALLOWED"');
  });

  it('does not end the process when the client of a CONNECT resets the connection', async () => {
    const { url } = await serve({ getApplication: ok });
    for (let turn = 0; turn < 50; turn += 1) {
      const { socket, closed } = await rawConnection(url);
      socket.write('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n', () => socket.resetAndDestroy());
      await closed;
    }
    expect((await fetch(`${url}/api/v1/me`)).status).toBe(200);
  });

  it.each([
    ['a stray byte', 'x'],
    ['an unknown method', 'BREW / HTTP/1.1\r\n\r\n'],
    ['an invalid head', 'GET / HTTP/1.1\r\nbad header\r\n\r\n'],
  ])('behind a whole request does not replace its response: %s', async (_, behind) => {
    const { url } = await serve({ createPayment: created });
    const response = await responseTo(url, `${createHead('token', 2)}{}${behind}`);
    expect(response).toMatch(/^HTTP\/1\.1 201 /);
    expect(response).toMatch(/\r\nconnection: close\r\n/i);
    expect(statuses(response)).toEqual([201]);
  });

  it('behind several requests does not replace their responses', async () => {
    const { url } = await serve({ getApplication: ok });
    expect(statuses(await responseTo(url, `${me}${me}nonsense`))).toEqual([200, 200]);
  });
});

it('a request with an unknown Expect header is served', async () => {
  const { url } = await serve({});
  const request = head('GET /nowhere HTTP/1.1', 'expect: wonders', 'connection: close');
  const response = await responseTo(url, `${request}\r\n`);
  expect(response).toMatch(/^HTTP\/1\.1 404 /);
  expect(response).toMatch(/\r\nx-request-id: req_/i);
});

describe('connections', () => {
  it('are limited to 5,000, and a refused one is logged once a minute', async () => {
    const { url, server, lines } = await serve({});
    expect(server.maxConnections).toBe(5_000);
    server.maxConnections = 2;
    await rawConnection(url);
    await rawConnection(url);
    for (let turn = 0; turn < 3; turn += 1)
      expect(await (await rawConnection(url)).closed).toBe('');
    expect(lines).toEqual([
      { level: 'error', msg: expect.stringContaining('Refusing new connections') as string },
    ]);
  });

  it('are kept open between requests for longer than proxies keep theirs', async () => {
    const { url } = await serve({ getApplication: ok });
    const { socket } = await rawConnection(url);
    socket.write(me);
    expect(String(await once(socket, 'data'))).toMatch(/\r\nkeep-alive: timeout=75\r\n/i);
  });

  it('are closed when the client does not read its response', async () => {
    const body = Buffer.alloc(50 << 20, ' ');
    const { url, server } = await serve({ showDocs: async () => ({ status: 200, body }) });
    expect(server.timeout).toBe(limits.responseIdleSeconds * 1000);
    server.timeout = 500;
    const { socket, closed } = await rawConnection(url);
    socket.write(`${head('GET /api/v1/docs HTTP/1.1')}\r\n`);
    await once(socket, 'data');
    socket.pause();
    const connections = promisify(server.getConnections.bind(server));
    await until('the connection is closed', async () => (await connections()) === 0);
    socket.resume();
    // Either end may report it; what was received is incomplete.
    expect((await closed.catch(() => '')).length).toBeLessThan(body.length);
  });
});
