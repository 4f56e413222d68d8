import { describe, expect, it } from 'vitest';
import { findRefundProblem, refundableOf } from '../../../gateways/refundable.ts';
import { driverNames } from '../../../gateways/registry.ts';

const now = new Date('2026-11-20T12:00:00Z');
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000);
const paid = {
  driver: 'stripe',
  status: 'paid',
  currency: 'EUR',
  amount: 1250,
  amountRefunded: 0,
  amountRefundPending: 0,
  amountDisputed: 0,
  hasRefundCredentials: true,
  paidAt: hours(-48),
} as const;
const codeOf = (...asked: Parameters<typeof findRefundProblem>) =>
  findRefundProblem(...asked)?.code;

describe('findRefundProblem', () => {
  const gone = [
    { amountRefunded: 1250 },
    { amountRefundPending: 1250 },
    { amountRefunded: 250, amountRefundPending: 1000 },
    { amountRefunded: 1300 },
    { amountDisputed: 1250 },
    { amountRefunded: 300, amountDisputed: 1000 },
  ];
  const circumstances = [{}, { hasRefundCredentials: false }, { paidAt: now }];
  const requests = [
    { amount: 0 },
    { amount: 1 },
    { amount: 1250 },
    { amount: 0, refundableAmount: 1250 },
    { amount: 0, recorded: true },
  ];

  it.each(driverNames)('says that nothing is left whatever else %s could not do', (driver) => {
    for (const sums of gone)
      for (const circumstance of circumstances)
        for (const wanted of requests)
          expect(codeOf({ ...paid, driver, ...sums, ...circumstance }, wanted, now)).toBe(
            'REFUND_EXCEEDS_PAYMENT',
          );
  });

  it.each([
    ['that the time is over', { driver: 'payping', currency: 'IRR' }, { amount: 1250 }],
    [
      'that the account has no credentials',
      { driver: 'zibal', currency: 'IRR', hasRefundCredentials: false },
      { amount: 1250 },
    ],
    ['that the gateway cannot do it', { driver: 'payping', paidAt: now }, { amount: 1000 }],
  ])('says %s while something is left', (_, circumstance, wanted) => {
    expect(codeOf({ ...paid, ...circumstance }, wanted, now)).toBe('REFUND_NOT_SUPPORTED');
  });

  it('says that another amount is left, and that it is too much', () => {
    const partly = { ...paid, amountRefunded: 250 };
    const believed = { amount: 1000, refundableAmount: 1250 };
    expect(codeOf(partly, believed, now)).toBe('REFUNDABLE_AMOUNT_CHANGED');
    expect(codeOf(partly, { amount: 1001 }, now)).toBe('REFUND_EXCEEDS_PAYMENT');
    expect(codeOf(partly, { amount: 1000 }, now)).toBeUndefined();
  });

  it('names the status of a payment that is not paid', () => {
    const failed = { ...paid, status: 'failed' } as const;
    expect(codeOf(failed, { amount: 0 }, now)).toBe('PAYMENT_NOT_REFUNDABLE');
  });
});

const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
const rials = { ...paid, currency: 'IRR', amount: 150_000, paidAt: minutes(-24) };
/** 25 minutes after the payment: a reversal is not begun in the last five of its time. */
const beforeTheEnd = minutes(1);

describe('refundableOf', () => {
  it.each([
    // Without credentials for refunds ZarinPal only reverses, and Zibal gives nothing back.
    ['zarinpal', { hasRefundCredentials: false }, 150_000, beforeTheEnd],
    ['zarinpal', { hasRefundCredentials: false, paidAt: minutes(-25) }, 0, now],
    ['zarinpal', { hasRefundCredentials: false, amountRefunded: 1 }, 0, beforeTheEnd],
    ['zibal', { hasRefundCredentials: false }, 0, minutes(-24)],
    ['zarinpal', {}, 150_000, null],
    ['zarinpal', { paidAt: hours(-48) }, 150_000, null],
    ['zibal', {}, 150_000, null],
    // One refund for each payment, and the one that is pending may be it.
    ['zarinpal', { amountRefunded: 50_000 }, 0, null],
    ['zarinpal', { amountRefundPending: 50_000 }, 0, null],
    ['zibal', { amountRefunded: 50_000 }, 100_000, null],
    ['zibal', { amountRefundPending: 50_000 }, 100_000, null],
    // Below the least amount only a reversal of everything is possible.
    ['zarinpal', { amount: 19_999 }, 19_999, null],
    ['zarinpal', { amount: 19_999, paidAt: minutes(-25) }, 0, null],
    ['zibal', { amountRefunded: 149_001 }, 0, null],
    ['zibal', { amountRefundPending: 149_001 }, 0, null],
    ['payping', {}, 150_000, beforeTheEnd],
    ['payping', { amountRefunded: 10 }, 0, beforeTheEnd],
    ['payping', { paidAt: minutes(-25) }, 0, now],
    ['stripe', { currency: 'EUR', amountRefundPending: 1 }, 149_999, null],
    // A rest that somebody left who gave money back elsewhere.
    ['stripe', { currency: 'MGA', amountRefunded: 30 }, 149_900, null],
    ['unknown', {}, 0, minutes(-24)],
    ['stripe', { currency: 'EUR', status: 'failed', paidAt: null }, 0, null],
  ] as const)('%s, %o: gives %i back until %o', (driver, circumstance, refundable, until) => {
    expect(refundableOf({ ...rials, driver, ...circumstance }, now)).toEqual({
      refundable,
      refundableUntil: until,
    });
  });

  it.each(driverNames)('promises at %s the most that a refund may have', (driver) => {
    const sums = [0, 1, 130_001, 149_001, 150_000].flatMap((amountRefunded) =>
      [0, 1, 20_000].map((amountRefundPending) => ({ amountRefunded, amountRefundPending })),
    );
    for (const hasRefundCredentials of [true, false])
      for (const paidAt of [minutes(-24), minutes(-26), hours(-9999)])
        for (const each of sums) {
          const payment = { ...rials, driver, hasRefundCredentials, paidAt, ...each };
          const { refundable } = refundableOf(payment, now);
          const problem = refundable > 0 && codeOf(payment, { amount: refundable }, now);
          expect([undefined, false, 'REFUND_IN_PROGRESS']).toContain(problem);
          const left = 150_000 - each.amountRefunded - each.amountRefundPending;
          if (refundable < left) expect(codeOf(payment, { amount: left }, now)).toBeDefined();
          // The caller may send the field back as what it believes.
          if (refundable > 0)
            expect(codeOf(payment, { amount: 1, refundableAmount: refundable }, now)).not.toBe(
              'REFUNDABLE_AMOUNT_CHANGED',
            );
        }
  });
});
