import { describe, expect, it, onTestFinished } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { parseRefunds } from '../../../gateways/stripe-refunds.ts';
import { aGatewayRefund } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { stripe } from '../../support/gateways/stripe.ts';

const { provider, adapter, paid, callsOf } = aProvider(stripe);
const keyOf = (call: { headers: Record<string, unknown> } | undefined) =>
  String(call?.headers['idempotency-key']);

const aRefund = (amount = 500) => aGatewayRefund(amount);

describe('stripe, refunds', () => {
  it('sends our id as the key and in the metadata, and no reason', async () => {
    const payment = await paid();
    const refund = aRefund();
    const calls = await callsOf(() => adapter().refund!(payment, refund));
    const call = calls.find(({ path }) => path === '/v1/refunds');
    expect(keyOf(call)).toBe(refund.id);
    expect(Object.fromEntries(call?.form ?? [])).toEqual({
      payment_intent: expect.stringMatching(/^pi_/) as string,
      amount: '500',
      'metadata[payment_id]': payment.id,
      'metadata[refund_id]': refund.id,
    });
  });

  it('uses another key a minute after an error that Stripe repeats, and not before', async () => {
    const payment = await paid();
    const at = Date.now();
    const refund = aRefund();
    const tell = (timesTold: number, afterMs: number) =>
      adapter({ now: () => new Date(at + afterMs) }).refund!(payment, {
        ...refund,
        timesTold,
        toldAt: timesTold ? new Date(at) : null,
      });
    provider().refuse('refunds', { status: 500, type: 'api_error', code: 'internal' });
    await expect(tell(0, 0)).rejects.toThrow(GatewayUnavailable);
    await expect(tell(1, 50_000)).rejects.toThrow(GatewayUnavailable);
    expect(await tell(2, 61_000)).toMatchObject({ result: 'accepted' });
    expect(await tell(3, 122_000)).toMatchObject({ result: 'accepted' });
    expect(provider().of(payment.reference)).toHaveLength(1);
  });

  it('takes no answer about another payment', async () => {
    const payment = await paid();
    provider().answerAboutAnother();
    await expect(adapter().refund!(payment, aRefund())).rejects.toThrow(GatewayUnavailable);
    provider().answerAboutAnother();
    await expect(adapter().reverse!(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('reverses late money for good only when the refund has succeeded', async () => {
    const payment = await paid();
    provider().refundsAre('pending');
    try {
      expect(await adapter().reverse?.(payment)).toEqual({ result: 'pending' });
    } finally {
      provider().refundsAre();
    }
    expect(await adapter().inquire(payment)).toEqual({ state: 'processing' });
    provider().moveRefunds(payment.reference, 'failed', 'unknown');
    expect(await adapter().inquire(payment)).toMatchObject({ state: 'paid' });
    const later = adapter({ now: () => new Date(Date.now() + 60_000) });
    expect(await later.reverse?.(payment)).toEqual({ result: 'reversed' });
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
  });

  it('lists more than a page of refunds', async () => {
    const payment = await paid();
    for (let n = 0; n < 203; n += 1) provider().add(payment.reference, { amount: 1 });
    const known = await adapter().refunds!(payment, []);
    expect(new Set(known.map(({ reference }) => reference)).size).toBe(203);
  });

  it('throws for a list of refunds that has no end', async () => {
    const payment = await paid();
    provider().add(payment.reference, { amount: 1 });
    provider().repeatRefunds(true);
    onTestFinished(() => provider().repeatRefunds(false));
    const calls = await callsOf(() =>
      expect(adapter().refunds!(payment, [])).rejects.toThrow(GatewayUnavailable),
    );
    expect(calls.length).toBeLessThan(20);
  });
});

describe('a hostile list of refunds is no answer', () => {
  const refund = {
    id: 're_1',
    amount: 500,
    currency: 'eur',
    created: 1_795_000_000,
    payment_intent: 'pi_1',
    status: 'succeeded',
  };
  const parse = (data: unknown, more: object = {}) =>
    parseRefunds({ status: 200, body: { data, has_more: false, ...more } }, 'pi_1');

  it('is one as it should be', () => {
    expect(parse([refund]).refunds).toMatchObject([{ amount: 500, state: 'succeeded' }]);
  });

  it.each([
    ...['500', 499.5, 0, -500, null, 2 ** 53, true].map((amount) => ({ amount })),
    ...['EUR', 'euro', '', null, 978].map((currency) => ({ currency })),
    ...[null, undefined, 'done', 'SUCCEEDED', 1].map((status) => ({ status })),
    ...['pi_2', null, undefined, ['pi_1']].map((intent) => ({ payment_intent: intent })),
    ...['re', 're_1,re_2', '', null].map((id) => ({ id })),
    { created: '2026-11-20' },
    { metadata: { refund_id: 5 } },
    { metadata: 'REFUND_1' },
  ])('with %j', (changed) => {
    expect(() => parse([{ ...refund, ...changed }])).toThrow(GatewayUnavailable);
    expect(() => parse([refund, { ...refund, ...changed }])).toThrow(GatewayUnavailable);
  });

  it.each([
    [null, {}],
    [{}, {}],
    [[null], {}],
    [[], { has_more: true }],
    [[refund], { has_more: 'no' }],
    [[refund], { has_more: undefined }],
  ])('that is %j with %j', (data, more) => {
    expect(() => parse(data, more)).toThrow(GatewayUnavailable);
  });
});
