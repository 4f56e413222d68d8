import { describe, expect, it } from 'vitest';
import { AccountProblem, GatewayUnavailable } from '../../../gateways/errors.ts';
import { adapterOf, aGatewayPayment } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';

const { provider, adapter, opened, callsOf } = aProvider(zarinpal);

describe('zarinpal', () => {
  it('opens in rials with the merchant id, without automatic verification', async () => {
    const payment = aGatewayPayment(zarinpal.money);
    const [call] = await callsOf(() => adapter().open(payment));
    expect(call).toMatchObject({ method: 'POST', path: '/pg/v4/payment/request.json' });
    expect(call?.json).toEqual({
      ...zarinpal.credentials.sandbox,
      merchant_id: Reflect.get(zarinpal.credentials.sandbox, 'merchantId'),
      merchantId: undefined,
      amount: 150_000,
      currency: 'IRR',
      description: 'Two tickets',
      callback_url: payment.returnUrl,
      metadata: { order_id: payment.id, auto_verify: false },
    });
  });

  it.each([
    [{ amount: 'The amount must be at least 1000.' }, true],
    [[{ amount: ['The amount must be at least 1000.'] }], true],
    [[{ amount: 'x' }, { callback_url: 'x' }], false],
    [{ merchant_id: 'x' }, false],
    [[], false],
    ['amount', false],
    [null, false],
  ])('takes a validation that names %j as one of the amount alone: %s', async (validations, is) => {
    const errors = { code: -9, message: 'The input params invalid.', validations };
    provider().replyOnce('request', { data: [], errors });
    const opening = await adapter().open(aGatewayPayment(zarinpal.money));
    expect(opening).toMatchObject({ result: 'refused', code: '-9' });
    expect('failureCode' in opening).toBe(is);
  });

  it('inquires before it verifies, and does not verify an unpaid payment', async () => {
    const payment = await opened();
    const pathsOf = async () =>
      (await callsOf(() => adapter().verify(payment))).map(({ path }) => path.split('/').at(-1));
    expect(await pathsOf()).toEqual(['inquiry.json']);
    provider().pay(payment.reference);
    expect(await pathsOf()).toEqual(['inquiry.json', 'verify.json']);
  });

  it('lists paid payments that are not verified, up to 100', async () => {
    const [paid, open, verified] = [await opened(), await opened(), await opened()];
    for (const { reference } of [paid, verified]) provider().pay(reference);
    await adapter().verify(verified);
    const list = await adapter().listUnverified?.();
    expect(list?.references).toContain(paid.reference);
    expect(list?.references).not.toContain(open.reference);
    expect(list?.references).not.toContain(verified.reference);
    expect(list?.complete).toBe(true);

    provider().listCodeAs(100);
    const more = await Promise.all(Array.from({ length: 100 }, () => opened()));
    for (const { reference } of more) provider().pay(reference);
    const longer = await adapter().listUnverified?.();
    expect(longer).toMatchObject({ complete: false });
    expect(longer?.references).toHaveLength(100);
  });

  it('throws when the list is refused or undocumented', async () => {
    provider().refuse('unVerified', -10);
    await expect(adapter().listUnverified?.()).rejects.toThrow(GatewayUnavailable);
    provider().replyOnce('unVerified', { data: { code: 101, authorities: [] }, errors: [] });
    await expect(adapter().listUnverified?.()).rejects.toThrow(GatewayUnavailable);
  });
});

describe('zarinpal, test and live', () => {
  const live = aProvider(zarinpal, 'live');

  it('refuses an authority of the other kind', async () => {
    const credentials = { ...zarinpal.credentials.sandbox, baseUrl: live.provider().url };
    const wrong = adapterOf('zarinpal', { kind: 'sandbox', credentials });
    expect(await wrong.open(aGatewayPayment(zarinpal.money))).toMatchObject({
      result: 'refused',
      code: 'test_mode_guard',
    });
  });

  it('sends no test authorities in a live account', async () => {
    const payment = await live.opened();
    const test = { ...payment, reference: payment.reference.replace('A', 'S') };
    const calls = await live.callsOf(async () => {
      await expect(live.adapter().verify(test)).rejects.toThrow(AccountProblem);
      await expect(live.adapter().inquire(test)).rejects.toThrow(AccountProblem);
      await expect(live.adapter().reverse?.(test)).rejects.toThrow(AccountProblem);
    });
    expect(calls).toEqual([]);
  });
});
