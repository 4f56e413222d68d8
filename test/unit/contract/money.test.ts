import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountBounds,
  currencyExponents,
  formatMoney,
  parseMoney,
  parseMoneyOf,
  typedMoney,
} from '../../../contract/money.ts';

const anyMoney = fc.record({
  amount: fc.integer(amountBounds),
  currency: fc.constantFrom(...currencyExponents.keys()),
});

describe('currencyExponents', () => {
  it('has no retired currency, no metal, no test code and no other spelling', () => {
    const none = ['IRT', 'BGN', 'XXX', 'XTS', 'XAU', 'DEM', 'usd', '', '__proto__'];
    expect(none.filter((currency) => currencyExponents.has(currency))).toEqual([]);
  });

  // Intl follows CLDR, which shows fewer decimals than ISO 4217 has for these.
  const cldrDiffers = new Set(
    'AFN ALL COP HUF IDR IQD KPW LAK LBP MGA MMK PKR SOS SYP YER'.split(' '),
  );
  it('agrees with Intl where Intl follows ISO 4217', () => {
    const differing = [...currencyExponents].filter(([currency, exponent]) => {
      const format = new Intl.NumberFormat('en', { style: 'currency', currency });
      return (
        format.resolvedOptions().maximumFractionDigits !== exponent && !cldrDiffers.has(currency)
      );
    });
    expect(differing).toEqual([]);
  });

  it('has two decimal places where Intl shows fewer, but for the dinar', () => {
    const others = [...cldrDiffers].filter((currency) => currencyExponents.get(currency) !== 2);
    expect(others).toEqual(['IQD']);
  });

  it('has every currency of Intl except retired ones and units that are not money', () => {
    const unknown = Intl.supportedValuesOf('currency').filter(
      (currency) => !currencyExponents.has(currency),
    );
    expect(unknown.join(' ')).toBe('ANG BGN CUC HRK SLL XDR XSU ZWL');
  });
});

describe('formatMoney', () => {
  it.each([
    [1_250, 'USD', '12.50 USD'],
    [5, 'USD', '0.05 USD'],
    [100, 'USD', '1.00 USD'],
    [1, 'KWD', '0.001 KWD'],
    [1_234_567, 'JPY', '1,234,567 JPY'],
    [150_000, 'IRR', '150,000 IRR'],
    [999_999_999_999, 'EUR', '9,999,999,999.99 EUR'],
    [12_345_678, 'CLF', '1,234.5678 CLF'],
  ])('formats %i %s as %s', (amount, currency, text) => {
    expect(formatMoney({ amount, currency })).toBe(text);
  });

  it('keeps every digit of every amount', () => {
    fc.assert(
      fc.property(anyMoney, (money) => {
        expect(Number(formatMoney(money).replaceAll(/\D/g, ''))).toBe(money.amount);
      }),
    );
  });
});

describe('parseMoney', () => {
  it('reads what formatMoney writes, without its commas', () => {
    fc.assert(
      fc.property(anyMoney, (each) => {
        expect(parseMoney(formatMoney(each).replaceAll(',', ''))).toEqual(each);
      }),
    );
  });

  it.each([
    ...['6.5 USD', '6.500 USD', '6,500 USD', '6,500 KWD', '1,250 JPY', '1,250.00 USD'],
    ...['06.50 USD', '6.50', '6.50 usd', '1e2 USD', '0 USD', '0.00 USD', '600.00 JPY'],
    ...['600', '1e2', '0x10', ' 5', '+5', '-5', '05', '0', '', '1000000000000', '6.00 XXX'],
    ...['1,000.00 USD', '-6.00 USD', '+6.00 USD', '6.00USD', '6.00  USD', '.50 USD', '6. USD'],
    ...['USD 6.00', '6.00 USD ', '6.00 USDO'],
  ])('refuses %j', (text) => {
    expect(parseMoney(text)).toHaveProperty('problem');
  });
});

describe('parseMoney of other spellings', () => {
  it.each([
    ['12,50 EUR', 1_250, 'EUR'],
    ['12,50 €', 1_250, 'EUR'],
    ['€12.50', 1_250, 'EUR'],
    ['1250,00 EUR', 125_000, 'EUR'],
    ['1234,500 KWD', 1_234_500, 'KWD'],
    ['0,500 KWD', 500, 'KWD'],
    ['1.250 KWD', 1_250, 'KWD'],
    ['1,2500 CLF', 12_500, 'CLF'],
    ['¥79000', 79_000, 'JPY'],
    ['￥79000', 79_000, 'JPY'],
    ['۴۰ EUR', 4_000, 'EUR'],
    ['۴۰٫۵۰ EUR', 4_050, 'EUR'],
    ['٤٠ EUR', 4_000, 'EUR'],
  ])('reads %j as %i of %s', (text, amount, currency) => {
    expect(parseMoney(text)).toEqual({ amount, currency });
  });

  it.each([
    ['EUR', '1,250', 'Write it without them, like "12.50 EUR".'],
    ['EUR', '1.250', 'Write it without them, like "12.50 EUR".'],
    ['EUR', '1.250,00', 'Write it without them, like "12.50 EUR".'],
    ['EUR', '۱٬۲۵۰', 'Write it without them, like "12.50 EUR".'],
    ['KWD', '1,250', 'Write it without them, like "12.500 KWD".'],
    ['JPY', '1,250', 'Write it without them, like "1250 JPY".'],
    ['JPY', 'x', 'It is not money like "1250 JPY".'],
    ['EUR', '12.5', 'EUR has 2 decimals.'],
    ['JPY', '12,50', 'JPY has no decimals.'],
    ['EUR', '12,50 $', 'It is in USD, and not in EUR.'],
  ])('says of %s %j, in its currency: %s', (currency, text, words) => {
    expect(parseMoneyOf(currency, text)).toEqual({ problem: expect.stringContaining(words) });
  });
});

describe('parseMoneyOf', () => {
  it('reads what typedMoney writes, with and without its currency', () => {
    fc.assert(
      fc.property(anyMoney, ({ amount, currency }) => {
        const text = typedMoney({ amount, currency });
        for (const typed of [text, `${text} ${currency}`])
          expect(parseMoneyOf(currency, typed)).toEqual({ amount });
      }),
    );
  });

  it.each(['6.00 USD', '6.0', '6.000', '6,000', '', ' ', 'EUR', '-6.00', '6.00 eur', '٦٫'])(
    'refuses %j of EUR',
    (text) => {
      expect(parseMoneyOf('EUR', text)).toHaveProperty('problem');
    },
  );
});
