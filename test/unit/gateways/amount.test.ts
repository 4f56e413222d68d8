import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountBounds, currencyExponents } from '../../../contract/money.ts';
import {
  findProblems,
  fromDecimal,
  fromWire,
  toDecimal,
  toWire,
  type CurrencyTerms,
} from '../../../gateways/amount.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
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

describe('toDecimal and fromDecimal', () => {
  /** Every currency at a gateway whose wire has as many decimals, or more or fewer by `shift`. */
  const capabilitiesWith = (shift: number) => ({
    currencies: new Map<string, CurrencyTerms>(
      [...currencyExponents].map(([currency, exponent]) => [
        currency,
        { ...amountBounds, wireExponent: exponent + shift, step: 10 ** Math.max(-shift, 0) },
      ]),
    ),
  });
  const aCurrency = fc.constantFrom(...currencyExponents.keys());
  const aShift = fc.constantFrom(-1, 0, 1, 2);

  it('convert every amount to text and back, with the decimals of the wire', () => {
    const anAmount = fc.integer({ min: 1, max: Math.floor(amountBounds.max / 10) });
    fc.assert(
      fc.property(aCurrency, aShift, anAmount, (currency, shift, steps) => {
        const capabilities = capabilitiesWith(shift);
        const { step, wireExponent } = capabilities.currencies.get(currency)!;
        const money = { amount: steps * step, currency };
        const amount = toDecimal(capabilities, money);
        expect(amount.split('.')[1]?.length ?? 0).toBe(Math.max(wireExponent, 0));
        expect(BigInt(amount.replace('.', ''))).toBe(BigInt(toWire(capabilities, money)));
        expect(fromDecimal(capabilities, { currency, amount })).toBe(money.amount);
      }),
    );
  });

  it('read a fraction of our minor unit as a fraction', () => {
    const aFraction = fc.integer({ min: 1, max: 9 });
    const anAmount = fc.integer({ min: 0, max: amountBounds.max });
    fc.assert(
      fc.property(aCurrency, anAmount, aFraction, (currency, whole, tenths) => {
        const exponent = currencyExponents.get(currency)!;
        const digits = `${whole}${tenths}`.padStart(exponent + 2, '0');
        const amount = `${digits.slice(0, -exponent - 1)}.${digits.slice(-exponent - 1)}`;
        const minor = fromDecimal(capabilitiesWith(0), { currency, amount });
        expect(Number.isInteger(minor)).toBe(false);
        expect(minor).toBe(Number(`${whole}.${tenths}`));
      }),
    );
  });

  it.each([
    ['EUR', '10.50', 1_050],
    ['EUR', '10.5', 1_050],
    ['EUR', '10', 1_000],
    ['EUR', '10.505', 1_050.5],
    ['EUR', '-0.35', -35],
    ['EUR', '1.10', 110],
    ['EUR', '0.29', 29],
    ['EUR', '0.00', 0],
    ['JPY', '1050', 1_050],
    ['JPY', '1050.00', 1_050],
    ['KWD', '1.005', 1_005],
    ['EUR', '9999999999.99', 999_999_999_999],
    ['EUR', '1.0000000000001', 100.00000000001],
  ])('read %s %s as %d', (currency, amount, expected) => {
    expect(fromDecimal(capabilitiesWith(0), { currency, amount })).toBe(expected);
  });

  it('write and read tomans', () => {
    const tomans = {
      currencies: new Map([['IRR', { ...amountBounds, wireExponent: -1, step: 10 }]]),
    };
    expect(toDecimal(tomans, { amount: 15_000, currency: 'IRR' })).toBe('1500');
    expect(fromDecimal(tomans, { amount: '1500', currency: 'IRR' })).toBe(15_000);
  });

  it('leave the amount of a currency that the gateway does not take', () => {
    expect(fromDecimal(capabilitiesOf('zibal'), { amount: '10.50', currency: 'EUR' })).toBe(10.5);
  });

  it('throw for an amount that a create rejects', () => {
    const { currencies } = capabilitiesWith(-1);
    expect(() => toDecimal({ currencies }, { amount: 15, currency: 'EUR' })).toThrow(RangeError);
    expect(() => toDecimal({ currencies }, { amount: 10.5, currency: 'EUR' })).toThrow(RangeError);
    expect(() => toDecimal({ currencies }, { amount: 10, currency: 'XXX' })).toThrow(RangeError);
  });

  it.each([
    ...['', '.', '-', '10.', '.50', '+1', '--1', '1-', '1.2.3', '1e3', '1E3', '0x10', '1_000'],
    ...['10,50', '1,000.00', ' 10.50', '10.50 ', '10.50\n', '10 50', '10.50 EUR', '€10.50'],
    ...['Infinity', '-Infinity', 'NaN', 'null', '۱۰٫۵۰', '١٠', '１０', '−1.00'],
    // More digits than a double keeps, which could make a fraction an amount of ours.
    ...['10.500000000000001', '1234567890123456', '999999999999999.9'],
    // Exact as text, and not in minor units.
    '999999999999999',
  ])('do not read %j', (amount) => {
    expect(() => fromDecimal(capabilitiesWith(0), { amount, currency: 'EUR' })).toThrow(
      GatewayUnavailable,
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
