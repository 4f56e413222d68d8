import { describe, expect, it } from 'vitest';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { parseReturn } from '../../../gateways/registry.ts';
import { aGatewayPayment } from '../../support/gateways/fixture.ts';
import { aProvider } from '../../support/gateways/provider.ts';
import { zibal } from '../../support/gateways/zibal.ts';

const { provider, adapter, opened, callsOf } = aProvider(zibal);

describe('zibal', () => {
  it('opens in rials with our payment id, and redirects to its page', async () => {
    const payment = aGatewayPayment({ amount: 3_000_000_000, currency: 'IRR' });
    let opening: unknown;
    const [call] = await callsOf(async () => {
      opening = await adapter().open(payment);
    });
    expect(call).toMatchObject({ method: 'POST', path: '/v1/request' });
    expect(call?.json).toEqual({
      merchant: 'zibal',
      amount: 3_000_000_000,
      callbackUrl: payment.returnUrl,
      description: 'Two tickets',
      orderId: payment.id,
    });
    const [reference] = [...provider().book.keys()].slice(-1);
    const url = `${provider().url}/start/${reference}`;
    expect(opening).toEqual({ result: 'opened', reference, redirect: { method: 'GET', url } });
  });

  it.each([102, 103, 104, 105, 106, 111, 112, 113, 115])(
    'returns the refusal of an opening: %i',
    async (code) => {
      provider().refuse('request', code);
      expect(await adapter().open(aGatewayPayment(zibal.money))).toEqual({
        result: 'refused',
        code: String(code),
        message: `result ${code}`,
        ...([105, 113].includes(code) && { failureCode: 'amount_not_accepted' }),
      });
    },
  );

  it.each([-1, 0, 101, 116, 201, 999])(
    'throws for an undocumented refusal of an opening: %i',
    async (code) => {
      provider().refuse('request', code);
      await expect(adapter().open(aGatewayPayment(zibal.money))).rejects.toThrow(
        GatewayUnavailable,
      );
    },
  );

  it('does not verify an unpaid payment, and sends the reference as a number', async () => {
    const payment = await opened();
    const calls = await callsOf(() => adapter().verify(payment));
    expect(calls.map(({ path }) => path)).toEqual(['/v1/inquiry']);
    expect(calls[0]?.json['trackId']).toBe(Number(payment.reference));
  });

  it('reads a cancel from the return as a hint', async () => {
    const payment = await opened();
    provider().move(payment.reference, '3');
    const { url } = provider().back(payment.reference);
    expect(parseReturn('zibal', new URL(url).searchParams)).toBe('cancelled');
    expect(await adapter().verify(payment)).toEqual({ state: 'cancelled' });
  });

  it('has no reversal: its refund is another API with another credential', () => {
    expect(adapter().reverse).toBeUndefined();
  });
});

describe('zibal, live', () => {
  const live = aProvider(zibal, 'live');

  it('opens with the live merchant', async () => {
    const [call] = await live.callsOf(() => live.opened());
    expect(call?.json['merchant']).toBe('live-merchant');
  });
});
