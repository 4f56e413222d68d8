import { describe, expect, it } from 'vitest';
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
