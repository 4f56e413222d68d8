import { Locale2 } from 'mollie-api-typescript/models';
import { describe, expect, it } from 'vitest';
import { mollieLocaleOf } from '../../../gateways/mollie-locales.ts';
import { aGatewayPayment, aGatewayRefund } from '../../support/gateways/fixture.ts';
import { differencesOf } from '../../support/gateways/mollie-document.ts';
import { mollie } from '../../support/gateways/mollie.ts';
import { aProvider } from '../../support/gateways/provider.ts';

const { provider, adapter, opened, paid } = aProvider(mollie);
const differences = () =>
  provider().answers.flatMap(({ call, reply }) => differencesOf(call, reply));

/** Every call of the driver, and every answer of the fake. */
const useEverything = async () => {
  const bank = provider();
  const payer = { email: 'a@example.com', mobile: '+31612345678', locale: 'de-AT', name: 'A B' };
  await adapter().open({
    ...aGatewayPayment(mollie.money),
    payer,
    reportUrl: 'https://pay.example/r',
  });
  for (const state of ['open', 'pending', 'authorized', 'canceled', 'expired', 'failed']) {
    const payment = await opened();
    bank.failWith(state === 'failed' ? { failureReason: 'card_declined' } : null);
    bank.move(payment.reference, state);
    await adapter().inquire(payment);
  }
  bank.failWith(null);
  const payment = await paid();
  await adapter().refund!(payment, aGatewayRefund(400));
  bank.refundAtDashboard(payment.reference, 100);
  bank.refundPagesHave(1);
  for (const status of ['queued', 'pending', 'processing', 'failed', 'canceled', 'refunded']) {
    bank.moveRefunds(payment.reference, status);
    await adapter().refunds!(payment, []);
  }
  await adapter().reverse!(payment);
  const refused = await adapter().refund!(payment, aGatewayRefund(9_999));
  expect(refused).toMatchObject({ result: 'refused' });
  await adapter().expire!(payment);
  await adapter().expire!(await opened());
  bank.chargeBack(payment.reference).reversedAt = new Date();
  bank.chargeBack(payment.reference);
  await adapter().disputes!(payment);
  bank.moveBalance('refund', { amount: -400, deducted: { fees: -25, reservations: -10 } });
  bank.moveBalance('payment', { amount: 400, currency: 'GBP' });
  const { id } = bank.settle(1_000);
  const period = { from: new Date(0), to: new Date(Date.now() + 60_000) };
  bank.pagesHave(2);
  let next: string | null = null;
  do ({ next } = await adapter().book!(period, next));
  while (next !== null);
  await adapter().payout!(id);
  await adapter()
    .inquire({ ...payment, reference: 'tr_unknown' })
    .catch(() => {});
};

describe("mollie and its fake speak Mollie's OpenAPI document", () => {
  it('in every call and every answer', async () => {
    await useEverything();
    expect(differences()).toEqual([]);
    const operations = new Set(
      provider().answers.map(({ call, reply }) => {
        const path = call.path.replace(/\?.*/, '').replaceAll(/\/(tr|bal|stl)_\w+/g, '/*');
        return `${call.method} ${path} ${reply.status ?? 200}`;
      }),
    );
    expect([...operations].toSorted()).toEqual([
      'DELETE /v2/payments/* 200',
      'DELETE /v2/payments/* 422',
      'GET /v2/balances 200',
      'GET /v2/balances/*/transactions 200',
      'GET /v2/payments/* 200',
      'GET /v2/payments/* 404',
      'GET /v2/payments/*/chargebacks 200',
      'GET /v2/payments/*/refunds 200',
      'GET /v2/settlements/* 200',
      'POST /v2/payments 201',
      'POST /v2/payments/*/refunds 201',
      'POST /v2/payments/*/refunds 422',
    ]);
  });

  it.each([
    ['a field that is not documented', { more: 1 }, /answer 200\.more$/],
    ['a field of another type', { id: 1 }, /Expected string/],
    ['a missing field', { profileId: undefined }, /profileId/],
    ['a word that is not documented', { status: 'shipped' }, /1 unknown words/],
  ])('and the check finds %s', async (_name, change, difference) => {
    await adapter().inquire(await opened());
    const { call, reply } = provider().answers.at(-1)!;
    expect(differencesOf(call, reply)).toEqual([]);
    const body = { ...(reply.body as object), ...change };
    expect(differencesOf(call, { ...reply, body })).toEqual([expect.stringMatching(difference)]);
  });

  it('and the check finds a request that is not documented', async () => {
    await opened();
    const { call, reply } = provider().answers.at(-1)!;
    const changed = { ...call, json: { ...call.json, expiresAt: '2026-11-29' } };
    expect(differencesOf(changed, reply)).toEqual(['POST /v2/payments: body.expiresAt']);
    expect(differencesOf({ ...call, path: '/v2/payments?include=nothing&more=1' }, reply)).toEqual([
      'POST /v2/payments: parameters.more',
    ]);
  });

  it('has every locale of the document', () => {
    for (const locale of Object.values(Locale2)) expect(mollieLocaleOf(locale)).toBe(locale);
    expect(mollieLocaleOf('de')).toBe('de_DE');
    expect(mollieLocaleOf('en-AU')).toBe('en_GB');
    expect(mollieLocaleOf('fa')).toBeUndefined();
    expect(mollieLocaleOf('')).toBeUndefined();
  });
});
