import { describe, expect, it, onTestFinished } from 'vitest';
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

  it.each([
    ['capitalised', (name: string) => name.charAt(0).toUpperCase() + name.slice(1)],
    ['in lower case', (name: string) => name.toLowerCase()],
  ])('reads fields that are spelled %s', async (_name, spelling) => {
    provider().spellAs(spelling);
    onTestFinished(() => provider().spellAs((name) => name));
    const payment = await opened();
    provider().pay(payment.reference);
    const { trackingCode } = provider().book.get(payment.reference)!;
    expect(await adapter().verify(payment)).toMatchObject({
      state: 'paid',
      trackingCode,
      cardPanMasked: '502229******1234',
    });
  });

  it('reads a report without its optional fields', async () => {
    const payment = await opened();
    provider().spellAs((name) => (/^(amount|paymentStatus)$/.test(name) ? name : `another${name}`));
    onTestFinished(() => provider().spellAs((name) => name));
    expect(await adapter().inquire(payment)).toEqual({ state: 'waiting' });
  });
});
