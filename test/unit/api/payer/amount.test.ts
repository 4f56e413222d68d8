import { expect, it } from 'vitest';
import { amountParts } from '../../../../api/payer/amount.ts';
import { type Language, languages } from '../../../../contract/languages.ts';
import { amountBounds, currencyExponents, formatMoney } from '../../../../contract/money.ts';

const linesOf = async (language: Language, amount: number, currency: string) =>
  String(await amountParts(language, { amount, currency }))
    .replace(/<span[^]*?<\/span>/, '')
    .split(/<[^>]*>/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

it.each([
  ['en', 125_050, 'EUR', ['1,250.50 EUR']],
  ['de', 125_050, 'EUR', ['1.250,50 EUR']],
  ['tr', 125_050, 'TRY', ['1.250,50 TRY']],
  ['fa', 125_050, 'EUR', ['۱٬۲۵۰٫۵۰ EUR']],
  ['en', 1_234_567, 'IQD', ['1,234.567 IQD']],
  ['ar', 1_234_567, 'IQD', ['1,234.567 IQD']],
  ['en', 1_500, 'JPY', ['1,500 JPY']],
  ['en', 1, 'CLF', ['0.0001 CLF']],
  ['fa', 1_500_000, 'IRR', ['۱٬۵۰۰٬۰۰۰ ریال', 'برابر با ۱۵۰٬۰۰۰ تومان']],
  ['fa', 1_500_001, 'IRR', ['۱٬۵۰۰٬۰۰۱ ریال']],
  ['en', 10, 'IRR', ['10 rials', 'equals 1 tomans']],
  ['tr', 1_500, 'IRR', ['1.500 İran riyali', '150 tomana eşittir']],
] as const)('in %s, %d of %s is %j', async (language, amount, currency, lines) => {
  expect(await linesOf(language, amount, currency)).toEqual(lines);
});

it('the greatest amount of each currency has all its digits and its unit in each language', async () => {
  for (const currency of currencyExponents.keys())
    for (const language of languages) {
      const [line = ''] = await linesOf(language, amountBounds.max - 1, currency);
      const digits = line.replaceAll(/[۰-۹]/g, (digit) => String(digit.codePointAt(0)! - 0x6f0));
      expect(digits.replaceAll(/\D/g, '')).toBe(
        formatMoney({ amount: amountBounds.max - 1, currency }).replaceAll(/\D/g, ''),
      );
      expect(line).toMatch(/\p{Letter}{3,}/u);
    }
});
