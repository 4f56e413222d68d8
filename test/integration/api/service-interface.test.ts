import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../postgres/applications.ts';
import { createTokens } from '../../../postgres/tokens.ts';
import {
  endInEveryWay,
  kinds,
  outcomes,
  type Kind,
  type Outcome,
} from '../../support/service/every-outcome.ts';
import { createJourney, type Answer } from '../../support/service/journey.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';

// The tables of the service interface, row by row; they are binding to the letter.

const metadata = { seat: '12A', '1': [1, { deep: null }] };
const service = await forFile(useService());
const { application, journey } = await service.anApplication();
const ended = await endInEveryWay(service, journey, { metadata });

const errorOf = ({ json }: Answer) =>
  json['error'] as { code: string; details?: { retry_after?: number } };

it.each([
  ['application slug', 'application'],
  ['application status', 'status'],
  ['default gateway, and its kind', 'default_gateway'],
  ['registered callback URLs', 'callback_urls'],
  ['webhook URL', 'webhook_url'],
  ['token mode', 'token_mode'],
])('the identity endpoint returns only %s', async (_, field) => {
  const { json } = await journey.request('GET', '/api/v1/me');
  expect(json).toHaveProperty(field);
  expect(Object.keys(json)).toHaveLength(6);
});

describe('a payment has', () => {
  it.each<[field: string, kind: Kind, note?: (value: unknown, outcome: Outcome) => void]>([
    ['payment_id', 'string', (value) => expect(value).toMatch(/^PAY_\w+$/)],
    ['application', 'string', (value) => expect(value).toBe(application)],
    ['order_id', 'string', (value, outcome) => expect(value).toBe(`order-${outcome}`)],
    ['status', 'string', (value, outcome) => expect(value).toBe(outcome)],
    ['amount', 'integer', (value) => expect(value).toBe(1250)],
    ['currency', 'string', (value) => expect(value).toBe('EUR')],
    [
      'tracking_code',
      'string or null',
      (value, outcome) => expect(value !== null).toBe(outcome === 'paid'),
    ],
    [
      'card_pan_masked',
      'string or null',
      (value, outcome) =>
        expect(value ?? 'null').toMatch(outcome === 'paid' ? /^\d{6}\*+\d{4}$/ : /^null$/),
    ],
    [
      'paid_at',
      'timestamp or null',
      (value, outcome) => expect(value !== null).toBe(outcome === 'paid'),
    ],
    [
      'failure_code',
      'string or null',
      (value, outcome) => expect(value !== null).toBe(outcome === 'failed'),
    ],
    [
      'failure_reason',
      'string or null',
      (value, outcome) => expect(value !== null).toBe(outcome === 'failed'),
    ],
    ['test', 'boolean', (value) => expect(value).toBe(true)],
    ['metadata', 'object', (value) => expect(value).toEqual(metadata)],
    ['expires_at', 'timestamp'],
  ])('%s as %s', (field, kind, note) => {
    for (const outcome of outcomes) {
      const value = ended[outcome].payment.json[field];
      expect(kinds[kind](value), `${outcome}: ${String(value)}`).toBe(true);
      note?.(value, outcome);
    }
  });

  it('test = false if it was created with a live token', async () => {
    const live = await service.anApplication({ mode: 'live' });
    const other = createJourney(service, live.token);
    const { json } = await other.get(await other.create());
    expect(json['test']).toBe(false);
  });
});

