import { expect, it } from 'vitest';
import { csvLine, decimalOf } from '../../../../admin/operations/csv.ts';

it.each([
  ['=1+1', "'=1+1"],
  ['-2', "'-2"],
  [' =1+1', "' =1+1"],
  ['\t1', "'\t1"],
  ['\uFF1D1+1', "'\uFF1D1+1"],
  ['\uFE661+1', "'\uFE661+1"],
  // The characters in front are invisible.
  ['\u200B=1', "'\u200B=1"],
  [' \u2060\u00AD@x', "' \u2060\u00AD@x"],
  ['\u0001=1', "'\u0001=1"],
  // Each text has a cell of its own.
  ["'=1", "''=1"],
  ["'tis", "''tis"],
  ['\t=1', "'\t'=1"],
  // A cell of its own where semicolons separate.
  ["a;=cmd|' /C calc'!A0;b", "a;'=cmd|' /C calc'!A0;b"],
  ['a;=HYPERLINK("http://evil","x")', `"a;'=HYPERLINK(""http://evil"",""x"")"`],
  ['a\n@x', `"a\n'@x"`],
  ['order-1;b=2', 'order-1;b=2'],
  [-5, '-5'],
  [null, ''],
])('writes %j so that no spreadsheet executes it', (value, cell) => {
  expect(csvLine([value, 'b'])).toBe(`${cell},b\r\n`);
});

it.each([
  [4000, 'EUR', '40.00'],
  [-5, 'EUR', '-0.05'],
  [123_456_789, 'EUR', '1234567.89'],
  [79_000, 'JPY', '79000'],
  [-12_500, 'KWD', '-12.500'],
  [0, 'EUR', '0.00'],
])('writes %i of %s with all decimals, as a number: %s', (amount, currency, cell) => {
  expect(csvLine([decimalOf({ amount, currency }), 'b'])).toBe(`${cell},b\r\n`);
});

/** As docs/accounts.md says. */
const textOf = (cell: string) => cell.replaceAll(/(^|[;\t\r\n])'/g, '$1');

it('writes a cell from which the text can be told', () => {
  const alphabet = ["'", '=', '-', ';', '\n', '\t', '\r', ' ', '\u200B', 'a'];
  const cellOf = (text: string) => {
    const line = csvLine([text, 'b']).slice(0, -4);
    return line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line;
  };
  const cells = new Map<string, string>();
  let texts = [''];
  for (let length = 0; length < 4; length += 1) {
    texts = texts.flatMap((text) => alphabet.map((each) => text + each));
    for (const text of texts) {
      const cell = cellOf(text);
      expect(cells.get(cell), JSON.stringify([text, cells.get(cell)])).toBeUndefined();
      cells.set(cell, text);
      expect(textOf(cell), JSON.stringify([text, cell])).toBe(text);
    }
  }
});
