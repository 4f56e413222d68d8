import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findProblems, fromWire, toWire } from '../../../gateways/amount.ts';
import type { Capabilities } from '../../../gateways/gateway.ts';
import { driverNames, findDriver, findPaymentProblems } from '../../../gateways/registry.ts';

const capabilitiesOf = (driver: string): Capabilities => findDriver(driver)!.capabilities;

describe('toWire and fromWire', () => {
  it.each(driverNames)(
    'convert every amount that %s takes to a whole number and back',
    (driver) => {
      const capabilities = capabilitiesOf(driver);
      const anAmount = fc
        .constantFrom(...capabilities.currencies)
        .chain(([currency, { min, max, step }]) =>
          fc
            .integer({ min: Math.ceil(min / step), max: Math.floor(max / step) })
            .map((steps) => ({ amount: steps * step, currency })),
        );
      fc.assert(
        fc.property(anAmount, (money) => {
          const amount = toWire(capabilities, money);
          expect(Number.isSafeInteger(amount) && amount > 0).toBe(true);
          expect(fromWire(capabilities, { ...money, amount })).toBe(money.amount);
        }),
      );
    },
  );

  it('do not round a confirmed amount: a part of our minor unit equals no amount', () => {
    // ISK has two decimals on Stripe's wire and none with us.
    expect(fromWire(capabilitiesOf('stripe'), { amount: 50_050, currency: 'ISK' })).toBe(500.5);
    expect(fromWire(capabilitiesOf('stripe'), { amount: 100, currency: 'IRR' })).toBe(100);
  });

  it('throw for an amount that a create rejects', () => {
    expect(() => toWire(capabilitiesOf('payping'), { amount: 15, currency: 'IRR' })).toThrow(
      RangeError,
    );
    expect(() => toWire(capabilitiesOf('zibal'), { amount: 15, currency: 'USD' })).toThrow(
      RangeError,
    );
  });
});

describe('findProblems', () => {
  const terms = { wireExponent: 2, min: 50, max: 1_000, step: 10 };
  const bounds = {
    currencies: new Map([['USD', terms]]),
    expirySeconds: { min: 600, max: 3_600 },
  };
  it.each([
    [{ amount: 50, currency: 'USD', expiresInSeconds: 600 }, []],
    [{ amount: 1_000, currency: 'USD', expiresInSeconds: 3_600 }, []],
    [{ amount: 49, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_bounds']],
    [{ amount: 1_001, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_bounds']],
    [{ amount: 55, currency: 'USD', expiresInSeconds: 600 }, ['amount gateway_step']],
    [{ amount: 50, currency: 'EUR', expiresInSeconds: 600 }, ['currency gateway_currency']],
    [{ amount: 50, currency: 'USD', expiresInSeconds: 599 }, ['expires_in gateway_bounds']],
    [
      { amount: 1, currency: 'USD', expiresInSeconds: 3_601 },
      ['amount gateway_bounds', 'expires_in gateway_bounds'],
    ],
  ])('returns for %o: %o', (payment, expected) => {
    const problems = findProblems(bounds, payment);
    expect(problems.map(({ path, rule }) => `${path} ${rule}`)).toEqual(expected);
  });

  it('finds nothing for an unknown driver', () => {
    for (const driver of ['idpay', '__proto__', 'toString'])
      expect(
        findPaymentProblems(driver, { amount: 1, currency: 'USD', expiresInSeconds: 60 }),
      ).toEqual([]);
  });

  it.each([
    ['stripe', 'GBP', 30, 99_999_999],
    ['stripe', 'EUR', 50, 99_999_999],
    ['stripe', 'HUF', 17_500, 99_999_999],
    ['stripe', 'JPY', 50, 99_999_999],
    // Sent with two zeros.
    ['stripe', 'ISK', 1, 999_999],
    // Sent without decimals.
    ['stripe', 'MGA', 100, 9_999_999_900],
    ['stripe', 'KWD', 10, 99_999_990],
    ['stripe', 'INR', 50, 999_999_999],
    ['stripe', 'COP', 50, 9_999_999_999],
    ['stripe', 'IDR', 50, 999_999_999_999],
    ['zarinpal', 'IRR', 1_000, 1_000_000_000],
    ['zibal', 'IRR', 1_001, 999_999_999_999],
    ['payping', 'IRR', 10_000, 500_000_000],
  ])('are for %s in %s: from %i to %i', (driver, currency, min, max) => {
    const rules = (amount: number) =>
      findPaymentProblems(driver, { amount, currency, expiresInSeconds: 1_800 }).map(
        ({ rule }) => rule,
      );
    expect([rules(min), rules(max)]).toEqual([[], []]);
    expect([rules(min - 1), rules(max + 1)]).toEqual([['gateway_bounds'], ['gateway_bounds']]);
  });
});
