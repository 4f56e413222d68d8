import { expect, it } from 'vitest';
import { findGatewayProblems, owesMoney } from '../../../chaos/gateway-records.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

const nobody = { tracking_code: null, card_pan_masked: null, paid_at: null };
const endedAs = (status: string, failure_code: string | null = null) => ({
  status,
  failure_code,
  ...nobody,
});

it('requires a mismatch and the money back when another amount was paid', async () => {
  const visit = await aVisit({ slug: 'stripe', behaviour: 'wrongAmount' });
  const { payment, gateway, reference, entry } = visit;
  gateway.decide(reference, 'paid', 25_000);
  const mismatch = endedAs('failed', 'amount_mismatch');
  const found = (shown: typeof mismatch) => findGatewayProblems(payment, shown).length;
  expect([owesMoney(payment, mismatch), found(mismatch)]).toEqual([true, 1]);
  entry.reversed = 1;
  expect([owesMoney(payment, mismatch), found(mismatch)]).toEqual([false, 0]);
  expect(found(endedAs('failed', 'unknown'))).toBe(1);
  payment.expiresAt = 0;
  expect(['expired', 'cancelled'].map((status) => found(endedAs(status)))).toEqual([0, 1]);
});

it('requires the return of money that came late when the payment expired', async () => {
  const { payment, gateway, reference, entry } = await aVisit();
  payment.expiresAt = Date.now() - 1_000;
  gateway.decide(reference, 'paid');
  const expired = endedAs('expired');
  const found = () => [findGatewayProblems(payment, expired).length, owesMoney(payment, expired)];
  expect(found()).toEqual([0, false]);
  entry.verified = 1;
  expect(found()).toEqual([1, true]);
  expect(owesMoney(payment, endedAs('paid'))).toBe(false);
  entry.reversed = 1;
  expect(found()).toEqual([0, false]);
});

it('requires gateway_error for a payment that was never opened', async () => {
  const { payment, gateway } = await aVisit();
  gateway.provider.book.clear();
  const { reference: _, ...unsent } = payment;
  expect(findGatewayProblems(unsent, endedAs('failed', 'gateway_error'))).toEqual([]);
  expect(findGatewayProblems(unsent, endedAs('failed', 'unknown'))).not.toEqual([]);
  expect(findGatewayProblems(payment, endedAs('failed', 'gateway_error'))).not.toEqual([]);
});

it.each([
  ['stripe', 1],
  ['mollie', 0],
])(
  'allows a payment whose payer did nothing to be cancelled where closing looks so: %s',
  async (slug, count) => {
    const { payment } = await aVisit({ slug, behaviour: 'leave' });
    expect(findGatewayProblems(payment, endedAs('cancelled'))).toHaveLength(count);
  },
);

it('allows a card to be missing only after a repeated verification', async () => {
  const { payment, gateway, reference } = await aVisit({ slug: 'payping' });
  gateway.decide(reference, 'paid');
  const shown = { ...endedAs('paid'), tracking_code: receipt.trackingCode };
  const body = JSON.stringify({ paymentCode: reference });
  const url = `${gateway.provider.url}/v3/pay/verify`;
  const found: number[] = [];
  for (let times = 0; times < 2; times += 1) {
    await fetch(url, { method: 'POST', body });
    found.push(findGatewayProblems(payment, shown).filter((text) => /card/.test(text)).length);
  }
  expect(found).toEqual([1, 0]);
});
