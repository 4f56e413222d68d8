import { describe, expect, it, onTestFinished } from 'vitest';
import { AccountProblem, GatewayUnavailable } from '../../../gateways/errors.ts';
import { findDriver } from '../../../gateways/registry.ts';
import { aGatewayPayment, aGatewayRefund, returnUrl } from '../../support/gateways/fixture.ts';
import { mollie } from '../../support/gateways/mollie.ts';
import { aProvider } from '../../support/gateways/provider.ts';

const { provider, adapter, adapterWith, opened, paid, callsOf } = aProvider(mollie);
const keyOf = (call: { headers: Record<string, unknown> } | undefined) =>
  String(call?.headers['idempotency-key']);
const reportUrl = 'https://pay.example/api/v1/payments/PAY_1/reports/secret';

describe('mollie', () => {
  it('opens a payment with the documented fields', async () => {
    const payment = { ...aGatewayPayment(mollie.money), reportUrl };
    const [call] = await callsOf(() => adapter().open(payment));
    expect(call).toMatchObject({ method: 'POST', path: '/v2/payments' });
    expect(call?.headers).toMatchObject({ authorization: 'Bearer test_0123456789abcdef' });
    expect(call?.json).toEqual({
      amount: { currency: 'EUR', value: '12.50' },
      description: 'Two tickets',
      redirectUrl: returnUrl,
      webhookUrl: reportUrl,
      metadata: { payment_id: payment.id },
    });
  });

  it('takes reports, and sends no address for them where there is none', async () => {
    expect(findDriver('mollie')).toMatchObject({ takesReports: true });
    expect(findDriver('mollie')?.notifications).toBeUndefined();
    const [call] = await callsOf(() => adapter().open(aGatewayPayment(mollie.money)));
    expect(call?.json).not.toHaveProperty('webhookUrl');
  });

  it.each([
    [{ amount: 500, currency: 'JPY' }, '500'],
    [{ amount: 1, currency: 'EUR' }, '0.01'],
    [{ amount: 99_999_999_999, currency: 'EUR' }, '999999999.99'],
  ])('sends %o as %s', async (money, value) => {
    const [call] = await callsOf(() => adapter().open(aGatewayPayment(money)));
    expect(call?.json['amount']).toEqual({ currency: money.currency, value });
  });

  it('sends of the payer what Mollie has a field for', async () => {
    const payer = { email: 'a@example.com', mobile: '+31612345678', name: 'A B', locale: 'nl' };
    const sent = async (of: object) => {
      const payment = { ...aGatewayPayment(mollie.money), payer: of };
      const [call] = await callsOf(() => adapter().open(payment));
      return call?.json;
    };
    expect(await sent(payer)).toMatchObject({
      billingAddress: { email: 'a@example.com', phone: '+31612345678' },
      locale: 'nl_NL',
    });
    const iranian = await sent({ mobile: '09121234567', locale: 'fa' });
    for (const field of ['billingAddress', 'locale']) expect(iranian).not.toHaveProperty(field);
  });

  it.each([
    ['billingAddress.email', true],
    ['locale', true],
    ['description', undefined],
  ])('says that a refusal of %s is about the payer: %s', async (field, isAboutPayer) => {
    provider().refuse('create', { status: 422, field });
    const opening = await adapter().open(aGatewayPayment(mollie.money));
    expect(opening).toMatchObject({ result: 'refused', code: field });
    expect(Reflect.get(opening, 'isAboutPayer')).toBe(isAboutPayer);
  });

  it('cuts the description after 255 whole characters', async () => {
    const description = `${'a'.repeat(254)}🎟bc`;
    const payment = { ...aGatewayPayment(mollie.money), description };
    const [call] = await callsOf(() => adapter().open(payment));
    expect(call?.json['description']).toBe(`${'a'.repeat(254)}🎟`);
  });

  it('opens with one key a minute, and another one without the payer', async () => {
    const at = new Date();
    const payment = aGatewayPayment(mollie.money);
    const open = (afterMs: number, payer = {}) =>
      adapter({ now: () => new Date(at.getTime() + afterMs) }).open({ ...payment, payer });
    const calls = await callsOf(async () => {
      const first = await open(0);
      expect(await open(0)).toEqual(first);
      await open(0, { email: 'a@example.com' });
      await open(60_000);
    });
    const [first, second, ...others] = calls.map(keyOf);
    expect(second).toBe(first);
    expect(new Set([first, ...others]).size).toBe(3);
  });

  it('throws for an opening without a page for the payer', async () => {
    const { reply } = provider().answers.find(({ call }) => call.path === '/v2/payments')!;
    const body = { ...(reply.body as object), metadata: null, _links: {} };
    provider().respondOnce('create', { status: 201, body });
    await expect(adapter().open(aGatewayPayment(mollie.money))).rejects.toThrow(GatewayUnavailable);
  });

  it('cancels an open payment, and returns false for one that cannot be cancelled', async () => {
    const [open, fixed, done] = [await opened(), await opened(), await paid()];
    expect(await adapter().expire?.(open)).toBe(true);
    provider().pay(open.reference);
    expect(await adapter().verify(open)).toEqual({ state: 'cancelled' });
    provider().fix(fixed.reference);
    expect(await adapter().expire?.(fixed)).toBe(false);
    // The payer can still pay it.
    expect(await adapter().verify(fixed)).toEqual({ state: 'waiting' });
    expect(await adapter().expire?.(done)).toBe(false);
    expect(await adapter().expire?.(open)).toBe(false);
  });

  it('releases money that is reserved when it cancels', async () => {
    const payment = await opened();
    provider().move(payment.reference, 'authorized');
    expect(await adapter().inquire(payment)).toEqual({ state: 'processing' });
    expect(await adapter().expire?.(payment)).toBe(true);
    expect(await adapter().inquire(payment)).toEqual({ state: 'cancelled' });
  });

  it.each([
    ['an answer that is lost', (bank: ReturnType<typeof provider>) => bank.fail('lost', /tr_/)],
    [
      'a payment that does not exist',
      (bank: ReturnType<typeof provider>) => bank.refuse('cancel', { status: 404 }),
    ],
    [
      'a payment that stays open',
      (bank: ReturnType<typeof provider>) =>
        bank.respondOnce('cancel', { body: { status: 'open' } }),
    ],
  ])('throws when it cancels, for %s', async (_name, arrange) => {
    const payment = await opened();
    arrange(provider());
    await expect(adapter().expire?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('gives everything back once after a lost answer, and again after a refund that failed', async () => {
    const payment = await paid();
    provider().fail('lost', /refunds$/);
    provider().refundsAre('pending');
    onTestFinished(() => provider().refundsAre());
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    // As long as its list does not show it, the key protects the payment.
    const shown = provider().of(payment.reference)[0]!;
    const { json } = provider().calls.at(-1)!;
    expect(json['amount']).toEqual({ currency: 'EUR', value: '12.50' });
    expect(await adapter().reverse?.(payment)).toMatchObject({ result: 'refused' });
    expect(await adapter().inquire(payment)).toEqual({ state: 'processing' });
    shown.state = 'failed';
    expect(await adapter().reverse?.(payment)).toEqual({ result: 'pending' });
    const keys = provider()
      .calls.filter(({ method, path }) => method === 'POST' && path.includes(payment.reference))
      .map(keyOf);
    expect(keys).toEqual([`reverse:${payment.id}:0`, `reverse:${payment.id}:1`]);
    expect(provider().of(payment.reference)).toHaveLength(2);
  });

  it('reverses what a refund of the dashboard has left, and nothing of an unpaid payment', async () => {
    const payment = await paid();
    provider().refundAtDashboard(payment.reference, 1_000);
    expect(await adapter().reverse?.(payment)).toEqual({ result: 'reversed' });
    expect(provider().of(payment.reference)).toMatchObject([{ amount: 1_000 }, { amount: 250 }]);
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
    expect(await adapter().reverse?.(await opened())).toMatchObject({ result: 'refused' });
  });

  it.each([
    ['queued', 'pending'],
    ['processing', 'pending'],
    ['refunded', 'reversed'],
    ['failed', 'refused'],
    ['canceled', 'refused'],
  ])('returns for a reversal that is %s: %s', async (status, result) => {
    const payment = await paid();
    provider().refundsAre(status);
    onTestFinished(() => provider().refundsAre());
    expect(await adapter().reverse?.(payment)).toMatchObject({ result });
  });

  it('refunds with our id as the key and in the metadata', async () => {
    const payment = await paid();
    const refund = aGatewayRefund(400);
    const calls = await callsOf(() => adapter().refund!(payment, refund));
    expect(calls.map(keyOf)).toEqual([refund.id]);
    expect(calls[0]?.json).toEqual({
      amount: { currency: 'EUR', value: '4.00' },
      description: 'Two tickets',
      metadata: { payment_id: payment.id, refund_id: refund.id },
    });
  });

  it('lists the refunds of all pages, whatever host the links name', async () => {
    const payment = await paid();
    for (const amount of [100, 200, 300]) provider().refundAtDashboard(payment.reference, amount);
    provider().refundPagesHave(2);
    onTestFinished(() => provider().refundPagesHave(250));
    const calls = await callsOf(async () => {
      const refunds = await adapter().refunds!(payment, []);
      expect(refunds.map(({ amount }) => amount)).toEqual([300, 200, 100]);
    });
    const path = `/v2/payments/${payment.reference}/refunds?limit=250`;
    expect(calls.map((call) => call.path)).toEqual([
      path,
      expect.stringMatching(/limit=250&from=re_\d+$/),
    ]);
  });

  it('ends a list of refunds that is too long', async () => {
    const payment = await paid();
    for (let n = 0; n < 12; n += 1) provider().refundAtDashboard(payment.reference, 1);
    provider().refundPagesHave(1);
    onTestFinished(() => provider().refundPagesHave(250));
    await expect(adapter().refunds!(payment, [])).rejects.toThrow('too long');
  });

  it.each([
    ['an empty page', { _embedded: { refunds: [] } }],
    ['no position', { _links: { next: { href: 'https://api.mollie.com/v2/refunds' } } }],
  ])('throws for a following page that cannot be found: %s', async (_name, change) => {
    const payment = await paid();
    const next = { href: 'https://api.mollie.com/v2/refunds?from=re_1' };
    const body = { _embedded: { refunds: [] }, _links: { next }, ...change };
    provider().respondOnce('list refunds', { body });
    await expect(adapter().refunds!(payment, [])).rejects.toThrow(GatewayUnavailable);
  });

  it('throws for answers about another payment', async () => {
    const [payment, other] = [await paid(), await opened()];
    provider().refundAtDashboard(payment.reference, 100);
    provider().chargeBack(payment.reference);
    provider().mistakeFor(other.reference);
    onTestFinished(() => provider().mistakeFor(undefined));
    for (const call of ['verify', 'reverse', 'disputes'] as const)
      await expect(adapter()[call]?.(payment), call).rejects.toThrow('another payment');
    await expect(adapter().expire!(await opened())).rejects.toThrow('another payment');
    await expect(adapter().refunds!(payment, [])).rejects.toThrow('another payment');
    await expect(adapter().refund!(payment, aGatewayRefund(100))).rejects.toThrow(
      'another payment',
    );
  });
});

describe('mollie, chargebacks', () => {
  it('are lost disputes until they are reversed', async () => {
    const payment = await paid();
    expect(await adapter().disputes!(payment)).toEqual([]);
    provider().chargeBack(payment.reference, 400);
    provider().chargeBack(payment.reference).reversedAt = new Date();
    const facts = { stage: 'chargeback', currency: 'EUR', networkReason: null, respondBy: null };
    const openedAt = expect.any(Date) as Date;
    expect(await adapter().disputes!(payment)).toEqual([
      {
        ...facts,
        gatewayReference: 'chb_2',
        status: 'lost',
        amount: 400,
        reason: 'AC01',
        openedAt,
      },
      {
        ...facts,
        gatewayReference: 'chb_3',
        status: 'won',
        amount: 1250,
        reason: 'AC01',
        openedAt,
      },
    ]);
  });

  it('keeps a fraction of our unit, which equals no amount of ours', async () => {
    const payment = await paid();
    provider().refundAtDashboard(payment.reference, 399.5);
    provider().chargeBack(payment.reference, 400.1);
    expect(await adapter().refunds!(payment, [])).toMatchObject([{ amount: 399.5 }]);
    expect(await adapter().disputes!(payment)).toMatchObject([{ amount: 400.1 }]);
  });
});

describe('mollie, test and live', () => {
  it('rejects live payments and refunds in a sandbox account', async () => {
    const payment = await paid();
    provider().showMode('live');
    onTestFinished(() => provider().showMode('test'));
    expect(await adapter().open(aGatewayPayment(mollie.money))).toMatchObject({
      ...{ result: 'refused', code: 'test_mode_guard' },
    });
    for (const call of ['verify', 'reverse'] as const)
      await expect(adapter()[call]?.(payment), call).rejects.toThrow(AccountProblem);
    provider().refundAtDashboard(payment.reference, 100);
    await expect(adapter().refunds!(payment, [])).rejects.toThrow(AccountProblem);
  });

  it('has a book and payouts with a token of the organization alone', async () => {
    const without = adapterWith({ apiKey: 'test_0123456789abcdef' });
    expect([without.book, without.payout]).toEqual([undefined, undefined]);
    const period = { from: new Date(0), to: new Date() };
    const [call] = await callsOf(() => adapter().book!(period, null));
    expect(call?.headers).toMatchObject({ authorization: 'Bearer access_0123456789abcdef' });
    expect(call?.path).toBe('/v2/balances?limit=250&testmode=true');
  });
});
