import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, parseJson } from '../../../contract/json.ts';
import { document, randomness, written } from '../../support/json.ts';

const canonical = (text: string) => canonicalText(parseJson(text));

describe('canonicalText', () => {
  it('is the same for every order of keys and all white space', () => {
    fc.assert(
      fc.property(document, randomness, randomness, (value, one, other) => {
        expect(canonical(written(value, one))).toBe(canonical(written(value, other)));
      }),
    );
  });

  it('is the same for every way to escape a string', () => {
    expect(canonical('{"\\u0061":"\\u00e9\\/"}')).toBe(canonical('{"a":"é/"}'));
  });

  it('differs when a value differs', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom(...'a"\\,:') });
    fc.assert(
      fc.property(small, small, (one, other) => {
        const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
        const same = isDeepStrictEqual(JSON.parse(first), JSON.parse(second));
        expect(canonical(first) === canonical(second)).toBe(same);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['1', '1.0'],
    ['100', '1e2'],
    ['1', '"1"'],
    ['0', '-0'],
    ['[1,2]', '[2,1]'],
    ['[[1],2]', '[1,[2]]'],
    ['{"a":null}', '{}'],
    ['{"a":"b\\",\\"c\\":\\"d"}', '{"a":"b","c":"d"}'],
    ['[]', '{}'],
    ['"true"', 'true'],
  ])('differs between %s and %s', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });
});
