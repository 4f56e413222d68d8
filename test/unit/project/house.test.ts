import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/files.ts';

const texts = projectFiles()
  .map((path) => ({ path, lines: readProjectFile(path).split('\n') }))
  .filter(({ lines }) => !lines.some((line) => line.includes('\0')));

const linesWith = (pattern: RegExp): string[] =>
  texts.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 160)}`] : [],
    ),
  );

it('what is left to do names its issue', () => {
  expect(linesWith(/\b(?:TO[D]O|FIX[M]E)\b(?!.*#\d)/)).toEqual([]);
});

it('no file names the home of whoever wrote it', () => {
  expect(linesWith(/(?<![\w.$}-])\/(?:root|home|work)\//)).toEqual([]);
});

it('no file names the registry its packages came from', () => {
  const hosts =
    /registry\.(?:npm|yarn)|\/\/(?:[\w-]+\.)*(?:registry|npm|goproxy|proxy|mirrors?|nexus)\./;
  expect(linesWith(hosts)).toEqual([]);
});

it('no module of the workflows keeps anything: all workflows of a worker share it', () => {
  const kept = /^(?:export )?(?:let|var)\b|^(?:export )?const \w+[^=]*= (?:new |\[\]|\{\})/;
  expect(linesWith(kept).filter((line) => line.startsWith('workflows/'))).toEqual([]);
});