describe('the endpoints', () => {
  it.each([
    ['GET', '/api/v1/me', 200],
    ['POST', '/api/v1/payments', 201],
    ['GET', '/api/v1/payments', 200],
    ['GET', '/api/v1/payments/{payment_id}', 200],
    ['POST', '/api/v1/payments/{payment_id}/verify', 200],
  ])(
    'include %s %s, which needs a bearer token and returns JSON',
    async (method, template, status) => {
      const path = template.replace('{payment_id}', String(ended.paid.payment.json['payment_id']));
      const body = status === 201 ? { order_id: 'o', amount: 1, currency: 'EUR' } : undefined;
      const answer = await journey.request(method, path, body);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect((await journey.call(method, path)).status).toBe(401);
    },
  );

  it.each([
    ['order_id', 'order-paid'],
    ['status', 'paid'],
    ['from', '2026-01-01'],
    ['to', '2099-01-01'],
    ['per_page', '1'],
    ['page', '1'],
  ])('filter the list by %s', async (name, value) => {
    const answer = await journey.request('GET', `/api/v1/payments?${name}=${value}`);
    expect(answer.status, answer.text).toBe(200);
    const data = answer.json['data'] as Record<string, unknown>[];
    expect(data.length).toBeGreaterThan(0);
    if (name === 'order_id' || name === 'status')
      expect(new Set(data.map((payment) => payment[name]))).toEqual(new Set([value]));
    if (name === 'per_page') expect(data).toHaveLength(1);
  });

  it('accept an Idempotency-Key for a create, and repeat a verify without effect', async () => {
    const twice = () =>
      journey.request(
        'POST',
        '/api/v1/payments',
        { order_id: 'twin', amount: 1, currency: 'EUR' },
        { 'idempotency-key': 'twin' },
      );
    const [first, second] = [await twice(), await twice()];
    expect(second.text).toBe(first.text);
    const id = String(ended.paid.payment.json['payment_id']);
    expect((await journey.verify(id)).text).toBe((await journey.verify(id)).text);
  });

  it.each(['payment_id', 'order_id', 'status'])('add %s to the callback URL', async (name) => {
    for (const outcome of outcomes) {
      const { json } = ended[outcome].payment;
      const { status, headers } = await journey.comeBack(String(json['payment_id']));
      expect(status).toBe(303);
      const callback = new URL(headers.get('location') ?? '');
      expect(callback.href.startsWith(String(json['callback_url']))).toBe(true);
      expect(callback.searchParams.get(name)).toBe(json[name]);
    }
  });
});

describe('an error has a code in its object `error`', () => {
  const me = (bearer: string | undefined) =>
    journey.call(
      'GET',
      '/api/v1/me',
      bearer ? { headers: { authorization: `Bearer ${bearer}` } } : {},
    );
  const changed = async (change: (slug: string) => Promise<unknown>) => {
    const one = await service.anApplication();
    expect((await me(one.token)).status).toBe(200);
    await change(one.application);
    return me(one.token);
  };

  it.each<[status: number, code: string, when: string, cause: () => Promise<Answer>]>([
    [401, 'UNAUTHENTICATED', 'the header is missing', () => me(undefined)],
    [401, 'INVALID_TOKEN', 'the token is unknown', () => me(`svc_live_${'x'.repeat(43)}`)],
    [
      401,
      'INVALID_TOKEN',
      'the token is revoked',
      () =>
        changed(
          (slug) => service.sql`update tokens set revoked_at = now() where application = ${slug}`,
        ),
    ],
    [
      401,
      'INVALID_TOKEN',
      'the token is expired',
      () =>
        changed(
          (slug) => service.sql`update tokens set expires_at = now() where application = ${slug}`,
        ),
    ],
    [
      403,
      'APPLICATION_DISABLED',
      'an admin disabled the application',
      () =>
        changed(
          (slug) => service.sql`update applications set status = 'disabled' where slug = ${slug}`,
        ),
    ],
  ])('%s %s if %s', async (status, code, _, cause) => {
    const answer = await cause();
    expect(answer.status).toBe(status);
    expect(errorOf(answer).code).toBe(code);
  });

  it.each([
    ['svc_live_', 'live'],
    ['svc_test_', 'test'],
  ] as const)(
    'a token %s… has the mode %s, and is stored as a SHA-256 hash only',
    async (prefix, mode) => {
      const one = await service.anApplication({ mode });
      expect(one.token.startsWith(prefix)).toBe(true);
      expect((await me(one.token)).json['token_mode']).toBe(mode);
      const [row] = await service.sql<{ hash: Buffer; text: string }[]>`
      select hash, tokens::text as text from tokens where application = ${one.application}`;
      expect(row?.hash).toHaveLength(32);
      expect(row?.text).not.toContain(one.token.slice(13));
    },
  );
});

it('the request budget is 120 requests a minute by default, in headers', async () => {
  const slug = `default-${Date.now()}`;
  const callbackUrls = ['http://127.0.0.1:9/return'];
  const usual = { slug, defaultGateway: 'sandbox', callbackUrls, webhookUrl: null };
  await createApplications(service.sql).insert(usual);
  const token = { application: slug, mode: 'test', name: 't' } as const;
  const own = createJourney(service, await createTokens(service.sql).issue(token));
  const { headers } = await own.request('GET', '/api/v1/me');
  const budget = ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
  expect(budget).toEqual(['120', '119']);
});

describe('versioning', () => {
  it('exposes no path outside of /api/v1', async () => {
    for (const path of ['/me', '/payments', '/openapi.json', '/docs', '/', '/api/me'])
      expect(errorOf(await journey.request('GET', path)).code).toBe('NOT_FOUND');
  });

  it('publishes the contract as OpenAPI 3.1', async () => {
    const { json } = await journey.call('GET', '/api/v1/openapi.json');
    expect(json['openapi']).toMatch(/^3\.1\./);
  });
});
