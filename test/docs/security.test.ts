import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../support/files.ts';

const pages = ['docs/security.md', 'docs/operating/restoring.md', 'docs/operating/scaling.md'];
const files = new Set(projectFiles());

it.each(pages)('%s names tests that are there', (page) => {
  const named = [...readProjectFile(page).matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !files.has(path ?? ''))).toEqual([]);
});

it('every row of the threat model names its test', () => {
  const rows = readProjectFile('docs/security.md')
    .split('\n')
    .filter((line) => /^\| (?!-|Who |Threat )/.test(line));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/`test\/[^`]+` *\|$/.test(row.replace(/`, `/g, ' ')))).toEqual([]);
});
