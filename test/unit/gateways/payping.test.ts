import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { aGatewayPayment } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { payping } from '../../support/gateways/payping.ts';

const { provider, adapter, opened, callsOf } = aProvider(payping);

describe('payping', () => {
  it('opens in tomans, reversible, with its token in a header', async () => {
    const payment = aGatewayPayment(payping.money);
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
    // The documented page, not the URL in the response.
    const url = `${provider().url}/v3/pay/start/${reference}`;
    expect(opening).toEqual({ result: 'opened', reference, redirect: { method: 'GET', url } });
  });

  it.each([
    ...[101, 102, 103, 104, 105, 107, 111, 112, 113, 137, 164, 165].map((code) => [400, code]),
    [401, 0],
    [403, 0],
  ])('returns the refusal of an opening: %i, code %i', async (status, code) => {
    provider().refuse('', { status, code });
    expect(await adapter().open(aGatewayPayment(payping.money))).toEqual({
      result: 'refused',
      code: String(code),
      message: `problem ${code}`,
      ...(code === 104 && { failureCode: 'amount_not_accepted' }),
    });
  });

  it.each([401, 403])(
    'returns the refusal of an opening by %i, whatever its body is',
    async (status) => {
      provider().refuse('', { status, code: 'empty' });
      const opening = await adapter().open(aGatewayPayment(payping.money));
      expect(opening).toEqual({ result: 'refused', code: String(status), message: null });
    },
  );

  it.each([
    ['a success of another kind', 201, 0],
    ['a concurrent request', 409, 104],
    ['a temporary problem', 400, 106],
    ['a temporary problem', 400, 114],
    ['an undocumented code', 400, 999],
    ['an undocumented status', 422, 0],
    ['the problem of a proxy', 404, null],
    ['the problem of a proxy', 400, null],
  ])('throws when opening ends with %s: %i, code %o', async (_name, status, code) => {
    provider().refuse('', { status, code });
    await expect(adapter().open(aGatewayPayment(payping.money))).rejects.toThrow(
      GatewayUnavailable,
    );
  });

  it('verifies with the number of the report, without a return', async () => {
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

  it('stays processing until the verification succeeds', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    provider().verifyStatuses.push(202, 502);
    const states = [1, 2, 3].map(() => async () => (await adapter().verify(payment)).state);
    expect(await states[0]?.()).toBe('processing');
    expect(await states[1]?.()).toBe('processing');
    expect(await states[2]?.()).toBe('paid');
    expect(provider().book.get(payment.reference)).toMatchObject({ verified: 1 });
  });

  it.each([
    ['capitalised', (name: string) => name.charAt(0).toUpperCase() + name.slice(1)],
    ['in lower case', (name: string) => name.toLowerCase()],
  ])('reads fields that are spelled %s', async (_name, spelling) => {
    provider().spellAs(spelling);
    try {
      const payment = await opened();
      provider().pay(payment.reference);
      const { trackingCode } = provider().book.get(payment.reference)!;
      expect(await adapter().verify(payment)).toMatchObject({
        state: 'paid',
        trackingCode,
        cardPanMasked: '502229******1234',
      });
    } finally {
      provider().spellAs((name) => name);
    }
  });

  it('reads a report without its optional fields', async () => {
    const payment = await opened();
    provider().spellAs((name) => (/^(amount|paymentStatus)$/.test(name) ? name : `another${name}`));
    try {
      expect(await adapter().inquire(payment)).toEqual({ state: 'waiting' });
    } finally {
      provider().spellAs((name) => name);
    }
  });

  it('reverses once, however often it is told', async () => {
    const payment = await opened();
    expect(await adapter().reverse?.(payment)).toMatchObject({ result: 'refused', code: null });
    provider().pay(payment.reference);
    await adapter().verify(payment);
    expect(await adapter().reverse?.(payment)).toEqual({ result: 'reversed' });
    // The document has no code for it.
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    provider().fail('lost', /reverse/);
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
    expect(provider().book.get(payment.reference)).toMatchObject({ charged: 1, reversed: 1 });
  });

  it.each(['', 'OK', {}, { amount: '150' }])('is no reversal: 200 with %o', async (body) => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    provider().respondOnce('reverse', { status: 200, body });
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('is no reversal: a response about another payment', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    const body = { amount: 15_000, clientRefId: 'PAY_another' };
    provider().respondOnce('reverse', { status: 200, body });
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it('throws for a reversal of another amount', async () => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    const body = { amount: 14_999, clientRefId: payment.id };
    provider().respondOnce('reverse', { status: 200, body });
    await expect(adapter().reverse?.(payment)).rejects.toThrow(GatewayUnavailable);
  });

  it.each([134, 135])('returns the certain refusal of a reversal: %i', async (code) => {
    const payment = await opened();
    provider().pay(payment.reference);
    await adapter().verify(payment);
    provider().refuse('reverse', { status: 400, code });
    expect(await adapter().reverse?.(payment)).toEqual({
      result: 'refused',
      code: String(code),
      message: `problem ${code}`,
    });
  });

  it.each([
    // Being confirmed or reversed, bank not reached, conflicts, faults of theirs, unknown, about us.
    ...[155, 156, 114, 126, 130, 106, 108, 131, 999, 101, null].map((code) => ({
      status: 400,
      code,
    })),
    ...[156, 999].map((code) => ({ status: 409, code })),
    ...[202, 401, 403, 404].map((status) => ({ status, code: 0 })),
    { status: 202, code: 134 },
    { status: 202, code: null },
  ])('throws when a reversal ends with $status, code $code', async ({ status, code }) => {
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
