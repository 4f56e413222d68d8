import { describe, expect, it } from 'vitest';
import { findRefundProblem } from '../../../gateways/refundable.ts';
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
  refundableUntil: null,
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
  ];
  const circumstances = [
    {},
    { refundableUntil: hours(-1) },
    { refundableUntil: hours(1) },
    { hasRefundCredentials: false },
    { paidAt: now },
  ];
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
    ['that the time is over', { refundableUntil: hours(-1) }, { amount: 1250 }],
    [
      'that the account has no credentials',
      { driver: 'zibal', currency: 'IRR', hasRefundCredentials: false },
      { amount: 1250 },
    ],
    ['that the gateway cannot do it', { driver: 'payping' }, { amount: 1250 }],
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
