import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { newRefundId } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { stripe } from '../../support/gateways/stripe.ts';

const { provider, adapter, opened, callsOf } = aProvider(stripe);
const keyOf = (call: { headers: Record<string, unknown> } | undefined) =>
  String(call?.headers['idempotency-key']);

describe('stripe, refunds', () => {
  const paid = async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    return payment;
  };
  const aRefund = (amount = 500) => ({
    id: newRefundId(),
    amount,
    timesTold: 0,
    toldAt: null,
    isReversible: false,
  });

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
      adapter(() => new Date(at + afterMs)).refund!(payment, {
        ...refund,
        timesTold,
        toldAt: timesTold ? new Date(at) : null,
        isReversible: false,
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
    try {
      const calls = await callsOf(() =>
        expect(adapter().refunds!(payment, [])).rejects.toThrow(GatewayUnavailable),
      );
      expect(calls.length).toBeLessThan(20);
    } finally {
      provider().repeatRefunds(false);
    }
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
    const later = adapter(() => new Date(Date.now() + 60_000));
    expect(await later.reverse?.(payment)).toEqual({ result: 'reversed' });
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
  });
});
