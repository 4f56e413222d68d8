import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonNode } from '../../../contract/json.ts';
import { depthOf, JsonError, objectText, scanJson, valueOf } from '../../../contract/json.ts';
import { document, randomness, written } from '../../support/json.ts';

const wholeText = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0'));
const padding = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

/** The value as JSON.parse sees it: number literals become numbers. */
const parsed = (node: JsonNode): unknown => {
  if (node.kind === 'object')
    return Object.fromEntries([...node.members].map(([key, member]) => [key, parsed(member)]));
  if (node.kind === 'array') return node.items.map(parsed);
  return node.kind === 'number' ? Number(node.text) : node.value;
};

const nodesOf = (node: JsonNode): JsonNode[] => [
  node,
  ...(node.kind === 'object' ? [...node.members.values()] : []).flatMap(nodesOf),
  ...(node.kind === 'array' ? node.items : []).flatMap(nodesOf),
];

/** The message of the refusal; what is accepted, or thrown as anything else, fails the test. */
const refusalOf = (text: string): string => {
  try {
    scanJson(text);
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    return String(error);
  }
  return expect.fail(`accepted ${text.slice(0, 100)}`);
};

describe('scanJson', () => {
  it('reads every document as JSON.parse does', () => {
    fc.assert(
      fc.property(document, randomness, (value, random) => {
        const text = written(value, random);
        expect(parsed(scanJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('cuts every node out exactly as it was written', () => {
    fc.assert(
      fc.property(document, randomness, padding, (value, random, space) => {
        const text = space + written(value, random) + space;
        const root = scanJson(text);
        expect(root.text).toBe(text.trim());
        for (const node of nodesOf(root)) {
          expect(text).toContain(node.text);
          expect(JSON.parse(node.text)).toEqual(parsed(node));
        }
      }),
    );
  });

  it('keeps the order of keys and the letters of numbers', () => {
    const text = '{"b": 1.50, "10": 1e3, "2": -0, "__proto__": {"x": 1}}';
    const node = scanJson(text);
    expect(
      node.kind === 'object' && [...node.members].map(([key, { text: slice }]) => [key, slice]),
    ).toEqual([
      ['b', '1.50'],
      ['10', '1e3'],
      ['2', '-0'],
      ['__proto__', '{"x": 1}'],
    ]);
  });

  it('accepts nothing that JSON.parse refuses', () => {
    fc.assert(
      fc.property(
        document.map((value) => JSON.stringify(value)),
        fc.nat(),
        wholeText,
        (text, where, extra) => {
          const at = where % (text.length + 1);
          const broken = text.slice(0, at) + extra.slice(0, 2) + text.slice(at + 1);
          try {
            scanJson(broken);
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

  it.each([
    ...[
      '',
      ' ',
      '{',
      '[',
      '"',
      '"\\',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":1,}',
      '[1,]',
      '[,]',
      '[1 2]',
    ],
    ...[
      '01',
      '+1',
      '.5',
      '1.',
      '1e',
      '-',
      'NaN',
      'Infinity',
      '0x1',
      "'a'",
      'nul',
      'truefalse',
      '{} {}',
    ],
    ...[
      '{a:1}',
      '{1:1}',
      '"\n"',
      '"\\x"',
      '"\\u12"',
      '\u{feff}{}',
      '\u00a0{}',
      '// a\n{}',
      '[1}',
      '{"a" 1}',
    ],
  ])('refuses what is not JSON: %j', (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    refusalOf(text);
  });

  it.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"":1,"":2}}]'])(
    'refuses a key twice: %s',
    (text) => {
      expect(refusalOf(text)).toContain('same key twice');
    },
  );

  it.each(['"\\u0000"', '{"a\\u0000":1}', '["x\\u0000"]'])(
    'refuses the NUL character: %s',
    (text) => {
      expect(refusalOf(text)).toContain('NUL');
    },
  );

  it.each(['"\\ud800"', '"\\udc00\\ud800"', '{"\\udfff":1}', '"\ud83d"'])(
    'refuses a lone surrogate: %j',
    (text) => {
      expect(refusalOf(text)).toContain('lone surrogate');
    },
  );

  it('accepts a pair of surrogates, escaped or not', () => {
    expect(valueOf(scanJson('["\\ud83d\\ude00", "😀"]'))).toEqual(['😀', '😀']);
  });

  it('accepts 32 levels and refuses the 33rd', () => {
    expect(depthOf(scanJson('['.repeat(32) + ']'.repeat(32)))).toBe(32);
    expect(refusalOf('['.repeat(33) + ']'.repeat(33))).toContain('deeper than 32');
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
  ])('answers hostile text %# at once, with a JsonError', (text) => {
    const started = performance.now();
    refusalOf(text);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('answers any text with a node or a JsonError', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n0123e-+.tfnu\ud800\0') });
    fc.assert(
      fc.property(fc.oneof(noise, wholeText), (text) => {
        try {
          expect(scanJson(text).text).toBe(text.trim());
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('says where, and does not quote', () => {
    const message = refusalOf('{"secret": hunter2}');
    expect(message).toContain('character 12');
    expect(message).not.toMatch(/secret|hunter2/);
  });
});

describe('valueOf', () => {
  it.each(['0', '1', '-1', '9007199254740991'])(
    'gives the plain integer %s as a number',
    (text) => {
      expect(valueOf(scanJson(text))).toBe(Number(text));
    },
  );

  it.each(['-0', '1.0', '1e2', '1.5', '9007199254740992', '1E400'])(
    'leaves the number %s to be refused',
    (text) => {
      expect(valueOf(scanJson(text))).toBeNaN();
    },
  );

  it('gives a key __proto__ as a member like any other', () => {
    const value = valueOf(scanJson('{"__proto__":{"admin":true}}'));
    expect(Object.keys(Object(value) as object)).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('admin');
  });
});

describe('objectText', () => {
  it('keeps the order of its fields and a jsonText to the letter', () => {
    expect(
      objectText({ b: 1, a: 'x"', c: null, d: false, e: { jsonText: '{ "2":1.0,"1":1e3 }' } }),
    ).toBe('{"b":1,"a":"x\\"","c":null,"d":false,"e":{ "2":1.0,"1":1e3 }}');
  });
});
