import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import {
  endInEveryWay,
  kinds,
  outcomes,
  type Kind,
  type Outcome,
} from '../../support/service/every-outcome.ts';
import { createJourney } from '../../support/service/journey.ts';
import type { Received } from '../../support/service/receiver.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';

// The tables of the service interface, row by row; they are binding to the letter.

const metadata = { seat: '12A', '1': [1, { deep: null }] };
const service = await forFile(useService());
const { application, journey, secret } = await service.anApplication();
const ended = await endInEveryWay(service, journey, { metadata });

it.each<[field: string, kind: Kind, value: (outcome: Outcome) => unknown]>([
  ['payment_id', 'string', () => expect.stringMatching(/^PAY_\w+$/)],
  ['application', 'string', () => application],
  ['order_id', 'string', (outcome) => `order-${outcome}`],
  ['status', 'string', (outcome) => outcome],
  ['amount', 'integer', () => 1250],
  ['currency', 'string', () => 'EUR'],
  ['tracking_code', 'string or null', (is) => (is === 'paid' ? expect.anything() : null)],
  [
    'card_pan_masked',
    'string or null',
    (is) => (is === 'paid' ? expect.stringMatching(/^\d{6}\*+\d{4}$/) : null),
  ],
  ['paid_at', 'timestamp or null', (is) => (is === 'paid' ? expect.anything() : null)],
  ['failure_code', 'string or null', (is) => (is === 'failed' ? expect.anything() : null)],
  ['failure_reason', 'string or null', (is) => (is === 'failed' ? expect.anything() : null)],
  ['test', 'boolean', () => true],
  ['metadata', 'object', () => metadata],
  ['expires_at', 'timestamp', () => expect.anything()],
])('a payment has %s as %s', (field, kind, value) => {
  for (const outcome of outcomes) {
    const given = ended[outcome].payment.json[field];
    expect(kinds[kind](given), `${outcome}: ${String(given)}`).toBe(true);
    expect(given, outcome).toEqual(value(outcome));
  }
});

it.each<[header: string, content: (webhook: Received, outcome: Outcome) => unknown]>([
  ['Content-Type', () => 'application/json'],
  ['User-Agent', () => 'Service-Webhook/1.0'],
  ['X-Service-Event', (_, outcome) => `payment.${outcome}`],
  ['X-Service-Event-Id', ({ json }) => json['event_id']],
  ['X-Service-Timestamp', () => expect.stringMatching(/^\d{10}$/)],
  ['X-Service-Delivery-Attempt', () => '1'],
  [
    'X-Service-Signature',
    ({ headers, body }) => {
      const t = String(headers['x-service-timestamp']);
      return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`;
    },
  ],
])('a webhook has the header %s', (header, content) => {
  for (const outcome of outcomes) {
    const { webhook } = ended[outcome];
    expect(webhook.headers[header.toLowerCase()]).toEqual(content(webhook, outcome));
  }
});

describe('the body of a webhook has', () => {
  const rows: [field: string, kind: Kind][] = [
    ['event', 'string'],
    ['event_id', 'uuid'],
    ['created_at', 'timestamp'],
    ['payment_id', 'string'],
    ['application', 'string'],
    ['order_id', 'string'],
    ['status', 'string'],
    ['amount', 'integer'],
    ['currency', 'string'],
    ['tracking_code', 'string or null'],
    ['card_pan_masked', 'string or null'],
    ['paid_at', 'timestamp or null'],
    ['failure_code', 'string or null'],
    ['failure_reason', 'string or null'],
    ['test', 'boolean'],
    ['metadata', 'object'],
  ];
  it('these fields, in this order, and the values of the payment', () => {
    for (const outcome of outcomes) {
      const { payment, webhook } = ended[outcome];
      for (const [field, kind] of rows) {
        const value = webhook.json[field];
        expect(kinds[kind](value), `${outcome}: ${field} ${String(value)}`).toBe(true);
        // created_at is the time of the event.
        if (field in payment.json && field !== 'created_at')
          expect(value, field).toEqual(payment.json[field]);
      }
      expect(Object.keys(webhook.json)).toEqual([
        ...rows.map(([field]) => field),
        // The table is of `payment.paid`.
        ...(outcome === 'cancelled' ? ['cancelled_by'] : []),
      ]);
    }
  });
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
