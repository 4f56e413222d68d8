import { expect, it, vi } from 'vitest';
import { Payments, type RequestFacts, type ResponseFacts } from '../../../client/src/index.ts';
import {
  aClient,
  aPayment,
  application,
  breakOff,
  failure,
  json,
  requestId,
  token,
} from '../../support/client/scripted-server.ts';

const baseUrl = 'http://127.0.0.1:9';

it.each([
  { timeoutMs: Number.NaN },
  { timeoutMs: 0 },
  { maxRetries: Number.NaN },
  { maxRetries: -1 },
  { maxRetries: 1.5 },
])('refuses %j, of the client and of a call', async (options) => {
  expect(() => new Payments({ token, baseUrl, ...options })).toThrow(/timeoutMs|maxRetries/);
  const client = new Payments({ token, baseUrl });
  await expect(client.me(options)).rejects.toThrow(/timeoutMs|maxRetries/);
});

it('tells its hooks of every try, without the token and the body', async () => {
  const seen: (RequestFacts | ResponseFacts)[] = [];
  const hooks = {
    onRequest: (facts: RequestFacts) => void seen.push(facts),
    onResponse: (facts: ResponseFacts) => void seen.push(facts),
  };
  const { client, url } = await aClient(
    [breakOff, failure(500, 'INTERNAL'), json(201, aPayment('PAY_1'))],
    hooks,
  );
  const order = { order_id: 'hidden-order', amount: 1, currency: 'EUR' } as const;
  await client.payments.create(order, { idempotencyKey: 'key-1' });
  const request = { method: 'POST', url: `${url}/api/v1/payments`, idempotencyKey: 'key-1' };
  expect(seen).toEqual([
    { ...request, attempt: 1 },
    {
      ...request,
      attempt: 1,
      status: undefined,
      requestId: undefined,
      durationMs: expect.any(Number),
    },
    { ...request, attempt: 2 },
    { ...request, attempt: 2, status: 500, requestId, durationMs: expect.any(Number) },
    { ...request, attempt: 3 },
    { ...request, attempt: 3, status: 201, requestId: undefined, durationMs: expect.any(Number) },
  ]);
  expect(JSON.stringify(seen)).not.toMatch(/svc_test|hidden-order/);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('of the hook');
    },
  ],
  ['rejects', () => Promise.reject(new Error('of the hook')) as unknown as undefined],
])('creates one payment when a hook %s, and says so', async (_name, hook) => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { client, seen } = await aClient([json(201, aPayment('PAY_1'))], {
    onRequest: hook,
    onResponse: hook,
  });
  const order = { order_id: 'o', amount: 1, currency: 'EUR' } as const;
  expect((await client.payments.create(order)).payment_id).toBe('PAY_1');
  expect(seen).toHaveLength(1);
  await vi.waitFor(() => expect(said).toHaveBeenCalledTimes(2));
  said.mockRestore();
});

it('calls a given fetch as a function, which those of browsers and workers need', async () => {
  const receivers: unknown[] = [];
  const { client } = await aClient([json(200, application)], {
    async fetch(this: unknown, ...request: Parameters<typeof fetch>) {
      receivers.push(this);
      return fetch(...request);
    },
  });
  await client.me();
  expect(receivers).toEqual([undefined]);
});

it('gives up an answer that is larger than any of the service', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  const { client } = await aClient(
    [
      (response) => {
        const more = () => {
          while (sent < 200 && !response.destroyed) {
            sent += 1;
            if (!response.write(piece)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      },
    ],
    { maxRetries: 0 },
  );
  await expect(client.me()).rejects.toThrow('too large');
  expect(sent).toBeLessThan(100);
});

it('shows a message of the service on one line of limited length', async () => {
  const message = `first\r\nsecond\u001b[2J\u202e${'x'.repeat(2_000)}`;
  const { client } = await aClient([json(400, { error: { code: 'MALFORMED_REQUEST', message } })]);
  const error: unknown = await client.me().catch((thrown: unknown) => thrown);
  expect((error as Error).message).toMatch(
    /^GET \/me was answered with 400 MALFORMED_REQUEST: first second \[2J x+$/,
  );
  expect((error as Error).message.length).toBeLessThan(600);
});

it.each([
  ['https://pay.example/?', ''],
  ['https://pay.example/#', ''],
  ['https://pay.example///', ''],
  ['https://pay.example/proxy/', '/proxy'],
])('takes %s as the address without what follows its path', async (address, path) => {
  const urls: string[] = [];
  const answer = async (url: unknown) => {
    urls.push(String(url));
    return Response.json(application);
  };
  await new Payments({ token, baseUrl: address, fetch: answer }).me();
  expect(urls).toEqual([`https://pay.example${path}/api/v1/me`]);
});
