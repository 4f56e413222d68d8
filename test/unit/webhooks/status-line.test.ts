import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { attemptDeadlineMs } from '../../../webhooks/request.ts';
import { attempt } from '../../support/attempt.ts';
import { startRawServer } from '../../support/raw-server.ts';
import { until } from '../../support/until.ts';

const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: attemptDeadlineMs });
afterAll(() => dispatcher.destroy());

const send = (url: string) => attempt(url, { dispatcher });

const ending = (socket: Socket, text: string) => socket.end(text);
const resetting = (socket: Socket, text: string) =>
  socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 50));
const dripping = async (socket: Socket, text: string) => {
  for (const byte of text) {
    socket.write(byte);
    await sleep(2);
  }
  socket.end();
};

// RFC 9112, section 8: only where the meaning of a status is in the headers, a cut answer says nothing.
it.each([
  ['right after its status line', 'HTTP/1.1 200 OK\r\n', 200],
  ['in the middle of its headers', 'HTTP/1.1 201 Created\r\ncontent-length: 10\r\nx-', 201],
  ['before its headers end', 'HTTP/1.0 204\r\nx: y\r\n', 204],
  [
    'after answers like 102',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 202 OK\r\n',
    202,
  ],
])('FS-29: %s: a 2xx is delivered', async (_, text, responseStatus) => {
  for (const breakOff of [ending, resetting]) {
    await using server = await startRawServer((socket) => breakOff(socket, text));
    const delivered = { errorClass: null, error: null, responseBody: null, responseStatus };
    expect(await send(server.url)).toMatchObject(delivered);
    expect(server.requests).toHaveLength(1);
  }
});

it.each([
  ['in one piece', ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok']],
  ['in two', ['HTTP/1.1 100\r\nx: y\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok']],
  [
    'byte by byte',
    [...'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'],
  ],
  ['without it, byte by byte', [...'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok']],
])('FS-29: a 2xx counts also after 100 Continue, %s', async (_, pieces) => {
  const write = async (socket: Socket) => {
    for (const piece of pieces) {
      socket.write(piece);
      await sleep(2);
    }
  };
  const connections = new Set<Socket>();
  await using server = await startRawServer((socket) => {
    connections.add(socket);
    void write(socket);
  });
  const delivered = { errorClass: null, responseStatus: 200, responseBody: 'ok' };
  expect(await send(server.url)).toMatchObject(delivered);
  await setImmediate(); // It is free only after the answer was heard.
  expect(await send(server.url)).toMatchObject(delivered);
  expect(server.requests).toHaveLength(2);
  expect(connections.size).toBe(1);
});

it.each([
  ['202 Accepted', { errorClass: null, responseStatus: 202 }],
  ['500 Oh', { errorClass: 'reset', responseStatus: null }],
])('FS-29: byte by byte, on a connection that was kept: %s', async (status, result) => {
  const body = 'HTTP/1.1 200 OK\r\n'.repeat(500);
  const whole = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const known = new Set<Socket>();
  await using server = await startRawServer((socket) => {
    if (known.has(socket)) return void dripping(socket, `HTTP/1.1 ${status}\r\nx: y`);
    known.add(socket);
    return void socket.write(whole);
  });
  const results = [await send(server.url), await send(server.url), await send(server.url)];
  expect(results).toContainEqual(expect.objectContaining(result));
  expect(known.size).toBeLessThan(3);
});

it.each([
  ['a 500 within its headers', 'HTTP/1.1 500 Oh\r\nx-', 'reset'],
  ['a 102 that nothing follows', 'HTTP/1.1 102 Processing\r\n\r\n', 'reset'],
  ['a line that is not whole', 'HTTP/1.1 200 OK', 'reset'],
  ['headers that are none', 'HTTP/1.1 200 OK\r\nno header\r\n', 'protocol'],
])('%s is a failed attempt', async (_, text, errorClass) => {
  for (const breakOff of [ending, resetting]) {
    await using server = await startRawServer((socket) => breakOff(socket, text));
    expect(await send(server.url)).toMatchObject({ errorClass, responseStatus: null });
    expect(server.requests).toHaveLength(1);
  }
});

/** As fast as it is read, and without end. */
const flooding = (start: string, more: string) => {
  const piece = more.repeat(Math.ceil((64 * 1024) / more.length));
  let written = 0;
  const behave = (socket: Socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(piece)) written += piece.length;
      if (!socket.destroyed) socket.once('drain', pour);
    };
    socket.write(start, pour);
  };
  return { behave, written: () => written };
};
/** More than what the kernel's buffers of both sides take. */
const muchBytes = 16 * 1024 ** 2;
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n';
const tooMuch = {
  errorClass: 'protocol',
  error: 'No status within the first 64 KB of the answer',
  responseStatus: null,
};
const received = { errorClass: null, responseStatus: 200, responseBody: 'ok' };

it.each([
  ['100s', '', 'HTTP/1.1 100 Continue\r\n\r\n', tooMuch],
  ['102s', '', 'HTTP/1.1 102 Processing\r\n\r\n', tooMuch],
  ['103s', '', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', tooMuch],
  ['a chunk whose size does not end', `${chunked}1;`, 'a', received],
  ['trailers', `${chunked}0\r\n`, 'x: y\r\n', received],
])('an answer of endless %s is given up after little of it', async (_, start, more, result) => {
  const endless = flooding(start, more);
  await using server = await startRawServer(endless.behave);
  expect(await send(server.url)).toMatchObject(result);
  await until('the connection is given up', () => server.open() === 0);
  expect(endless.written()).toBeLessThan(muchBytes);
  expect(server.requests).toHaveLength(1);
});

it('of a body no more than 64 KB are waited for', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n';
  await using server = await startRawServer((socket) => {
    socket.write(head + 'a'.repeat(64 * 1024));
  });
  const result = await attempt(server.url, { dispatcher, deadlineMs: 60_000 });
  expect(result).toMatchObject({ errorClass: null, responseStatus: 200, responseTruncated: true });
  expect(result.durationMs).toBeLessThan(30_000);
});

it('what was read of an answer is not counted to the next on the same connection', async () => {
  const body = 'a'.repeat(40 * 1024);
  const whole = `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  const connections = new Set<Socket>();
  await using server = await startRawServer((socket) => {
    connections.add(socket);
    socket.write(whole + body);
  });
  for (let nth = 0; nth < 4; nth += 1) {
    expect(await send(server.url)).toMatchObject({ errorClass: null, responseStatus: 200 });
    await setImmediate();
  }
  expect(connections.size).toBe(1);
});
