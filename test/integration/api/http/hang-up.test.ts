import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentError } from '../../../../contract/errors.ts';
import type { Handle } from '../../../support/http-application.ts';
import { serve } from '../../../support/http-application.ts';
import { rawConnection } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

/** Fails once its client is gone. */
const waiting =
  (reached: () => void, fail: () => unknown): Handle =>
  async (request) => {
    const signal = request.disconnectSignal();
    reached();
    await once(signal, 'abort');
    throw fail();
  };

const verify = 'POST /api/v1/payments/PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP/verify HTTP/1.1';
const create = 'POST /api/v1/payments HTTP/1.1';

/** A verify whose client hangs up while it waits, and which fails then. */
const hungUpVerify = async (fail: () => unknown) => {
  const reached = Promise.withResolvers<void>();
  const service = await serve({ verifyPayment: waiting(reached.resolve, fail) });
  const { socket } = await rawConnection(service.url);
  socket.write(`${verify}\r\nhost: x\r\ncontent-length: 0\r\n\r\n`);
  await reached.promise;
  socket.resetAndDestroy();
  return service;
};

describe('a client that hangs up before its answer', () => {
  it('499: broke off a wait, and nothing has failed', async () => {
    const { lines, ended, counted } = await hungUpVerify(
      () => new DOMException('This operation was aborted', 'AbortError'),
    );
    expect(await ended()).toMatchObject({ level: 'info', status: 499, method: 'POST' });
    expect(await counted()).toEqual([499]);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each<[string, Handle]>([
    ['while it was read', ({ readJson }) => readJson().then(() => ({ status: 201 }))],
    [
      'before it was read',
      async ({ readJson, disconnectSignal }) => {
        await once(disconnectSignal(), 'abort');
        return readJson().then(() => ({ status: 201 }));
      },
    ],
  ])('499: broke off its body %s', async (_, handle) => {
    const reached = Promise.withResolvers<void>();
    const { url, lines, ended, counted } = await serve({
      createPayment: (request) => {
        const answer = handle(request);
        reached.resolve();
        return answer;
      },
    });
    const { socket } = await rawConnection(url);
    const type = 'content-type: application/json';
    socket.write(`${create}\r\nhost: x\r\n${type}\r\ncontent-length: 100\r\n\r\n{"order_id"`);
    await reached.promise;
    socket.resetAndDestroy();
    expect(await ended()).toMatchObject({ level: 'info', status: 499 });
    expect(await counted()).toEqual([499]);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('500: hides no fault of ours, which is logged with its stack', async () => {
    const fault = new TypeError('x is undefined');
    const { lines, ended, counted } = await hungUpVerify(() => fault);
    expect(await ended()).toMatchObject({ status: 500 });
    expect(await counted()).toEqual([500]);
    expect(lines).toContainEqual({ level: 'error', msg: 'Failed unexpectedly', err: fault });
  });

  it('503: hides no part that is away, which is counted as if somebody had waited for it', async () => {
    const cause = new Error('14 UNAVAILABLE');
    const { lines, ended, counted } = await hungUpVerify(
      () => new PaymentError('SERVICE_UNAVAILABLE', 'Not now.', { cause }),
    );
    expect(await ended()).toMatchObject({ status: 503 });
    expect(await counted()).toEqual([503]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', err: cause }));
  });
});

describe('what goes wrong while an answer is sent', () => {
  /** The standard error of this process, where Koa would write by itself. */
  const standardError = () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    return written;
  };
  const get = 'GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n';

  it('is a line of the log where the client resets the connection', async () => {
    const written = standardError();
    const body = Buffer.alloc(64 << 20, ' ');
    const { url, lines, ended } = await serve({ getOpenApi: async () => ({ status: 200, body }) });
    const { socket } = await rawConnection(url);
    socket.write(get);
    await once(socket, 'data');
    socket.resetAndDestroy();
    const line = await until('it is logged', () =>
      lines.find(({ msg }) => msg === 'The client hung up'),
    );
    expect(line).toMatchObject({
      level: 'info',
      request_id: expect.stringMatching(/^req_/) as string,
      reason: expect.stringMatching(/ECONNRESET|EPIPE/) as string,
    });
    expect(await ended()).toMatchObject({ status: 200 });
    expect(written).not.toHaveBeenCalled();
  });

  it('is an error in the log where the fault is ours', async () => {
    const written = standardError();
    const body = 1n as unknown as string; // What no handler that compiles gives.
    const { url, lines } = await serve({ getOpenApi: async () => ({ status: 200, body }) });
    expect((await fetch(`${url}/api/v1/openapi.json`)).status).toBe(500);
    expect(lines).toContainEqual({
      level: 'error',
      msg: 'Failed while answering',
      request_id: expect.stringMatching(/^req_/) as string,
      err: expect.any(TypeError) as TypeError,
    });
    expect(written).not.toHaveBeenCalled();
  });
});
