import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import type { Account } from '../../../gateways/gateway.ts';
import { findDriver } from '../../../gateways/registry.ts';

describe('stripe, notifications', () => {
  const secret = 'whsec_0123456789';
  const { webhooks } = new Stripe('sk_test_0123456789abcdef');
  const anEvent = (fields: object = {}) => ({
    id: 'evt_1',
    object: 'event',
    livemode: false,
    type: 'checkout.session.completed',
    data: { object: { id: 'cs_test_abc1', client_reference_id: 'PAY_1' } },
    ...fields,
  });
  const sign = (payload: string, options: { secret?: string; timestamp?: number } = {}) =>
    webhooks.generateTestHeaderString({ payload, secret, ...options });
  const credentials = { webhookSecrets: ['whsec_0000000000', secret] };
  const parse = (payload: string, signature: string | undefined = sign(payload), secrets = {}) => {
    const header = (name: string) => (name === 'stripe-signature' ? signature : undefined);
    const account = {
      slug: 'stripe',
      kind: 'sandbox',
      credentials: { ...credentials, ...secrets },
    };
    return findDriver('stripe')?.notifications?.parse(
      { header, body: Buffer.from(payload) },
      account as Account,
      new Date(),
    );
  };
  const changed = { result: 'changed', reference: 'cs_test_abc1', paymentId: 'PAY_1' };

  it.each([
    ['completed', 'changed'],
    ['async_payment_succeeded', 'changed'],
    ['async_payment_failed', 'changed'],
    // Mostly our own, of a payment that ended. It starts no search for late money.
    ['expired', 'closed'],
  ])("accepts a signature of Stripe's own library: %s, %s", (name, result) => {
    const notification = parse(JSON.stringify(anEvent({ type: `checkout.session.${name}` })));
    expect(notification).toEqual({ ...changed, result });
  });

  it('accepts any of several signatures, e.g. during a rotation', () => {
    const payload = JSON.stringify(anEvent());
    const [time, right] = sign(payload).split(',');
    expect(parse(payload, `${time},v1=${'0'.repeat(64)},${right},v0=x`)).toEqual(changed);
  });

  it.each([
    ['no signature', () => ''],
    ['another secret', (text: string) => sign(text, { secret: 'whsec_another_one' })],
    ['other bytes', (text: string) => sign(`${text} `)],
    ['too old', (text: string) => sign(text, { timestamp: Math.floor(Date.now() / 1000) - 310 })],
    ['too new', (text: string) => sign(text, { timestamp: Math.floor(Date.now() / 1000) + 310 })],
    ['no time', (text: string) => sign(text).replace(/^t=\d+,/, '')],
    ['another scheme than v1', (text: string) => sign(text).replace('v1=', 'v0=')],
    ['a part of a signature', (text: string) => sign(text).slice(0, -2)],
    ['nonsense', () => 't=1e9,v1=zz,,=,v1'],
  ])('rejects: %s', (_name, signature) => {
    const payload = JSON.stringify(anEvent());
    expect(parse(payload, signature(payload))).toEqual({ result: 'rejected' });
  });

  const refundEvent = (name: string, object: object, fields: object = {}) =>
    JSON.stringify(anEvent({ type: `refund.${name}`, data: { object }, ...fields }));

  it.each(['created', 'updated', 'failed'])('says whose refund changed: refund.%s', (name) => {
    const metadata = { payment_id: 'PAY_1', refund_id: 'REFUND_1' };
    const about = { id: 're_1', payment_intent: 'pi_1' };
    const news = { result: 'refund_changed', trackingCode: 'pi_1', reference: 're_1' };
    expect(parse(refundEvent(name, { ...about, metadata }))).toEqual({
      ...news,
      refundId: 'REFUND_1',
    });
    // Made at the dashboard.
    expect(parse(refundEvent(name, { ...about, metadata: {} }))).toEqual({
      ...news,
      refundId: null,
    });
  });

  it.each(['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'])(
    'says whose dispute changed: charge.dispute.%s',
    (name) => {
      const event = (fields: object) =>
        JSON.stringify(anEvent({ type: `charge.dispute.${name}`, ...fields }));
      const data = { object: { id: 'dp_1', payment_intent: 'pi_1', status: 'needs_response' } };
      expect(parse(event({ data }))).toEqual({ result: 'dispute_changed', trackingCode: 'pi_1' });
      expect(parse(event({ data, livemode: true }))).toEqual({ result: 'ignored' });
      // The charge has no payment intent.
      const other = { object: { id: 'dp_1', payment_intent: null } };
      expect(parse(event({ data: other }))).toEqual({ result: 'ignored' });
    },
  );

  it.each([
    ['a live one', { id: 're_1', payment_intent: 'pi_1' }, { livemode: true }],
    [
      'one of a charge without a payment intent',
      { id: 're_1', payment_intent: null, metadata: {} },
      {},
    ],
    ['one of another kind of id', { id: 're_1', payment_intent: '../x' }, {}],
  ])('ignores a refund: %s', (_name, object, fields) => {
    expect(parse(refundEvent('created', object, fields))).toEqual({ result: 'ignored' });
  });

  it.each([
    ['another kind of event', anEvent({ type: 'charge.refunded' })],
    ['a live event in a sandbox account', anEvent({ livemode: true })],
    ['a live session', anEvent({ data: { object: { id: 'cs_live_abc1' } } })],
    ['an event without a session', anEvent({ data: { object: {} } })],
    ['a body that is not an event', { hello: 'world' }],
  ])('ignores %s', (_name, event) => {
    expect(parse(JSON.stringify(event))).toEqual({ result: 'ignored' });
  });

  it('ignores a signed body that is not JSON', () => {
    expect(parse('{')).toEqual({ result: 'ignored' });
  });

  it('rejects every signature without a configured secret', () => {
    const payload = JSON.stringify(anEvent());
    const without = { webhookSecrets: [] };
    expect(parse(payload, sign(payload), without)).toEqual({ result: 'rejected' });
  });
});
