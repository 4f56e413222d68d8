import { describe, expect, it } from 'vitest';
import { Query } from '../../../../admin/console/query.ts';

const digits = (text: string): number | null => (/^\d+$/.test(text) ? Number(text) : null);

describe('the query of an address', () => {
  it('has no problem if each field was asked for, and is of use or empty', () => {
    const query = new Query('a=1&b=two&c=&d=4&d=5');
    expect(query.read('a', digits)).toBe(1);
    expect(query.readText('b', 3)).toBe('two');
    expect(query.read('c', digits)).toBeNull();
    expect(query.getAll('d')).toEqual(['4', '5']);
    expect(query.read('none', digits)).toBeNull();
    expect(query.problem()).toBeNull();
    expect(query.used().map(([name]) => name)).toEqual(['a', 'b', 'd', 'd']);
  });

  it('reads nothing of a field that is given twice, rejected or not a value, and says so', () => {
    const query = new Query('a=1&a=2&b=two&c=3&d=four&e=5&f=6');
    query.reject(['c', 'none'], 'Nobody has it.');
    expect([query.get('a'), query.read('a', digits)]).toEqual([null, null]);
    expect(query.read('b', digits)).toBeNull();
    expect(query.read('c', digits)).toBeNull();
    expect(query.readText('d', 3)).toBeNull();
    expect(query.get('e')).toBe('5');
    expect(query.problem()).toBe(
      '“a”: given more than once. “b”, “d”: not a value that makes sense here. “c”: Nobody has it. “f”: there is no such field here.',
    );
    expect(query.used()).toEqual([['e', '5']]);
  });

  it('repeats no name that could be a sentence, and not thousands of names', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => `n${n}=1`).join('&');
    expect(new Query(`Call+me=1&${many}&__proto__=1`).problem()).toBe(
      '“n0”, “n1”, “n2”, “n3”, “n4”, 997 more: there is no such field here.',
    );
  });
});
