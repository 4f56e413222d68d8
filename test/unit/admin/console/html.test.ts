import { describe, expect, it } from 'vitest';
import { cellsOf, timeIn, escapeControls } from '../../../../admin/console/html.ts';

describe('a time', () => {
  it.each([
    ['UTC', '2026-07-01T22:05:09.999Z', '2026-07-01 22:05:09 UTC'],
    ['Asia/Tehran', '2026-07-01T22:05:09.999Z', '2026-07-02 01:35:09 +03:30'],
    ['America/New_York', '2026-07-01T22:05:09.999Z', '2026-07-01 18:05:09 -04:00'],
    ['Europe/London', '2026-07-01T22:05:09.999Z', '2026-07-01 23:05:09 +01:00'],
    // At UTC for a while.
    ['Europe/London', '2026-01-01T00:00:00Z', '2026-01-01 00:00:00 +00:00'],
  ])('is shown in %s with its offset: %s is %s', (zone, at, text) => {
    expect(timeIn(zone)(new Date(at))).toBe(text);
  });
});

describe('a text from outside', () => {
  it.each([
    ['a\u202eb', 'a‹U+202E›b'],
    ['a\u0000b\u001b[31m', 'a‹U+0000›b‹U+001B›[31m'],
    ['a\u200bb\u2066c', 'a‹U+200B›b‹U+2066›c'],
    ['a\u2028b', 'a‹U+2028›b'],
    ['one\r\ntwo\tthree', 'one\ntwo\tthree'],
    ['سفارش ۱', 'سفارش ۱'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['क्\u200dष', 'क्\u200dष'],
    ['👩\u200d👧 👍🏽', '👩\u200d👧 👍🏽'],
    ['pay\u200cpal', 'pay‹U+200C›pal'],
    ['\u200cم\u200d', '‹U+200C›م‹U+200D›'],
    ['x\u200d👍', 'x‹U+200D›👍'],
  ])('shows hidden characters and keeps others: %j', (text, shown) => {
    expect(escapeControls(text)).toBe(shown);
  });

  it('is escaped in a cell', async () => {
    const { cell } = cellsOf(timeIn('UTC'));
    expect(String(await cell(`<b a="'">&`))).toBe('<bdi>&lt;b a=&quot;&#39;&quot;&gt;&amp;</bdi>');
  });
});
