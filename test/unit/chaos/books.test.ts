import { describe, expect, it } from 'vitest';
import { bookProblems, isOwed } from '../../../chaos/books.ts';
import { aVisit, receipt } from '../../support/chaos/support.ts';

const failedBy = (failure_code: string | null) => ({
  ...{ status: 'failed', failure_code },
  ...{ tracking_code: null, card_pan_masked: null, paid_at: null },
});

const endedAs = (status: string) => ({ ...failedBy(null), status });

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

describe('what the payer decided allows these ends', () => {
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
  ])('%s: %s %s: %j', async (slug, decided, when, allowed) => {
    const { payment, gateway, reference } = await aVisit({ slug });
    if (when === 'late') payment.expiresAt = Date.now() - 1_000;
    if (decided !== 'nothing') gateway.decide(reference, decided);
    const isFound = (status: string) =>
      bookProblems(payment, endedAs(status)).some((text) =>
        text.startsWith(`it ended ${status}, `),
      );
    expect(all.filter((status) => !isFound(status))).toEqual(allowed);
  });

  it('and another amount, paid late, may be found by nobody', async () => {
    const { payment, gateway, reference } = await aVisit({ story: 'wrongAmount' });
    payment.expiresAt = Date.now() - 1_000;
    gateway.decide(reference, 'paid', 25_000);
    expect(bookProblems(payment, endedAs('expired'))).toEqual([]);
    expect(bookProblems(payment, endedAs('cancelled'))).toHaveLength(1);
  });

  it('and what could not be opened until its deadline is failed, which nobody was sent to', async () => {
    const { payment, gateway } = await aVisit();
    gateway.provider.book.clear();
    const { reference: _, ...unsent } = payment;
    expect(bookProblems(unsent, failedBy('gateway_error'))).toEqual([]);
    expect(bookProblems(unsent, failedBy('unknown'))).not.toEqual([]);
    expect(bookProblems(payment, failedBy('gateway_error'))).not.toEqual([]);
  });
});

describe('the money is where the end says', () => {
  const kept = /^it is paid, but the gateway did not keep the money/;
  const notBack = /^the payer's money is not back/;

  it('stays with the gateway where it is paid', async () => {
    const { payment, entry } = await aPaidVisit();
    for (const lie of [{ verified: 0 }, { verified: 1, reversed: 1 }]) {
      Object.assign(entry, lie);
      expect(bookProblems(payment, paid())).toEqual([expect.stringMatching(kept)]);
    }
    const other = await aPaidVisit({ slug: 'stripe' });
    other.entry.reversed = 1;
    const told = { ...paid(), card_pan_masked: null };
    expect(bookProblems(other.payment, told)).toEqual([expect.stringMatching(kept)]);
  });

  it('FS-16: is back where it came late and the payment expired, and is owed until then', async () => {
    const { payment, gateway, reference, entry } = await aVisit();
    payment.expiresAt = Date.now() - 1_000;
    gateway.decide(reference, 'paid');
    const expired = endedAs('expired');
    expect([bookProblems(payment, expired), isOwed(payment, expired)]).toEqual([[], false]);
    entry.verified = 1;
    expect(bookProblems(payment, expired)).toEqual([expect.stringMatching(notBack)]);
    expect([isOwed(payment, expired), isOwed(payment, paid())]).toEqual([true, false]);
    expect(bookProblems(payment, paid())).toEqual([]);
    entry.reversed = 1;
    expect([bookProblems(payment, expired), isOwed(payment, expired)]).toEqual([[], false]);
  });

  it.each(['charged', 'verified', 'reversed'] as const)('is %s once', async (what) => {
    const { payment, entry } = await aPaidVisit();
    entry[what] = 2;
    expect(bookProblems(payment, paid())).toContain(`reference was ${what} 2 times`);
  });

  it('is taken once, also where it was opened twice', async () => {
    const { payment, gateway, entry } = await aPaidVisit();
    gateway.provider.book.set('another', { ...entry });
    expect(bookProblems(payment, paid())).toEqual(['the payer was charged 2 times']);
  });
});
