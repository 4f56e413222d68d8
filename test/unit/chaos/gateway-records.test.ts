import { describe, expect, it } from 'vitest';
import { findGatewayProblems, owesMoney } from '../../../chaos/gateway-records.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

const failedBy = (failure_code: string | null) => ({
  status: 'failed',
  failure_code,
  tracking_code: null,
  card_pan_masked: null,
  paid_at: null,
});

const endedAs = (status: string) => ({ ...failedBy(null), status });

const paid = () => ({
  status: 'paid',
  failure_code: null,
  tracking_code: receipt.trackingCode as string | null,
  card_pan_masked: receipt.card as string | null,
  paid_at: new Date().toISOString().replace('Z', '+00:00') as string | null,
});

/** A payment that was paid at the gateway and confirmed by us. */
const aPaidVisit = async (options: Parameters<typeof aVisit>[0] = {}) => {
  const visit = await aVisit(options);
  const { gateway, reference, entry } = visit;
  gateway.decide(reference, 'paid');
  if (!gateway.oneStep) entry.verified = 1;
  return visit;
};

describe('the records of a gateway', () => {
  it.each(['zarinpal', 'zibal', 'payping', 'stripe'])(
    'agree with a paid payment of %s',
    async (slug) => {
      const { payment } = await aPaidVisit({ slug });
      const shown = { ...paid(), ...(slug === 'stripe' && { card_pan_masked: null }) };
      expect(findGatewayProblems(payment, shown)).toEqual([]);
    },
  );

  it('allow a card to be missing only after a repeated verification', async () => {
    const { payment, gateway } = await aPaidVisit({ slug: 'payping' });
    const shown = { ...paid(), card_pan_masked: null };
    const verify = () =>
      fetch(`${gateway.provider.url}/v3/pay/verify`, {
        method: 'POST',
        body: JSON.stringify({ paymentCode: payment.reference }),
      });
    await verify();
    expect(findGatewayProblems(payment, shown)).toEqual([
      `its card_pan_masked is null, and the gateway's ${receipt.card}`,
    ]);
    await verify();
    expect(findGatewayProblems(payment, shown)).toEqual([]);
  });

  it('reveal a request for another amount', async () => {
    const { payment, gateway, reference } = await aVisit({ request: { amount: 500_000 } });
    gateway.decide(reference, 'paid');
    expect(findGatewayProblems(payment, failedBy('amount_mismatch'))).toEqual([
      'reference is about 500000, and must be about 50000',
    ]);
  });

  it('require a mismatch when the payer paid another amount', async () => {
    const { payment, gateway, reference } = await aVisit({ behaviour: 'wrongAmount' });
    gateway.decide(reference, 'paid', 25_000);
    expect(findGatewayProblems(payment, failedBy('amount_mismatch'))).toEqual([]);
    expect(findGatewayProblems(payment, failedBy('unknown'))).toEqual([
      'its failure code is unknown, and must be amount_mismatch: another amount was paid',
    ]);
  });

  it('reveal a request in another currency', async () => {
    const { payment } = await aPaidVisit({ slug: 'stripe', request: { currency: 'usd' } });
    expect(findGatewayProblems(payment, { ...paid(), card_pan_masked: null })).toEqual([
      'reference is in usd, and must be in eur',
    ]);
  });

  it.each([
    ['zarinpal', 'payment_not_completed'],
    ['zibal', 'insufficient_funds'],
    ['payping', 'gateway_error'],
    ['stripe', 'payment_not_completed'],
  ])('require for a refusal by %s the failure code %s', async (slug, code) => {
    const { payment, gateway, reference } = await aVisit({ slug, behaviour: 'refuse' });
    gateway.decide(reference, 'refused');
    expect(findGatewayProblems(payment, failedBy(code))).toEqual([]);
    expect(findGatewayProblems(payment, failedBy('card_declined'))).toEqual([
      `its failure code is card_declined, and must be ${code}: the payer’s card was refused`,
    ]);
    expect(findGatewayProblems(payment, failedBy(null))).toHaveLength(1);
  });

  it('allow a failure code on a failed payment only', async () => {
    const { payment } = await aPaidVisit();
    expect(findGatewayProblems(payment, { ...paid(), failure_code: 'unknown' })).toEqual([
      'its failure code is unknown, and must be null: it was paid in time',
    ]);
  });

  it('reveal a missing receipt', async () => {
    const { payment } = await aPaidVisit();
    const shown = { ...paid(), tracking_code: null, card_pan_masked: null };
    expect(findGatewayProblems(payment, shown)).toEqual([
      `its tracking_code is null, and the gateway's ${receipt.trackingCode}`,
      `its card_pan_masked is null, and the gateway's ${receipt.card}`,
    ]);
  });

  it('require a paid_at after the payer paid', async () => {
    const { payment } = await aPaidVisit();
    expect(findGatewayProblems(payment, { ...paid(), paid_at: null })).toEqual([
      'it is paid, and its paid_at null',
    ]);
    const paid_at = new Date(Date.now() - 60_000).toISOString();
    expect(findGatewayProblems(payment, { ...paid(), paid_at })).toEqual([
      `its paid_at, ${paid_at}, is before the payer paid`,
    ]);
  });

  it('allow a receipt on a paid payment only', async () => {
    const { payment, gateway, reference } = await aVisit({ behaviour: 'refuse' });
    gateway.decide(reference, 'refused');
    const shown = { ...paid(), status: 'failed', failure_code: 'payment_not_completed' };
    expect(findGatewayProblems(payment, shown)).toHaveLength(3);
  });

  it('require the return of money that was taken on a mismatch', async () => {
    const { payment, gateway, reference, entry } = await aVisit({
      slug: 'stripe',
      behaviour: 'wrongAmount',
    });
    gateway.decide(reference, 'paid', 25_000);
    const outcome = failedBy('amount_mismatch');
    expect(owesMoney(payment, outcome)).toBe(true);
    expect(findGatewayProblems(payment, outcome)).toHaveLength(1);
    entry.reversed = 1;
    expect(owesMoney(payment, outcome)).toBe(false);
    expect(findGatewayProblems(payment, outcome)).toEqual([]);
  });
});

