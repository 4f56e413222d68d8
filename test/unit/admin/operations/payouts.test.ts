import { describe, expect, it } from 'vitest';
import { readBankLine } from '../../../../admin/operations/payouts.ts';

/** The amounts of some currencies that a line may mean. */
const amountsIn = (text: string, currencies = ['EUR', 'JPY', 'KWD']) =>
  readBankLine(text)
    .amounts.filter(({ currency }) => currencies.includes(currency))
    .map(({ amount, currency }) => `${amount} ${currency}`)
    .toSorted();

describe('readBankLine', () => {
  it.each([
    ['1,504.62 EUR', ['150462 EUR']],
    ['1.504,62 EUR', ['150462 EUR']],
    ['1504,62 eur', ['150462 EUR']],
    ['EUR 1504.62', ['150462 EUR']],
    ['۱٬۵۰۴٫۶۲ EUR', ['150462 EUR']],
    ["1'504.62 EUR", ['150462 EUR']],
    ['+1504.62 EUR', ['150462 EUR']],
    ['STRIPE PAYOUT 27.11. EUR 20,00', ['2000 EUR', '2711 EUR']],
    ['1504.62', ['150462 EUR']],
    // A group of thousands, or three decimals.
    ['1,504', ['1504 JPY', '1504 KWD', '150400 EUR', '1504000 KWD']],
    ['1504 JPY', ['1504 JPY']],
    ['15046', ['15046 JPY', '1504600 EUR', '15046000 KWD']],
    ['TRACE4711', []],
    ['po_1504', []],
    ['1.50462 EUR', []],
    ['', []],
    ['99999999999999999999 EUR', []],
  ])('reads the amounts of "%s"', (text, amounts) => {
    expect(amountsIn(text)).toEqual(amounts);
  });

  it('reads at most some numbers and words', () => {
    const { amounts, words } = readBankLine('1.00 EUR '.repeat(1_000) + 'word '.repeat(1_000));
    expect(amounts.length).toBeLessThanOrEqual(5);
    expect(words.length).toBeLessThanOrEqual(100);
  });

  it('takes each word for a reference, in the case that banks print, too', () => {
    const { words } = readBankLine('STRIPE/trace4711, SHOP 1405,08,12N10');
    for (const word of ['STRIPE', 'trace4711', 'TRACE4711', 'SHOP', '1405,08,12N10'])
      expect(words).toContain(word);
  });
});
