import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { declaredResponseNames } from '../../support/checks/contract-problems.ts';
import { findUnseenResponses } from '../../support/runner/every-declared-response.ts';

/** For a complete run of one file that has seen these responses. */
const find = async (seen: readonly string[], state = 'passed') => {
  const folder = mkdtempSync(join(tmpdir(), 'every-response-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const answersFile = join(folder, 'answers');
  writeFileSync(answersFile, seen.join('\n'));
  const file = {
    moduleId: 'a.test.ts',
    project: { name: 'integration', getProvidedContext: () => ({ answersFile }) },
    testModule: { state: () => state },
  } as unknown as TestSpecification;
  const vitest = { globTestSpecifications: async () => [file], config: {} } as unknown as Vitest;
  return findUnseenResponses(vitest, [file]);
};

it('finds each declared response that no test has seen', async () => {
  const names = declaredResponseNames();
  expect(await find(names)).toEqual([]);
  expect(await find(names.slice(1))).toEqual(names.slice(0, 1));
});

it('does not know the unseen responses when a file failed', async () => {
  expect(await find([], 'failed')).toBe('a test failed');
});
