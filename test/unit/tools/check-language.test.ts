import { expect, it } from 'vitest';
import { checkLanguage } from '../../../tools/check-language.ts';

const findHidden = (path: string, text: string) =>
  checkLanguage(path, text).hidden.map(({ line, sentence }) => `${line}: ${sentence}`);

it('finds sentences that hide their subject in comments of code', () => {
  const code = [
    'const one = 1; // What follows code is not read.',
    '/** Says something plain. What nobody asked for is dropped here. */',
    '// The first line names its subject, and',
    '// goes on. Those that come later do not.',
    "const text = 'Who is this late went away';",
  ].join('\n');
  expect(findHidden('a.ts', code)).toEqual([
    '2: What nobody asked for is dropped here.',
    '3: Those that come later do not.',
  ]);
});

it('finds them in SQL, YAML and shell comments', () => {
  expect(findHidden('a.sql', '-- Nobody reads this table.')).toHaveLength(1);
  expect(findHidden('a.yml', '  # Where it fails it retries.')).toHaveLength(1);
  expect(findHidden('a.sh', '# None of these is needed.')).toHaveLength(1);
});

it('reads paragraphs, list items and table cells of a page, without code and headings', () => {
  const page = [
    '# What this page is about',
    '',
    'A paragraph that is',
    'plain. Which is good enough here.',
    '',
    '- What a list says is read.',
    '',
    '| a | Who owns the table cell |',
    '',
    '```',
    'What is code is not read.',
    '```',
  ].join('\n');
  expect(findHidden('a.md', page)).toEqual([
    '3: Which is good enough here.',
    '6: What a list says is read.',
    '8: Who owns the table cell',
  ]);
});

it('allows questions, fragments of three words and other openers', () => {
  const text = '// What is to be done? One of them. Once it fails, the sweeper retries it.';
  expect(findHidden('a.ts', text)).toEqual([]);
  expect(checkLanguage('a.ts', text).count).toBe(2);
});
