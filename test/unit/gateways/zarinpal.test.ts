import { describe, expect, it } from 'vitest';
import { AccountProblem, GatewayUnavailable } from '../../../gateways/errors.ts';
import { adapterOf, aGatewayPayment } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zarinpal } from '../../support/gateways/zarinpal.ts';

const testAuthority = 'S'.padEnd(36, '0');
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

  it('redirects the payer to the page of the authority', async () => {
    const opening = await adapter().open(aGatewayPayment(zarinpal.money));
    expect(opening).toMatchObject({ result: 'opened' });
    if (opening.result !== 'opened') return;
    const url = `${provider().url}/pg/StartPay/${opening.reference}`;
    expect(opening.redirect).toEqual({ method: 'GET', url });
  });

  it.each([-9, -10, -11, -13, -14, -15, -19, -30, -41])(
    'returns the refusal of an opening: %i',
    async (code) => {
      provider().refuse('request', code);
      expect(await adapter().open(aGatewayPayment(zarinpal.money))).toEqual({
        result: 'refused',
        code: String(code),
        message: 'Refused.',
        ...(code === -41 && { failureCode: 'amount_not_accepted' }),
        // A validation that names no field. Who sent no data of a payer ignores it.
        ...(code === -9 && { isAboutPayer: true }),
      });
    },
  );

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

  it.each([1, -8, -12, -42, -50, -52, -99, -999])(
    'throws for a temporary or undocumented refusal of an opening: %i',
    async (code) => {
      provider().refuse('request', code);
      await expect(adapter().open(aGatewayPayment(zarinpal.money))).rejects.toThrow(
        GatewayUnavailable,
      );
    },
  );

  it.each([[], {}, '', null])('accepts a refusal with the empty data %j', async (data) => {
    provider().replyOnce('request', { data, errors: { code: -11 } });
    const opening = await adapter().open(aGatewayPayment(zarinpal.money));
    expect(opening).toEqual({ result: 'refused', code: '-11', message: null });
  });

  it.each([
    ['request', { data: { code: 101, authority: testAuthority }, errors: [] }],
    ['request', { data: { code: 100, authority: 'S1' }, errors: [] }],
    ['request', { data: { code: 100, authority: testAuthority }, errors: { code: -11 } }],
    ['verify', { data: { code: 102, ref_id: 201 }, errors: [] }],
    ['verify', { data: { code: 100, ref_id: 201 }, errors: { code: -50 } }],
    ['reverse', { data: { code: 101 }, errors: [] }],
    ['unVerified', { data: { code: 101, authorities: [] }, errors: [] }],
  ] as const)('throws for an undocumented response of %s: %j', async (name, body) => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().replyOnce(name, body);
    const { open, verify, reverse, listUnverified } = adapter();
    const call = { request: open, verify, reverse, unVerified: listUnverified }[name];
    await expect(call?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('is paid without a card number', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().replyOnce('verify', { data: { code: 100, ref_id: 201 } });
    const verified = await adapter().verify(payment);
    expect(verified).toMatchObject({ state: 'paid', trackingCode: '201', cardPanMasked: null });
  });

  it('inquires before it verifies, and does not verify an unpaid payment', async () => {
    const payment = await opened();
    const pathsOf = async () =>
      (await callsOf(() => adapter().verify(payment))).map(({ path }) => path.split('/').at(-1));
    expect(await pathsOf()).toEqual(['inquiry.json']);
    provider().pay(payment.reference);
    expect(await pathsOf()).toEqual(['inquiry.json', 'verify.json']);
  });

  it('reverses once, and returns the refusal of another reversal', async () => {
    const payment = await opened();
    expect(await adapter().reverse?.(payment)).toMatchObject({ result: 'refused', code: '-61' });
    provider().pay(payment.reference);
    await adapter().verify(payment);
    const calls = await callsOf(async () => {
      expect(await adapter().reverse?.(payment)).toEqual({ result: 'reversed' });
    });
    expect(calls).toHaveLength(1);
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
    // It is refused with −61, and the inquiry shows that it was done.
    expect(await adapter().reverse?.(payment)).toEqual({ result: 'reversed' });
    expect(provider().book.get(payment.reference)).toMatchObject({ charged: 1, reversed: 1 });
  });

  it.each([-10, -60, -62, -63])('returns the refusal of a reversal: %i', async (code) => {
    const payment = await opened();
    provider().refuse('reverse', code);
    expect(await adapter().reverse?.(payment)).toMatchObject({
      result: 'refused',
      code: String(code),
    });
  });

  it.each([-12, -52, -99])('throws for a reversal that may have been done: %i', async (code) => {
    const payment = await opened();
    provider().refuse('reverse', code);
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('throws when the response to a reversal is lost, and the inquiry shows the reversal', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    provider().fail('lost', /reverse/);
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
    expect(provider().book.get(payment.reference)).toMatchObject({ reversed: 1 });
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
    for (let more = 0; more < 100; more += 1) provider().pay((await opened()).reference);
    const longer = await adapter().listUnverified?.();
    expect(longer).toMatchObject({ complete: false });
    expect(longer?.references).toHaveLength(100);
  });

  it('throws when the list is refused', async () => {
    provider().refuse('unVerified', -10);
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

  it('opens live authorities in a live account, and sends no test ones', async () => {
    const payment = await live.opened();
    expect(payment.reference).toMatch(/^A/);
    const test = { ...payment, reference: payment.reference.replace('A', 'S') };
    const calls = await live.callsOf(async () => {
      await expect(live.adapter().verify(test)).rejects.toThrow(AccountProblem);
      await expect(live.adapter().inquire(test)).rejects.toThrow(AccountProblem);
      await expect(live.adapter().reverse?.(test)).rejects.toThrow(AccountProblem);
    });
    expect(calls).toEqual([]);
  });
});