describe('the decision of the payer', () => {
  const all = ['paid', 'failed', 'cancelled', 'expired'];
  type Decided = 'nothing' | 'paid' | 'refused' | 'cancelled';

  it.each<[slug: string, Decided, when: 'in time' | 'late', allowed: string[]]>([
    ['zarinpal', 'nothing', 'in time', ['expired']],
    ['zarinpal', 'paid', 'in time', ['paid']],
    ['zarinpal', 'paid', 'late', ['paid', 'expired']],
    ['zarinpal', 'refused', 'in time', ['failed']],
    ['zarinpal', 'refused', 'late', ['failed', 'expired']],
    ['zarinpal', 'cancelled', 'in time', ['failed']],
    ['zibal', 'cancelled', 'in time', ['cancelled']],
    ['zibal', 'cancelled', 'late', ['cancelled', 'expired']],
    ['stripe', 'cancelled', 'in time', ['cancelled', 'expired']],
  ])('allows at %s after %s %s the statuses %j', async (slug, decided, when, allowed) => {
    const { payment, gateway, reference } = await aVisit({ slug });
    if (when === 'late') payment.expiresAt = Date.now() - 1_000;
    if (decided !== 'nothing') gateway.decide(reference, decided);
    const isFound = (status: string) =>
      findGatewayProblems(payment, endedAs(status)).some((text) =>
        text.startsWith(`it ended ${status}, `),
      );
    expect(all.filter((status) => !isFound(status))).toEqual(allowed);
  });

  it('allows an expired payment when another amount was paid late', async () => {
    const { payment, gateway, reference } = await aVisit({ behaviour: 'wrongAmount' });
    payment.expiresAt = Date.now() - 1_000;
    gateway.decide(reference, 'paid', 25_000);
    expect(findGatewayProblems(payment, endedAs('expired'))).toEqual([]);
    expect(findGatewayProblems(payment, endedAs('cancelled'))).toHaveLength(1);
  });

  it('requires gateway_error for a payment that was never opened', async () => {
    const { payment, gateway } = await aVisit();
    gateway.provider.book.clear();
    const { reference: _, ...unsent } = payment;
    expect(findGatewayProblems(unsent, failedBy('gateway_error'))).toEqual([]);
    expect(findGatewayProblems(unsent, failedBy('unknown'))).not.toEqual([]);
    expect(findGatewayProblems(payment, failedBy('gateway_error'))).not.toEqual([]);
  });
});

describe('the money', () => {
  const kept = /^it is paid, but the gateway did not keep the money/;
  const notBack = /^the payer's money is not back/;

  it('stays with the gateway of a paid payment', async () => {
    const { payment, entry } = await aPaidVisit();
    for (const lie of [{ verified: 0 }, { verified: 1, reversed: 1 }]) {
      Object.assign(entry, lie);
      expect(findGatewayProblems(payment, paid())).toEqual([expect.stringMatching(kept)]);
    }
    const other = await aPaidVisit({ slug: 'stripe' });
    other.entry.reversed = 1;
    const shown = { ...paid(), card_pan_masked: null };
    expect(findGatewayProblems(other.payment, shown)).toEqual([expect.stringMatching(kept)]);
  });

  it('must be returned when it came late and the payment expired', async () => {
    const { payment, gateway, reference, entry } = await aVisit();
    payment.expiresAt = Date.now() - 1_000;
    gateway.decide(reference, 'paid');
    const expired = endedAs('expired');
    expect([findGatewayProblems(payment, expired), owesMoney(payment, expired)]).toEqual([
      [],
      false,
    ]);
    entry.verified = 1;
    expect(findGatewayProblems(payment, expired)).toEqual([expect.stringMatching(notBack)]);
    expect([owesMoney(payment, expired), owesMoney(payment, paid())]).toEqual([true, false]);
    expect(findGatewayProblems(payment, paid())).toEqual([]);
    entry.reversed = 1;
    expect([findGatewayProblems(payment, expired), owesMoney(payment, expired)]).toEqual([
      [],
      false,
    ]);
  });

  it.each(['charged', 'verified', 'reversed'] as const)('is %s at most once', async (action) => {
    const { payment, entry } = await aPaidVisit();
    entry[action] = 2;
    expect(findGatewayProblems(payment, paid())).toContain(`reference was ${action} 2 times`);
  });

  it('is taken once when the payment was opened twice', async () => {
    const { payment, gateway, entry } = await aPaidVisit();
    gateway.provider.book.set('another', { ...entry });
    expect(findGatewayProblems(payment, paid())).toEqual(['the payer was charged 2 times']);
  });
});
