import { expect, it } from 'vitest';
import { csvLine } from '../../../../admin/operations/csv.ts';

it.each([
  ['=1+1', "'=1+1"],
  ['-2', "'-2"],
  [' =1+1', "' =1+1"],
  ['\t1', "'\t1"],
  ['\uFF1D1+1', "'\uFF1D1+1"],
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
