import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalText,
  JsonError,
  nestingDepth,
  parseJson,
  toPlainValue,
  type JsonNode,
} from '../../../contract/json.ts';

/** Any JSON value, with strings that need escapes. */
const document = fc.jsonValue({
  maxDepth: 5,
  stringUnit: fc.constantFrom(...'aé"\\/ \n\u2028😀'),
});

/** Writes a value as JSON, with keys in random order and random white space. */
const written = (value: unknown, random: () => number): string => {
  const space = () => ['', ' ', '\n\t', '\r '][Math.floor(random() * 4)] ?? '';
  const write = (inner: unknown): string => {
    if (Array.isArray(inner))
      return `[${space()}${inner.map(write).join(`${space()},${space()}`)}]`;
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner);
    const members = Object.entries(inner)
      .map((entry) => ({ entry, at: random() }))
      .toSorted((one, other) => one.at - other.at)
      .map(
        ({ entry: [key, member] }) => `${JSON.stringify(key)}${space()}:${space()}${write(member)}`,
      );
    return `{${space()}${members.join(`${space()},`)}${space()}}`;
  };
  return `${space()}${write(value)}${space()}`;
};

/** Random sources for `written`: functions that return numbers from 0 to 1. */
const randomness = fc
  .infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }))
  .map((stream) => () => Number(stream.next().value));

const wholeText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
const padding = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

/** The value that JSON.parse would return. */
const toJsonValue = (node: JsonNode): unknown => {
  if (node.kind === 'object')
    return Object.fromEntries([...node.members].map(([key, member]) => [key, toJsonValue(member)]));
  if (node.kind === 'array') return node.items.map(toJsonValue);
  return node.kind === 'number' ? Number(node.text) : node.value;
};

const allNodes = (node: JsonNode): JsonNode[] => [
  node,
  ...(node.kind === 'object' ? [...node.members.values()] : []).flatMap(allNodes),
  ...(node.kind === 'array' ? node.items : []).flatMap(allNodes),
];

/** The message of the JsonError; fails the test if the text is accepted or another error is thrown. */
const errorMessage = (text: string): string => {
  try {
    parseJson(text);
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return String(error);
  }
  return expect.fail(`accepted ${text.slice(0, 100)}`);
};

