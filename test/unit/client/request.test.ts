import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  ApiError,
  ConnectionError,
  Payments,
  PaymentsError,
  TimeoutError,
} from '../../../client/src/index.ts';
import {
  aClient,
  aPage,
  breakOff,
  failure,
  halfOf,
  hang,
  json,
  requestId,
  token,
} from '../../support/client/scripted-server.ts';
import { listenOnLoopback } from '../../support/servers/listen.ts';

const order = { order_id: 'order-1', amount: 1250, currency: 'EUR' } as const;
const payment = { payment_id: 'PAY_1', ...order, status: 'pending' };
const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a request', () => {
  it('has the token, the version of client and contract, and the body', async () => {
    const { client, seen } = await aClient([json(201, payment)], { userAgent: 'shop/7' });
    expect(await client.payments.create(order, { idempotencyKey: 'order-1-try-1' })).toEqual(
      payment,
    );
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/api/v1/payments',
        body: JSON.stringify(order),
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'order-1-try-1',
          'user-agent': expect.stringMatching(
            /^payments-client\/\d+\.\d+\.\d+ contract\/\d+\.\d+\.\d+ node\/\S+ shop\/7$/,
          ),
        },
      },
    ]);
  });

  it('has a made key when a create comes without one', async () => {
    const { client, seen } = await aClient([json(201, payment)]);
    await client.payments.create(order);
    await client.payments.create(order);
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
  });

  it('leaves out filters that are undefined', async () => {
    const { client, seen } = await aClient([json(200, aPage([], null))]);
    await client.payments.list({ order_id: 'a b&c', per_page: 2 }).page();
    await client.events.list({}).page();
    expect(seen.map(({ url }) => url)).toEqual([
      '/api/v1/payments?order_id=a+b%26c&per_page=2',
      '/api/v1/events',
    ]);
  });

  it.each(['', '.', '..', 'PAY_\ud800', undefined as never])(
    'is not sent for the id %j',
    async (id) => {
      const { client, seen } = await aClient([json(200, payment)]);
      expect(await errorOf(client.payments.get(id))).toBeInstanceOf(PaymentsError);
      expect(seen).toEqual([]);
    },
  );

  it('keeps an id within its part of the path', async () => {
    const { client, seen } = await aClient([json(200, payment)]);
    await client.payments.get('../events?a=1');
    expect(seen[0]?.url).toBe('/api/v1/payments/..%2Fevents%3Fa%3D1');
  });

  it.each(['', 'naïve', 'a\nb', 'k'.repeat(256), {} as never])(
    'is not sent with the key %j',
    async (key) => {
      const { client, seen } = await aClient([json(201, payment)]);
      const error = await errorOf(client.payments.create(order, { idempotencyKey: key }));
      expect(error).toMatchObject({ message: expect.stringContaining('printable ASCII') });
      expect(seen).toEqual([]);
    },
  );
});

describe('withResponse', () => {
  it('has status, headers, request id, replay and the text with its number literals', async () => {
    const text = '{"payment_id":"PAY_1","status":"pending","metadata":{"n":12345678901234567890}}';
    const { client } = await aClient([
      (response) =>
        response
          .writeHead(201, { 'idempotent-replayed': 'true', 'x-request-id': requestId })
          .end(text),
    ]);
    const answer = await client.payments.create(order).withResponse();
    expect(answer).toMatchObject({ status: 201, replayed: true, requestId, text });
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect(answer.data.payment_id).toBe('PAY_1');
  });

  it('leaves no unhandled rejection behind when the call fails', async () => {
    const { client } = await aClient([failure(422, 'VALIDATION_FAILED')]);
    await expect(client.payments.create(order).withResponse()).rejects.toBeInstanceOf(ApiError);
    await expect(client.payments.create(order).finally(() => {})).rejects.toBeInstanceOf(ApiError);
  });
});

