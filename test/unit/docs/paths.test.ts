import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

const files = projectFiles();
const folders = new Set(files.map((file) => file.split('/', 1)[0]));
const ignored = new Set(readProjectFile('.gitignore').split('\n'));
const pages = files.filter((path) => path.endsWith('.md'));

/** Files and folders between backticks, below a folder of the project. Placeholders like `<name>.ts` do not match. */
const pathsIn = (page: string): string[] =>
  [...readProjectFile(page).matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.\w+)?)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.has(path.split('/', 1)[0]) && !ignored.has(path));

it.each(pages)('%s names files and folders that exist', (page) => {
  const missing = pathsIn(page).filter((path) => !files.some((file) => file.startsWith(path)));
  expect(missing).toEqual([]);
});

it('finds the paths of the pages', () => {
  expect(pathsIn('docs/security.md')).toContain('tools/check-dependencies.ts');
});