describe('parseJson', () => {
  it('parses every document as JSON.parse does', () => {
    fc.assert(
      fc.property(document, randomness, (value, random) => {
        const text = written(value, random);
        expect(toJsonValue(parseJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives every node the text it was written as', () => {
    fc.assert(
      fc.property(document, randomness, padding, (value, random, space) => {
        const text = space + written(value, random) + space;
        const root = parseJson(text);
        expect(root.text).toBe(text.trim());
        for (const node of allNodes(root)) {
          expect(text).toContain(node.text);
          expect(JSON.parse(node.text)).toEqual(toJsonValue(node));
        }
      }),
    );
  });

  it('keeps the order of keys and the literals of numbers', () => {
    const text = '{"b": 1.50, "10": 1e3, "2": -0, "__proto__": {"x": 1}}';
    const node = parseJson(text);
    expect(
      node.kind === 'object' && [...node.members].map(([key, { text: slice }]) => [key, slice]),
    ).toEqual([
      ['b', '1.50'],
      ['10', '1e3'],
      ['2', '-0'],
      ['__proto__', '{"x": 1}'],
    ]);
  });

  it('rejects whatever JSON.parse rejects', () => {
    fc.assert(
      fc.property(
        document.map((value) => JSON.stringify(value)),
        fc.nat(),
        wholeText,
        (text, where, extra) => {
          const at = where % (text.length + 1);
          const broken = text.slice(0, at) + extra.slice(0, 2) + text.slice(at + 1);
          try {
            parseJson(broken);
          } catch (error) {
            expect(error).toBeInstanceOf(JsonError);
            return;
          }
          expect(() => JSON.parse(broken) as unknown).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each<[string, ...string[]]>([
    ['nothing', '', ' '],
    ['an end in the middle', '{', '[', '"', '"\\', '{"a"', '{"a":', '{"a":1'],
    ['a comma too many, or none', '{"a":1,}', '[1,]', '[,]', '[1 2]', '{"a" 1}', '[1}', '{} {}'],
    ['a number', '01', '+1', '.5', '1.', '1e', '-', 'NaN', 'Infinity', '0x1'],
    ['a word', 'nul', 'truefalse', "'a'", '{a:1}', '{1:1}', '// a\n{}'],
    ['a string', '"\n"', '"\\x"', '"\\u12"'],
    ['a space of Unicode', '\u{feff}{}', '\u00a0{}'],
  ])('rejects as JSON.parse does: %s', (_, ...texts) => {
    for (const text of texts) {
      expect(() => JSON.parse(text) as unknown, text).toThrow(SyntaxError);
      errorMessage(text);
    }
  });

  it.each<[string, ...string[]]>([
    ['duplicate key', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"":1,"":2}}]'],
    ['NUL', '"\\u0000"', '{"a\\u0000":1}', '["x\\u0000"]'],
    ['lone surrogate', '"\\ud800"', '"\\udc00\\ud800"', '{"\\udfff":1}', '"\ud83d"'],
  ])('rejects what JSON.parse accepts: a %s', (problem, ...texts) => {
    for (const text of texts) expect(errorMessage(text), text).toContain(problem);
  });

  it('accepts a pair of surrogates, escaped or not', () => {
    expect(toPlainValue(parseJson('["\\ud83d\\ude00", "😀"]'))).toEqual(['😀', '😀']);
  });

  it('accepts 32 levels and rejects the 33rd', () => {
    expect(nestingDepth(parseJson('['.repeat(32) + ']'.repeat(32)))).toBe(32);
    expect(errorMessage('['.repeat(33) + ']'.repeat(33))).toContain('more than 32 levels');
  });

  it.each([
    '['.repeat(1_000_000),
    '{"a":'.repeat(300_000),
    `"${'\\'.repeat(999_999)}`,
    `"${'\\u0000'.repeat(200_000)}`,
    `${' '.repeat(1_000_000)}x`,
    `${'1'.repeat(1_000_000)}x`,
    `1${'e'.repeat(1_000_000)}`,
    `[${'1 '.repeat(500_000)}]`,
    `{${'"":1,'.repeat(200_000)}}`,
    `"${'a'.repeat(1_000_000)}`,
  ])('rejects hostile text %# with a JsonError in a time in proportion to its length', (text) => {
    // Of the processor. A parser that reads on to the end of the text at each character takes minutes.
    const before = process.cpuUsage();
    errorMessage(text);
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(20_000_000);
  });

  it('returns a node or throws a JsonError for any text', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n0123e-+.tfnu\ud800\0') });
    fc.assert(
      fc.property(fc.oneof(noise, wholeText), (text) => {
        try {
          expect(parseJson(text).text).toBe(text.trim());
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('names the problem and its position, and does not quote the text', () => {
    const message = errorMessage('{"secret": hunter2}');
    expect(message).toMatch(/symbol at character 12$/);
    expect(message).not.toMatch(/secret|hunter2/);
  });
});

describe('toPlainValue', () => {
  it('converts a plain integer to a number, and any other number to NaN, which schemas reject', () => {
    for (const text of ['0', '1', '-1', '9007199254740991'])
      expect(toPlainValue(parseJson(text))).toBe(Number(text));
    for (const text of ['-0', '1.0', '1e2', '1.5', '9007199254740992', '1E400'])
      expect(toPlainValue(parseJson(text)), text).toBeNaN();
  });

  it('treats the key __proto__ like any other', () => {
    const value = toPlainValue(parseJson('{"__proto__":{"admin":true}}'));
    expect(Object.keys(Object(value) as object)).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('admin');
  });
});

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
