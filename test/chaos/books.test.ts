import { describe, expect, it } from 'vitest';
import { bookProblems, isOwed } from '../../chaos/books.ts';
import { aVisit, receipt } from './support.ts';

const failedBy = (failure_code: string | null) => ({
  ...{ status: 'failed', failure_code },
  ...{ tracking_code: null, card_pan_masked: null, paid_at: null },
});

const paid = () => ({
  ...{ status: 'paid', failure_code: null },
  tracking_code: receipt.trackingCode as string | null,
  card_pan_masked: receipt.card as string | null,
  paid_at: new Date().toISOString().replace('Z', '+00:00') as string | null,
});

/** Paid at the gateway and confirmed by us, each as the gateway does it. */
const aPaidVisit = async (options: Parameters<typeof aVisit>[0] = {}) => {
  const visit = await aVisit(options);
  const { gateway, reference, entry } = visit;
  gateway.decide(reference, 'paid');
  if (!gateway.oneStep) entry.verified = 1;
  return visit;
};

describe('what the books of a gateway allow', () => {
  it.each(['zarinpal', 'zibal', 'payping', 'stripe'])(
    'finds nothing where %s agrees',
    async (slug) => {
      const { payment } = await aPaidVisit({ slug });
      const told = { ...paid(), ...(slug === 'stripe' && { card_pan_masked: null }) };
      expect(bookProblems(payment, told)).toEqual([]);
    },
  );

  it('a card that only a verification tells may be lost with its answer, and not else', async () => {
    const { payment, gateway } = await aPaidVisit({ slug: 'payping' });
    const told = { ...paid(), card_pan_masked: null };
    const verify = () =>
      fetch(`${gateway.provider.url}/v3/pay/verify`, {
        method: 'POST',
        body: JSON.stringify({ paymentCode: payment.reference }),
      });
    await verify();
    expect(bookProblems(payment, told)).toEqual([
      `its card_pan_masked is null, and the gateway's ${receipt.card}`,
    ]);
    await verify();
    expect(bookProblems(payment, told)).toEqual([]);
  });

  it('FS-19: the gateway was told another amount than ours, whatever the payment ended as', async () => {
    const { payment, gateway, reference } = await aVisit({ wire: { amount: 500_000 } });
    gateway.decide(reference, 'paid');
    expect(bookProblems(payment, failedBy('amount_mismatch'))).toEqual([
      'reference is about 500000, and must be about 50000',
    ]);
  });

  it('FS-08: only the payer of that story pays another amount, and it is a mismatch', async () => {
    const { payment, gateway, reference } = await aVisit({ story: 'wrongAmount' });
    gateway.decide(reference, 'paid', 25_000);
    expect(bookProblems(payment, failedBy('amount_mismatch'))).toEqual([]);
    expect(bookProblems(payment, failedBy('unknown'))).toEqual([
      'its failure code is unknown, and must be amount_mismatch: another amount was paid',
    ]);
  });

  it('the gateway was told another currency than ours', async () => {
    const { payment } = await aPaidVisit({ slug: 'stripe', wire: { currency: 'usd' } });
    expect(bookProblems(payment, { ...paid(), card_pan_masked: null })).toEqual([
      'reference is in usd, and must be in eur',
    ]);
  });

  it.each([
    ['zarinpal', 'payment_not_completed'],
    ['zibal', 'insufficient_funds'],
    ['payping', 'gateway_error'],
    ['stripe', 'payment_not_completed'],
  ])('a refusal by %s is %s, and nothing else', async (slug, code) => {
    const { payment, gateway, reference } = await aVisit({ slug, story: 'refuse' });
    gateway.decide(reference, 'refused');
    expect(bookProblems(payment, failedBy(code))).toEqual([]);
    expect(bookProblems(payment, failedBy('card_declined'))).toEqual([
      `its failure code is card_declined, and must be ${code}: the payer’s card was refused`,
    ]);
    expect(bookProblems(payment, failedBy(null))).toHaveLength(1);
  });

  it('a payment that is not failed has no failure code', async () => {
    const { payment } = await aPaidVisit();
    expect(bookProblems(payment, { ...paid(), failure_code: 'unknown' })).toEqual([
      'its failure code is unknown, and must be null: it was paid in time',
    ]);
  });

  it('FS-14: a receipt lost with the answer of a verification is missed', async () => {
    const { payment } = await aPaidVisit();
    const told = { ...paid(), tracking_code: null, card_pan_masked: null };
    expect(bookProblems(payment, told)).toEqual([
      `its tracking_code is null, and the gateway's ${receipt.trackingCode}`,
      `its card_pan_masked is null, and the gateway's ${receipt.card}`,
    ]);
  });

  it('paid_at is there where it is paid, and not before the payer paid', async () => {
    const { payment } = await aPaidVisit();
    expect(bookProblems(payment, { ...paid(), paid_at: null })).toEqual([
      'it is paid, and its paid_at null',
    ]);
    const paid_at = new Date(Date.now() - 60_000).toISOString();
    expect(bookProblems(payment, { ...paid(), paid_at })).toEqual([
      `its paid_at, ${paid_at}, is before the payer paid`,
    ]);
  });

  it('what is not paid has no receipt', async () => {
    const { payment, gateway, reference } = await aVisit({ story: 'refuse' });
    gateway.decide(reference, 'refused');
    const told = { ...paid(), status: 'failed', failure_code: 'payment_not_completed' };
    expect(bookProblems(payment, told)).toHaveLength(3);
  });

  it('money that was taken on a mismatch is owed until it is back', async () => {
    const { payment, gateway, reference, entry } = await aVisit({
      ...{ slug: 'stripe', story: 'wrongAmount' },
    });
    gateway.decide(reference, 'paid', 25_000);
    const ended = failedBy('amount_mismatch');
    expect(isOwed(payment, ended)).toBe(true);
    expect(bookProblems(payment, ended)).toHaveLength(1);
    entry.reversed = 1;
    expect(isOwed(payment, ended)).toBe(false);
    expect(bookProblems(payment, ended)).toEqual([]);
  });
});
