import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { attemptDeadlineMs } from '../../../webhooks/request.ts';
import { attempt } from '../../support/service/send-webhook.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';

const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: attemptDeadlineMs });
afterAll(() => dispatcher.destroy());

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
])('accepts a 200 after an unsolicited 100 Continue that comes in %s', async (_, pieces) => {
  const connections = new Set<Socket>();
  await using server = await startRawServer((socket) => {
    connections.add(socket);
    void writeSlowly(socket, pieces);
  });
  const accepted = { errorClass: null, responseStatus: 200, responseBody: 'ok' };
  expect(await attempt(server.url, { dispatcher })).toMatchObject(accepted);
  await setImmediate(); // The connection is free only after the response has ended.
  expect(await attempt(server.url, { dispatcher })).toMatchObject(accepted);
  expect(server.requests).toHaveLength(2);
  expect(connections.size).toBe(1);
});

it('keeps a body that looks like a 100 Continue', async () => {
  const body = 'HTTP/1.1 100 Continue\r\n\r\n';
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  await using server = await startRawServer((socket) => void writeSlowly(socket, [head, body]));
  expect(await attempt(server.url, { dispatcher })).toMatchObject({
    responseStatus: 200,
    responseBody: body,
  });
});

it('fails with a timeout if nothing but 100 Continue comes', async () => {
  await using server = await startRawServer((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), 20);
    socket.once('close', () => clearInterval(timer));
  });
  expect(await attempt(server.url, { dispatcher, deadlineMs: 500 })).toMatchObject({
    errorClass: 'timeout',
    responseStatus: null,
  });
});
