import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

const files = projectFiles();
const pages = files.filter((path) => /^([A-Z]+|docs\/.+)\.md$/.test(path));
const sources = files
  .filter((path) => /\.(ts|json|ya?ml|sql|txt)$/.test(path) && !path.endsWith('pages.test.ts'))
  .map(readProjectFile)
  .join('\n');

/** Names of Temporal and of a parser, which the code does not use. */
const others = new Set([
  ...['LastFailure', 'LastHeartbeatDetails', 'LastHeartbeatTime'],
  ...['useWorkerVersioning', 'workerDeploymentOptions', 'parseTree'],
]);

/** Names between backticks that only code has: with a capital inside, or with brackets behind. */
const namesIn = (page: string): string[] =>
  [
    ...readProjectFile(page).matchAll(
      /`([A-Za-z]*[a-z][A-Z][A-Za-z]*|[A-Za-z]+(?=\())(?:\([^`]*\))?`/g,
    ),
  ].map(([, name = '']) => name);

it.each(pages)('%s names code that exists', (page) => {
  const missing = namesIn(page).filter(
    (name) => !others.has(name) && !new RegExp(`\\b${name}\\b`).test(sources),
  );
  expect(missing).toEqual([]);
});

const guides = pages.filter(
  (path) => path !== 'CHANGELOG.md' && path !== 'docs/service-interface.md',
);
const wordsOf = (page: string) => readProjectFile(page).split(/\s+/).filter(Boolean).length;

it.each(guides)('%s names its reader in its first line, and can be read at once', (page) => {
  const [, first = ''] = readProjectFile(page).split(/\n{2,}/);
  expect(first).toMatch(/^For [^:]+: /);
  expect(wordsOf(page)).toBeLessThanOrEqual(2_600);
});

it('the pages together stay short', () => {
  const words = guides.reduce((sum, page) => sum + wordsOf(page), 0);
  expect(words).toBeLessThanOrEqual(46_800);
});

it('docs/index.md leads to every page', () => {
  const index = readProjectFile('docs/index.md');
  const linkOf = (page: string) => (page.startsWith('docs/') ? page.slice(5) : `../${page}`);
  const missing = guides.filter(
    (page) => page !== 'docs/index.md' && !index.includes(`](${linkOf(page)}`),
  );
  expect(missing).toEqual([]);
});

const folders = new Set(files.map((file) => file.split('/', 1)[0]));
const ignored = new Set(readProjectFile('.gitignore').split('\n'));

/** Files and folders between backticks, below a folder of the project. Placeholders like `<name>.ts` do not match. */
const pathsIn = (page: string): string[] =>
  [...readProjectFile(page).matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.\w+)?)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.has(path.split('/', 1)[0]) && !ignored.has(path));

it.each(files.filter((path) => path.endsWith('.md')))(
  '%s names files and folders that exist',
  (page) => {
    const missing = pathsIn(page).filter((path) => !files.some((file) => file.startsWith(path)));
    expect(missing).toEqual([]);
  },
);

it('finds the paths of the pages', () => {
  expect(pathsIn('docs/security.md')).toContain('tools/check-dependencies.ts');
});

it.each(['temporal', 'restoring', 'retention'])(
  '%s.md has a temporal command, and a link to how it is run',
  (name) => {
    const page = (of: string) => readProjectFile(`docs/operating/${of}.md`);
    const text = page(name);
    expect(text).toMatch(/(^ *|`)temporal (workflow|operator) /m);
    expect(text).toContain(`(${name === 'temporal' ? '' : 'temporal.md'}#the-temporal-command)`);
    expect(page('temporal')).toContain('\n## The temporal command\n');
  },
);
