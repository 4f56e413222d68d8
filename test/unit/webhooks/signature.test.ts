import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { createHeaders } from '../../../webhooks/signature.ts';

const body = Buffer.from('{"event":"payment.paid"}');
const headersWith = (secrets: string[], traceparent: string | null = null) =>
  createHeaders({
    event: { id: 'EVT_1', kind: 'payment.paid', body },
    attempt: 2,
    secrets,
    traceparent,
    now: new Date(1_700_000_000_999),
  });
const digestWith = (secret: string) =>
  createHmac('sha256', secret).update(`1700000000.${body.toString()}`).digest('hex');

it('has the documented headers', () => {
  expect(headersWith(['whsec_a'])).toEqual({
    Accept: '*/*',
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    'X-Service-Event': 'payment.paid',
    'X-Service-Event-Id': 'EVT_1',
    'X-Service-Timestamp': '1700000000',
    'X-Service-Delivery-Attempt': '2',
    'X-Service-Signature': `t=1700000000,v1=${digestWith('whsec_a')}`,
  });
});

it('has the trace of the request that caused the event, beside all others', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(headersWith(['whsec_a'], traceparent)).toEqual({
    ...headersWith(['whsec_a']),
    traceparent,
  });
});

it('signs with every secret, in their order', () => {
  expect(headersWith(['whsec_new', 'whsec_old'])['X-Service-Signature']).toBe(
    `t=1700000000,v1=${digestWith('whsec_new')},v1=${digestWith('whsec_old')}`,
  );
});
