import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeJson, terminalLine, terminalText } from '../../../contract/terminal-text.ts';

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Each of them beside letters: C0, DEL, C1, bidi, zero width, line and paragraph separators, tags. */
const hostile = fc.string({
  unit: fc.constantFrom(
    ...'a"\\é😀\u001b\u0007\u007f\u009b\u202e\u2066\u200b\ufeff\u2028\u2029\r\n\t\u{e0041}',
  ),
});

describe('a text of others', () => {
  it.each([
    ['a\u001b[31mred\u0007\u009b2J\u202egnp\u200b\r\nb', 'a[31mred2Jgnp b'],
    ['a\tb', 'a b'],
    ['a\u2028b\u2029c\u{e0041}', 'abc'],
  ])('is one line at a terminal: %j', (text, shown) => {
    expect(terminalLine(text)).toBe(shown);
  });

  it('keeps its lines where it has several', () => {
    expect(terminalText('one\u001b[2J\r\ntwo\n')).toBe('one[2J\ntwo\n');
  });

  it('holds no control in any form', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(terminalLine(text)).not.toMatch(controls);
        for (const line of terminalText(text).split('\n')) expect(line).not.toMatch(controls);
        const value = { [text]: [text] };
        const json = escapeJson(JSON.stringify(value, undefined, 2));
        for (const line of json.split('\n')) expect(line).not.toMatch(controls);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});
