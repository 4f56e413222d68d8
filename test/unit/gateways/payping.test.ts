import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { aPayment } from '../../support/gateways/subject.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { payping } from '../../support/gateways/payping.ts';

const { provider, adapter, opened, callsOf } = aProvider(payping);

describe('payping', () => {
  it('opens in tomans, reversible, with its token in a header alone', async () => {
    const payment = aPayment(payping.money);
    let opening: unknown;
    const [call] = await callsOf(async () => {
      opening = await adapter().open(payment);
    });
    expect(call).toMatchObject({ method: 'POST', path: '/v3/pay' });
    expect(call?.headers.authorization).toBe('bearer test-token-0123456789');
    expect(call?.json).toEqual({
      amount: 15_000,
      returnUrl: payment.returnUrl,
      description: 'Two tickets',
      clientRefId: payment.id,
      isReversible: true,
    });
    const [reference] = [...provider().book.keys()].slice(-1);
    // Its documented page, not whatever address the answer holds.
    const url = `${provider().url}/v3/pay/start/${reference}`;
    expect(opening).toEqual({ result: 'opened', reference, redirect: { method: 'GET', url } });
  });

  it.each([
    ...[101, 102, 103, 104, 105, 107, 111, 112, 113, 137, 164, 165].map((code) => [400, code]),
    [401, 0],
    [403, 0],
  ])('is refused at opening: %i, code %i', async (status, code) => {
    provider().refuse('', { status, code });
    expect(await adapter().open(aPayment(payping.money))).toEqual({
      result: 'refused',
      code: String(code),
      message: `problem ${code}`,
    });
  });

  it.each([401, 403])(
    'is refused at opening by %i alone, whatever stands in it',
    async (status) => {
      provider().refuse('', { status, code: 'empty' });
      const opening = await adapter().open(aPayment(payping.money));
      expect(opening).toEqual({ result: 'refused', code: String(status), message: null });
    },
  );

  it.each([
    ['a success of another kind', 201, 0],
    ['a twin', 409, 104],
    ['what passes', 400, 106],
    ['what passes', 400, 114],
    ['what is in no document', 400, 999],
    ['what is in no document', 422, 0],
    ['no problem of its own', 404, null],
    ['no problem of its own', 400, null],
  ])('is not refused at opening by %s: %i, code %o', async (_what, status, code) => {
    provider().refuse('', { status, code });
    await expect(adapter().open(aPayment(payping.money))).rejects.toThrow(GatewayUnavailable);
  });

  it('FS-05: verifies by the number of the report, without any return', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    const calls = await callsOf(() => adapter().verify(payment));
    expect(calls.map(({ path }) => path)).toEqual([
      `/v1/report/${payment.reference}`,
      '/v3/pay/verify',
    ]);
    const { trackingCode } = provider().book.get(payment.reference)!;
    expect(calls[1]?.json).toEqual({
      paymentRefId: Number(trackingCode),
      paymentCode: payment.reference,
      amount: 15_000,
    });
  });

  it('is settling until it is paid', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().settling.push(202, 502);
    const states = [1, 2, 3].map(() => async () => (await adapter().verify(payment)).state);
    expect(await states[0]?.()).toBe('processing');
    expect(await states[1]?.()).toBe('processing');
    expect(await states[2]?.()).toBe('paid');
    expect(provider().book.get(payment.reference)).toMatchObject({ verified: 1 });
  });

  it.each([
    ['in capitals', (name: string) => name.charAt(0).toUpperCase() + name.slice(1)],
    ['in small letters', (name: string) => name.toLowerCase()],
  ])('FS-14: reads its fields also where it spells them %s', async (_how, spelling) => {
    provider().spellAs(spelling);
    try {
      const payment = await opened();
      provider().pay(payment.reference);
      const { trackingCode } = provider().book.get(payment.reference)!;
      expect(await adapter().verify(payment)).toMatchObject({
        ...{ state: 'paid', trackingCode, cardPanMasked: '502229******1234' },
      });
    } finally {
      provider().spellAs((name) => name);
    }
  });

  it('reads a report without what it may leave out', async () => {
    const payment = await opened();
    provider().spellAs((name) => (/^(amount|paymentStatus)$/.test(name) ? name : `another${name}`));
    try {
      expect(await adapter().inquire(payment)).toEqual({ state: 'waiting' });
    } finally {
      provider().spellAs((name) => name);
    }
  });

  it('FS-21: reverses once, and is refused what cannot be reversed', async () => {
    const payment = await opened();
    expect(await adapter().reverse?.(payment)).toMatchObject({ result: 'refused', code: null });
    provider().pay(payment.reference);
    await adapter().verify(payment);
    expect(await adapter().reverse?.(payment)).toEqual({ result: 'reversed' });
    expect(await adapter().reverse?.(payment)).toMatchObject({ result: 'refused', code: '131' });
    provider().fail('lost', /reverse/);
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    expect(provider().book.get(payment.reference)).toMatchObject({ charged: 1, reversed: 1 });
  });

  it.each([
    ['202', 202, null],
    ['code 155', 400, 155],
    ['code 156', 409, 156],
  ])('FS-21: is not refused a reversal that is under way: %s', async (_what, status, code) => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    provider().refuse('reverse', { status, code });
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    expect(await adapter().inquire(payment)).toMatchObject({ state: 'paid' });
    provider().refund(payment.reference, 2);
    expect(await adapter().inquire(payment)).toMatchObject({ failureCode: 'payment_reversed' });
  });
});

describe('payping, live', () => {
  const live = aProvider(payping, 'live');

  it('opens with the live token', async () => {
    const [call] = await live.callsOf(() => live.opened());
    expect(call?.headers.authorization).toBe('bearer live-token-0123456789');
  });
});
