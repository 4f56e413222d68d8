import { expect, it } from 'vitest';
import { limits } from '../../../contract/limits.ts';
import { projectFiles, readProjectFile } from '../../support/files.ts';

const files = projectFiles();
const pages = files.filter((path) => /^(README|docs\/.+)\.md$/.test(path));

it('the pages name tests that are there', () => {
  const named = pages.flatMap((page) =>
    // Files and folders; what stands for any name (`test/…/<provider>.ts`) is neither.
    [...readProjectFile(page).matchAll(/\btest\/[\w./-]+(?:\.ts|\/)(?![\w<])/g)].map(([path]) => ({
      page,
      path,
    })),
  );
  expect(new Set(named.map(({ page }) => page)).size).toBeGreaterThan(5);
  expect(named.filter(({ path }) => !files.some((file) => file.startsWith(path)))).toEqual([]);
});

it('the threat model tells the limits that are kept', () => {
  const page = readProjectFile('docs/security.md');
  for (const words of [
    `${limits.requestBodyKb} KB; `,
    `${limits.requestHeadKb} KB, ${limits.requestHeaders} lines and ${limits.requestHeadSeconds} s for a head, ${limits.requestSeconds} s for a request, ${limits.responseIdleSeconds} s to take an answer`,
  ])
    expect(page).toContain(words);
});

it('every row of the threat model names its test', () => {
  const rows = readProjectFile('docs/security.md')
    .split('\n')
    .filter((line) => /^\| (?!-|Who |Threat )/.test(line));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/`test\/[^`]+` *\|$/.test(row.replace(/`, `/g, ' ')))).toEqual([]);
});
