import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PaymentError } from '../../../../contract/errors.ts';
import { aCaller } from '../../../support/data/a-caller.ts';
import { serve, type Handle } from '../../../support/servers/http-application.ts';
import { rawConnection } from '../../../support/servers/raw-http.ts';
import { until } from '../../../support/until.ts';

/** A handler that waits until the client disconnects, and then throws. */
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

/** Serves a verify whose client disconnects while it waits. */
const disconnectedVerify = async (fail: () => unknown) => {
  const reached = Promise.withResolvers<void>();
  const service = await serve({ verifyPayment: waiting(reached.resolve, fail) });
  const { socket } = await rawConnection(service.url);
  socket.write(`${verify}\r\nhost: x\r\ncontent-length: 0\r\n\r\n`);
  await reached.promise;
  socket.resetAndDestroy();
  return service;
};

describe('a client that disconnects before its response', () => {
  it('is counted as 499, not as an error, when it ends a wait', async () => {
    const { lines, ended, counted } = await disconnectedVerify(
      () => new DOMException('This operation was aborted', 'AbortError'),
    );
    expect(await ended()).toMatchObject({ level: 'info', status: 499, method: 'POST' });
    expect(await counted()).toEqual([499]);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each<[string, Handle]>([
    ['while it is read', ({ readJson }) => readJson().then(() => ({ status: 201 }))],
    [
      'before it is read',
      async ({ readJson, disconnectSignal }) => {
        await once(disconnectSignal(), 'abort');
        return readJson().then(() => ({ status: 201 }));
      },
    ],
  ])('is counted as 499 when it cuts its body %s', async (_, handle) => {
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

  const fault = new TypeError('x is undefined');
  const cause = new Error('14 UNAVAILABLE');
  it.each([
    ['an unexpected error', 500, fault, { msg: 'Request failed unexpectedly', err: fault }],
    [
      'an unavailable dependency',
      503,
      new PaymentError('SERVICE_UNAVAILABLE', 'Not now.', { cause }),
      { err: cause },
    ],
  ])('does not hide %s, which is logged and counted as %i', async (_, status, thrown, line) => {
    const { lines, ended, counted } = await disconnectedVerify(() => thrown);
    expect(await ended()).toMatchObject({ status });
    expect(await counted()).toEqual([status]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'error', ...line }));
  });
});

it('the log line of a refused request has its error code, and that of another has none', async () => {
  const refused: Handle = async ({ refuse }) => {
    throw refuse('VALIDATION_FAILED');
  };
  const pages: Record<string, Handle> = {
    createPayment: refused,
    checkout: async ({ refuse }) => {
      throw refuse('PAYMENT_NOT_FOUND');
    },
    getPayment: async () => {
      throw new TypeError('x is undefined');
    },
    showDocs: async () => ({ status: 200, body: 'a page' }),
  };
  const { url, lines } = await serve(pages);
  const id = 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP';
  await fetch(`${url}/api/v1/payments`, { method: 'POST' });
  await fetch(`${url}/api/v1/payments/${id}/checkout`);
  await fetch(`${url}/api/v1/payments/${id}`);
  await fetch(`${url}/api/v1/nowhere`);
  await fetch(`${url}/api/v1/docs`);
  const requests = await until('all are logged', () => {
    const found = lines.filter(({ msg }) => msg === 'Request');
    return found.length === 5 && found;
  });
  expect(requests.map(({ status, code }) => [status, code])).toEqual([
    [422, 'VALIDATION_FAILED'],
    [404, 'PAYMENT_NOT_FOUND'],
    [500, 'INTERNAL'],
    [404, 'NOT_FOUND'],
    [200, undefined],
  ]);
});

it.each([
  ['of an unknown path', 'GET /nowhere HTTP/1.1', 404],
  ['with another method', 'POST /api/v1/docs HTTP/1.1', 405],
  ['of a payment, with another method', `DELETE ${verify.slice(5)}`, 405],
  ['of a path that is not readable', 'GET http://[ HTTP/1.1', 404],
  ['of a public page', 'GET /api/v1/docs HTTP/1.1', 200],
])(
  'requests that need no token %s are all answered and counted, and 20 of a minute are logged',
  async (_, line, status) => {
    const showDocs: Handle = async () => ({ status: 200, body: 'a page' });
    const { url, lines, counted } = await serve({ showDocs }, { requestsMax: 100 });
    const { socket, closed } = await rawConnection(url);
    for (let nth = 1; nth <= 60; nth += 1)
      socket.write(
        `${line}\r\nhost: x\r\n${nth === 60 ? 'connection: close\r\n' : ''}content-length: 0\r\n\r\n`,
      );
    const answers = (await closed).matchAll(/HTTP\/1\.1 (\d+)/g);
    expect([...answers].map(([, code]) => Number(code))).toEqual(Array(60).fill(status));
    expect(lines.filter(({ msg }) => msg === 'Request')).toHaveLength(20);
    expect(lines.filter(({ msg }) => msg !== 'Request')).toMatchObject([
      { level: 'info', msg: expect.stringContaining('not logged again in this minute') },
    ]);
    expect(await counted()).toEqual([status]);
  },
);

describe('an error while a response is sent', () => {
  /** Spies on the standard error of this process, where Koa would write. */
  const standardError = () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    return written;
  };
  const get = 'GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n';

  it('is logged as a disconnect when the client resets the connection', async () => {
    const written = standardError();
    const body = Buffer.alloc(64 << 20, ' ');
    const { url, lines, ended } = await serve({ getOpenApi: async () => ({ status: 200, body }) });
    const { socket } = await rawConnection(url);
    socket.write(get);
    await once(socket, 'data');
    socket.resetAndDestroy();
    const line = await until('it is logged', () =>
      lines.find(({ msg }) => msg === 'The client disconnected'),
    );
    expect(line).toMatchObject({
      level: 'info',
      request_id: expect.stringMatching(/^req_/) as string,
      reason: expect.stringMatching(/ECONNRESET|EPIPE/) as string,
    });
    expect(await ended()).toMatchObject({ status: 200 });
    expect(written).not.toHaveBeenCalled();
  });

  it('is logged as an error when the handler caused it', async () => {
    const written = standardError();
    const body = 1n as unknown as string; // No handler that compiles returns this.
    const { url, lines } = await serve({ getOpenApi: async () => ({ status: 200, body }) });
    expect((await fetch(`${url}/api/v1/openapi.json`)).status).toBe(500);
    expect(lines).toContainEqual({
      level: 'error',
      msg: 'Could not send the response',
      request_id: expect.stringMatching(/^req_/) as string,
      err: expect.any(TypeError) as TypeError,
    });
    expect(written).not.toHaveBeenCalled();
  });
});

it.each([
  [500, new TypeError('x is undefined')],
  [503, new PaymentError('SERVICE_UNAVAILABLE', 'Try again later.')],
])('includes the budget headers in a response with %i', async (status, error) => {
  const caller = aCaller(7);
  const { url } = await serve(
    { getApplication: () => Promise.reject(error) },
    {
      authenticate: async ({ onBudget }) => {
        onBudget(caller.budget);
        return caller;
      },
    },
  );
  const answer = await fetch(`${url}/api/v1/me`);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-ratelimit-limit')).toBe('120');
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('113');
});
