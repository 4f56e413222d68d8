import { describe, expect, it } from 'vitest';
import { table } from '../../../cli/output.ts';

describe('table', () => {
  it('makes columns as wide as their widest line, with cells of several lines', () => {
    const rows = [
      ['a', 1, null, true],
      ['longer', 22_222, ['one', 'and two'], ''],
    ];
    expect(table(['one', 'two', 'three', 'four'], rows, 'None.').split('\n')).toEqual([
      'ONE     TWO    THREE    FOUR',
      'a       1      –        yes',
      'longer  22222  one',
      '               and two',
    ]);
    expect(table(['one'], [], 'None.')).toBe('None.');
  });

  it('formats 150,000 rows', () => {
    const rows = Array.from({ length: 150_000 }, (_, index) => [index, 'refused', 'x'.repeat(80)]);
    expect(table(['payment', 'result', 'note'], rows, 'None.').split('\n')).toHaveLength(150_001);
  });
});
