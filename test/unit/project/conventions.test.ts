import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

/** Lists the lines of the given files that match, with their places. */
const findLines = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.flatMap((path) =>
    readProjectFile(path)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 160)}`] : [],
      ),
  );

it('unfinished work names an issue', () => {
  expect(findLines(projectFiles(), /\b(?:TO[D]O|FIX[M]E)\b(?!.*#\d)/)).toEqual([]);
});

it('modules of workflows keep no state, because all workflows of a worker share them', () => {
  const state = /^(?:export )?(?:let|var)\b|^(?:export )?const \w+[^=]*= (?:new |\[\]|\{\})/;
  const modules = projectFiles().filter((path) => path.startsWith('workflows/'));
  expect(modules.length).toBeGreaterThan(0);
  expect(findLines(modules, state)).toEqual([]);
});
