import { describe, expect, it } from 'vitest';
import { table } from '../../../../admin/cli/output.ts';

describe('table', () => {
  it('makes columns as wide as their widest line, with cells of several lines', () => {
    const rows = [
      { one: 'a', two: 1, three: null, four: true },
      { one: 'longer', two: 22_222, three: ['one', 'and two'], four: '' },
    ];
    expect(table(rows, 'None.').split('\n')).toEqual([
      'ONE     TWO    THREE    FOUR',
      'a       1      –        yes',
      'longer  22222  one',
      '               and two',
    ]);
    expect(table([], 'None.')).toBe('None.');
  });

  it('formats 150,000 rows', () => {
    const note = 'x'.repeat(80);
    const rows = Array.from({ length: 150_000 }, (_, payment) => ({ payment, note }));
    expect(table(rows, 'None.').split('\n')).toHaveLength(150_001);
  });
});
