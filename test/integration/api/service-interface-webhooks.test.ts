import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  endInEveryWay,
  kinds,
  outcomes,
  type Kind,
  type Outcome,
} from '../../support/service/every-outcome.ts';
import { createJourney } from '../../support/service/journey.ts';
import type { Received } from '../../support/service/receiver.ts';
import { useService } from '../../support/service/service.ts';
import { forFile } from '../../support/for-file.ts';

// The tables about webhooks in the service interface; the delays are tested in test/integration/journeys.

const service = await forFile(useService());
const one = await service.anApplication();
const { secret } = one;
const ended = await endInEveryWay(service, createJourney(service, one.token), {
  metadata: { a: [1] },
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
  it.each(rows)('%s as %s', (field, kind) => {
    for (const outcome of outcomes) {
      const { json } = ended[outcome].webhook;
      expect(kinds[kind](json[field]), `${outcome}: ${String(json[field])}`).toBe(true);
      const { payment } = ended[outcome];
      // Fields that the payment has, too, are equal; created_at is the time of the event.
      if (field in payment.json && field !== 'created_at')
        expect(json[field]).toEqual(payment.json[field]);
    }
  });

  it('exactly these fields, in this order', () => {
    for (const outcome of outcomes)
      expect(Object.keys(ended[outcome].webhook.json)).toEqual([
        ...rows.map(([field]) => field),
        // The table is of `payment.paid`.
        ...(outcome === 'cancelled' ? ['cancelled_by'] : []),
      ]);
  });
});