/** The rows of the table in client/README.md. */
describe('another try', () => {
  const unclear = [
    ['a connection that breaks', breakOff],
    ['half a body', halfOf(JSON.stringify(payment))],
    [
      'a success that is not JSON',
      (response: ServerResponse) => response.writeHead(200).end('<html>'),
    ],
    ['500', failure(500, 'INTERNAL')],
    ['503', failure(503, 'SERVICE_UNAVAILABLE')],
    ['503 with a short Retry-After', failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['429 with a short Retry-After', failure(429, 'RATE_LIMITED', { 'retry-after': '0' })],
    ['502 of a proxy', (response: ServerResponse) => response.writeHead(502).end('<html>')],
  ] as const;
  const calls = {
    get: (client: Payments) => client.payments.get('PAY_1'),
    create: (client: Payments) => client.payments.create(order),
    verify: (client: Payments) => client.payments.verify('PAY_1'),
  };

  it.each(
    unclear.flatMap(([name, reply]) =>
      Object.entries(calls).map(([call, run]) => ({ name, reply, call, run })),
    ),
  )('follows $name in $call, with the same bytes and key', async ({ reply, run }) => {
    const { client, seen } = await aClient([reply, json(200, payment)]);
    expect(await run(client)).toEqual(payment);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
  });

  it.each([
    ['400', failure(400, 'MALFORMED_JSON')],
    ['404', failure(404, 'PAYMENT_NOT_FOUND')],
    ['409', failure(409, 'REPLAY_NOT_POSSIBLE')],
    ['422', failure(422, 'VALIDATION_FAILED')],
    ['429 without Retry-After', failure(429, 'RATE_LIMITED')],
    ['429 with a long Retry-After', failure(429, 'RATE_LIMITED', { 'retry-after': '6' })],
    ['502 GATEWAY_UNAVAILABLE', failure(502, 'GATEWAY_UNAVAILABLE')],
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { location: '/elsewhere' }).end(),
    ],
  ] as const)('does not follow %s', async (_name, reply) => {
    for (const run of Object.values(calls)) {
      const { client, seen } = await aClient([reply, json(200, payment)]);
      expect(await errorOf(run(client))).toBeInstanceOf(ApiError);
      expect(seen).toHaveLength(1);
    }
  });

  it('is made twice at most, and not at all with maxRetries 0', async () => {
    const always = [failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })];
    const { client, seen } = await aClient(always);
    expect(await errorOf(client.me())).toMatchObject({ status: 503 });
    expect(seen).toHaveLength(3);
    const once = await aClient(always, { maxRetries: 0 });
    expect(await errorOf(once.client.me())).toMatchObject({ status: 503 });
    expect(await errorOf(once.client.me({ maxRetries: 1 }))).toMatchObject({ status: 503 });
    expect(once.seen).toHaveLength(3);
  });

  it('does not follow a call that could have a second effect', async () => {
    const { client, seen } = await aClient([breakOff]);
    expect(await errorOf(client.webhook.test())).toBeInstanceOf(ConnectionError);
    const days = { from: '2026-11-17', to: '2026-11-18' };
    expect(await errorOf(client.replays.create(days))).toBeInstanceOf(ConnectionError);
    expect(seen).toHaveLength(2);
  });
});

describe('the deadline', () => {
  it('is for each try, and covers the body', async () => {
    const { client, seen } = await aClient(
      [(response) => response.writeHead(200, { 'content-length': 10 }).write('{"a"')],
      { timeoutMs: 1_000, maxRetries: 1 },
    );
    const error = await errorOf(client.payments.create(order, { idempotencyKey: 'key-1' }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      message: 'POST /payments took longer than 1000 ms.',
      retryable: true,
      idempotencyKey: 'key-1',
    });
    expect(seen).toHaveLength(2);
  });

  it("the caller's signal ends all tries, also between two of them", async () => {
    const controller = new AbortController();
    const { client, seen } = await aClient(
      [failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '5' })],
      // The wait begins when the hook is done.
      { onResponse: () => void setTimeout(() => controller.abort()) },
    );
    const error = await errorOf(client.me({ signal: controller.signal }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: 'GET /me was aborted by its caller.' });
    expect(seen).toHaveLength(1);
  });

  it('can be switched off', async () => {
    const { client } = await aClient([json(200, payment)], { timeoutMs: Infinity, maxRetries: 0 });
    expect(await client.payments.get('PAY_1')).toEqual(payment);
  });

  it('a signal that is over sends nothing', async () => {
    const { client, seen } = await aClient([json(200, {})]);
    expect(await errorOf(client.me({ signal: AbortSignal.abort() }))).toBeInstanceOf(
      ConnectionError,
    );
    expect(seen).toEqual([]);
  });
});

