import Stripe from 'stripe';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountProblem, GatewayUnavailable } from '../../../gateways/errors.ts';
import { aGatewayPayment, returnUrl } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { stripe } from '../../support/gateways/stripe.ts';

const { provider, adapter, opened, callsOf } = aProvider(stripe);
const keyOf = (call: { headers: Record<string, unknown> } | undefined) =>
  String(call?.headers['idempotency-key']);

describe('stripe', () => {
  it('opens a session with the documented fields', async () => {
    const payment = aGatewayPayment(stripe.money);
    const [call] = await callsOf(() => adapter().open(payment));
    expect(call).toMatchObject({ method: 'POST', path: '/v1/checkout/sessions' });
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer sk_test_0123456789abcdef',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(Object.fromEntries(call?.form ?? [])).toEqual({
      mode: 'payment',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'eur',
      'line_items[0][price_data][unit_amount]': '1250',
      'line_items[0][price_data][product_data][name]': 'Two tickets',
      success_url: `${returnUrl}?result=paid`,
      cancel_url: `${returnUrl}?result=cancelled`,
      client_reference_id: payment.id,
      'metadata[payment_id]': payment.id,
      'payment_intent_data[metadata][payment_id]': payment.id,
      expires_at: String(Math.floor(payment.expiresAt.getTime() / 1000)),
    });
  });

  it('sends the API version of the library with every call', async () => {
    const calls = await callsOf(async () => {
      const paid = await opened();
      provider().pay(paid.reference);
      await adapter().verify(paid);
      await adapter().reverse?.(paid);
      await adapter().expire?.(await opened());
    });
    const versions = calls.map(({ headers }) => headers['stripe-version']);
    expect(calls.length).toBeGreaterThan(5);
    expect(new Set(versions)).toEqual(new Set([Stripe.API_VERSION]));
  });

  it.each([
    ['🎟'.repeat(255), '🎟'.repeat(250)],
    [`${'a'.repeat(249)}🎟bc`, `${'a'.repeat(249)}🎟`],
    ['a'.repeat(250), 'a'.repeat(250)],
  ])('cuts the name of the product after 250 whole characters: %s', async (description, name) => {
    const [call] = await callsOf(async () => {
      await adapter().open({ ...aGatewayPayment(stripe.money), description });
    });
    expect(call?.form.get('line_items[0][price_data][product_data][name]')).toBe(name);
  });

  it('uses another idempotency key a minute after an error', async () => {
    const payment = aGatewayPayment(stripe.money);
    const at = new Date();
    const open = (afterMs: number) =>
      adapter({ now: () => new Date(at.getTime() + afterMs) }).open(payment);
    provider().refuse('sessions', { status: 500, type: 'api_error', code: 'internal' });
    await expect(open(0)).rejects.toThrow(GatewayUnavailable);
    expect(await open(60_000)).toMatchObject({ result: 'opened' });
  });

  it.each([
    // Stripe's sessions live 30 minutes to 24 hours, our payments from one minute on.
    [60, 60 + 31 * 60],
    [1_800, 1_800 + 31 * 60],
    [3_600, 3_600],
    [86_400, 86_400 - 60],
  ])('opens a session of %i s for %i s', async (seconds, lives) => {
    const at = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    const payment = {
      ...aGatewayPayment(stripe.money),
      expiresAt: new Date(at.getTime() + seconds * 1000),
    };
    const later = new Date(at.getTime() + 20_000);
    const calls = await callsOf(async () => {
      expect(await adapter({ now: () => at }).open(payment)).toMatchObject({ result: 'opened' });
      await adapter({ now: () => later }).open(payment);
    });
    const [first, second] = calls.map(({ form }) => Number(form.get('expires_at')));
    expect(first).toBe(at.getTime() / 1000 + lives);
    // A repeated call that differs needs another key: Stripe rejects a key with another request.
    if (first !== second) expect(keyOf(calls[0])).not.toBe(keyOf(calls[1]));
    else expect(keyOf(calls[0])).toBe(keyOf(calls[1]));
  });

  it('expires an open session, and returns false for any other', async () => {
    const [open, paid, expired] = [await opened(), await opened(), await opened()];
    provider().pay(paid.reference);
    provider().move(expired.reference, 'expired unpaid');
    expect(await adapter().expire?.(open)).toBe(true);
    provider().pay(open.reference);
    expect(await adapter().verify(open)).toEqual({ state: 'expired' });
    expect(await adapter().expire?.(paid)).toBe(false);
    expect(await adapter().verify(paid)).toMatchObject({ state: 'paid' });
    expect(await adapter().expire?.(expired)).toBe(false);
    provider().fail('lost', /expire/);
    await expect(adapter().expire?.(await opened())).rejects.toThrow(GatewayUnavailable);
  });

  it('refunds once, with one key a minute, and refuses an unpaid session', async () => {
    const payment = await opened();
    const at = new Date();
    const reverse = () => adapter({ now: () => at }).reverse?.(payment);
    expect(await reverse()).toMatchObject({ result: 'refused' });
    provider().pay(payment.reference);
    provider().fail('lost', /v1\/refunds$/);
    const calls = await callsOf(async () => {
      await expect(reverse()).rejects.toThrow(GatewayUnavailable);
      expect(await reverse()).toEqual({ result: 'reversed' });
    });
    const refunds = calls.filter(({ path }) => path === '/v1/refunds').map(keyOf);
    expect(refunds).toEqual([expect.stringContaining(`reverse:${payment.id}:`), refunds[0]]);
    expect(provider().book.get(payment.reference)).toMatchObject({ charged: 1, reversed: 1 });
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
  });

  it.each([
    ['pending', 'pending'],
    ['requires_action', 'pending'],
    ['failed', 'refused'],
    ['canceled', 'refused'],
  ])('returns for a refund that is %s: %s', async (status, result) => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().refundsAre(status);
    onTestFinished(() => provider().refundsAre());
    expect(await adapter().reverse?.(payment)).toMatchObject({ result });
  });

  it('throws for a response about another session', async () => {
    const [payment, other] = [await opened(), await opened()];
    provider().pay(payment.reference);
    provider().mistakeFor(other.reference);
    onTestFinished(() => provider().mistakeFor(undefined));
    await expect(adapter().verify(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('refunds with another key a minute after an error, and never twice', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    const at = new Date();
    const reverse = (afterMs: number) =>
      adapter({ now: () => new Date(at.getTime() + afterMs) }).reverse?.(payment);
    provider().refuse('refunds', { status: 500, type: 'api_error', code: 'internal' });
    await expect(reverse(0)).rejects.toThrow(GatewayUnavailable);
    expect(await reverse(60_000)).toEqual({ result: 'reversed' });
    expect(await reverse(120_000)).toMatchObject({
      result: 'refused',
      code: 'charge_already_refunded',
    });
    expect(provider().book.get(payment.reference)).toMatchObject({ reversed: 1 });
  });
});

describe('stripe, test and live', () => {
  it('rejects live sessions in a sandbox account', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().setLivemode(true);
    try {
      const opening = await adapter().open(aGatewayPayment(stripe.money));
      expect(opening).toMatchObject({ result: 'refused', code: 'test_mode_guard' });
      await expect(adapter().verify(payment)).rejects.toThrow(AccountProblem);
      await expect(adapter().reverse?.(payment)).rejects.toThrow(AccountProblem);
    } finally {
      provider().setLivemode(false);
    }
    expect(await adapter().verify(payment)).toMatchObject({ state: 'paid' });
  });
});
