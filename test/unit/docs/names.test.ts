import { expect, it } from 'vitest';
import { failureReasons } from '../../../contract/failure-codes.ts';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

const files = projectFiles();
const pages = files.filter((path) => /^([A-Z]+|docs\/.+)\.md$/.test(path));
const sources = files
  .filter((path) => /\.(ts|json|ya?ml|sql|txt)$/.test(path) && !path.endsWith('names.test.ts'))
  .map(readProjectFile)
  .join('\n');

/** Names of Temporal and of a parser, which the code does not use. */
const others = new Set([
  ...['LastFailure', 'LastHeartbeatDetails', 'LastHeartbeatTime'],
  ...['deprecatePatch', 'useWorkerVersioning', 'workerDeploymentOptions', 'parseTree'],
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

it('docs/contract.md lists the failure codes', () => {
  const [, list = ''] =
    /\*\*Failure codes\*\*[^:]*:([^.]*)\./.exec(readProjectFile('docs/contract.md')) ?? [];
  const listed = [...list.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
  expect(listed.toSorted()).toEqual(Object.keys(failureReasons).toSorted());
});