describe('an error', () => {
  it('has code, status, request id, details and whether trying again makes sense', async () => {
    const details = { fields: [{ path: 'amount', rule: 'too_small', message: 'must be ≥ 1' }] };
    const body = { error: { code: 'VALIDATION_FAILED', message: 'Not valid.', details } };
    const { client } = await aClient([json(422, body, { 'x-request-id': requestId })]);
    const error = await errorOf(client.payments.create(order, { idempotencyKey: 'key-1' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      name: 'ApiError',
      message:
        'POST /payments was answered with 422 VALIDATION_FAILED: Not valid. (amount: must be ≥ 1)',
      code: 'VALIDATION_FAILED',
      status: 422,
      requestId,
      details,
      retryable: false,
      idempotencyKey: 'key-1',
    });
  });

  it.each([
    [429, 'RATE_LIMITED', true],
    [500, 'INTERNAL', true],
    [502, 'GATEWAY_UNAVAILABLE', true],
    [503, 'SERVICE_UNAVAILABLE', true],
    [404, 'PAYMENT_NOT_FOUND', false],
  ])(
    'an error with %i %s says that trying again makes sense: %s',
    async (status, code, retryable) => {
      const { client } = await aClient([failure(status, code)], { maxRetries: 0 });
      expect(await errorOf(client.me())).toMatchObject({ status, code, retryable });
    },
  );

  it('says when to come back after a used-up minute, told as seconds or as a date', async () => {
    const secondsOf = async (retryAfter: string) => {
      const used = failure(429, 'RATE_LIMITED', { 'retry-after': retryAfter });
      const { client } = await aClient([used]);
      return ((await errorOf(client.me())) as ApiError).retryAfterSeconds;
    };
    expect(await secondsOf('42')).toBe(42);
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    expect(await secondsOf(inAnHour)).toBeGreaterThan(3_000);
  });

  it('names the likely mistake when the answer is not from the service', async () => {
    const { client } = await aClient([
      (response) => response.writeHead(404).end('<html>secret</html>'),
    ]);
    expect(await errorOf(client.me())).toMatchObject({
      code: 'UNEXPECTED_RESPONSE',
      message: expect.stringMatching(/^GET \/me was answered with 404 .* Is baseUrl right\?/),
    });
  });

  it.each([{}, [], { error: { code: 'INTERNAL' } }, { payment_id: null, status: 'paid' }])(
    'is a success with %j: it is no payment, and the create may be told again',
    async (body) => {
      const { client, seen } = await aClient([json(200, body)], { maxRetries: 0 });
      const error = await errorOf(client.payments.create(order, { idempotencyKey: 'key-1' }));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ retryable: true, idempotencyKey: 'key-1' });
      expect(seen).toHaveLength(1);
    },
  );

  it.each([{}, { data: {} }, { data: [null], pagination: { has_more: false } }, { data: [] }])(
    'is a success with %j: it is no page',
    async (body) => {
      const { client } = await aClient([json(200, body)], { maxRetries: 0 });
      expect(await errorOf(client.payments.list().page())).toBeInstanceOf(ConnectionError);
    },
  );

  it.each([
    { error: { code: 'VALIDATION_FAILED', message: 'm', details: { fields: {} } } },
    { error: { code: 'VALIDATION_FAILED', message: 'm', details: { fields: [null] } } },
    { error: { code: 'VALIDATION_FAILED', message: 'm', details: 'x' } },
    { error: { code: 7, message: 8, details: null } },
    { error: 'x' },
    { error: null },
    [],
  ])('is one of the package, whatever its body is: %j', async (body) => {
    const { client } = await aClient([json(422, body)]);
    expect(await errorOf(client.payments.create(order))).toBeInstanceOf(ApiError);
  });

  it('says that the service may be older when it does not have the path', async () => {
    const { client } = await aClient([failure(404, 'NOT_FOUND')]);
    expect(await errorOf(client.me())).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('older than this client'),
    });
  });

  it('names the reason when nobody listens', async () => {
    const server = createServer();
    const port = await listenOnLoopback(server);
    await new Promise((resolve) => server.close(resolve));
    const baseUrl = `http://127.0.0.1:${port}`;
    const client = new Payments({ token, baseUrl, maxRetries: 0 });
    const error = await errorOf(client.me());
    expect(error).toMatchObject({
      message: `GET /me got no complete answer from ${baseUrl} (ECONNREFUSED).`,
    });
  });

  it('shows neither the token nor the body', async () => {
    const secretOrder = { ...order, description: 'a private word' };
    for (const reply of [failure(422, 'VALIDATION_FAILED'), breakOff, hang]) {
      const { client } = await aClient([reply], { maxRetries: 0, timeoutMs: 100 });
      const error = await errorOf(client.payments.create(secretOrder));
      const shown = inspect([error, client], { depth: 20, showHidden: true });
      expect(shown).not.toContain(token);
      expect(shown).not.toContain('private word');
    }
  });
});

describe('the settings', () => {
  it('are an address of HTTPS, or of HTTP on this machine', () => {
    const isTaken = (baseUrl: string) => {
      try {
        return new Payments({ token, baseUrl }).mode === 'test';
      } catch (error) {
        expect(String(error)).toContain('baseUrl');
        return false;
      }
    };
    const own = ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000'];
    const others = ['http://pay.example', 'http://pay.localhost', 'ftp://pay.example', ''];
    const odd = ['pay.example', 'https://u:p@pay.example', 'https://pay.example?a=1'];
    const taken = [...own, ...others, ...odd, 'https://pay.example/a/'].filter(isTaken);
    expect(taken).toEqual([...own, 'https://pay.example/a/']);
  });

  it.each(['', 'none', `${token}\n`, 'svc_other_abc'])('are refused with the token %j', (wrong) => {
    let thrown: unknown;
    try {
      void new Payments({ token: wrong, baseUrl: 'https://pay.example' });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ message: expect.stringContaining('svc_live_…') });
    if (wrong.length > 5) expect(inspect(thrown)).not.toContain(wrong.trim());
  });

  it('are refused in a browser unless the program insists', () => {
    const page = globalThis as { window?: unknown };
    page.window = { document: {} };
    try {
      const options = { token, baseUrl: 'https://pay.example' };
      expect(() => new Payments(options)).toThrow('browser');
      expect(new Payments({ ...options, dangerouslyAllowBrowser: true }).mode).toBe('test');
    } finally {
      delete page.window;
    }
  });
});
