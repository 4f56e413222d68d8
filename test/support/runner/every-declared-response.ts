import { readFileSync } from 'node:fs';
import type { TestSpecification, Vitest } from 'vitest/node';
import { declaredResponseNames } from '../checks/contract-problems.ts';
import { hasPassed } from './failures.ts';

/** Declared, but impossible to provoke. */
const unreachable = new Set(
  // These are served from memory: no dependency can fail.
  ['getOpenApi', 'showDocs'].flatMap((operation) => [
    `${operation} 500 INTERNAL`,
    `${operation} 503 SERVICE_UNAVAILABLE`,
  ]),
);

/**
 * Finds the responses that the contract declares, each operation with each status and code, and that a complete run of
 * the integration tests has not seen. @returns them, or why it does not know
 */
export const findUnseenResponses = async (
  vitest: Pick<Vitest, 'globTestSpecifications' | 'config'>,
  specifications: readonly TestSpecification[],
): Promise<string[] | string> => {
  const project = specifications.find((each) => each.project.name === 'integration')?.project;
  if (!project) return [];
  const all = await vitest.globTestSpecifications();
  if (specifications.length !== all.length || vitest.config.testNamePattern)
    return 'not all tests ran';
  if (!specifications.every((each) => hasPassed(each, []))) return 'a test failed';
  const { answersFile } = project.getProvidedContext();
  const seen = new Set(readFileSync(answersFile, 'utf8').split('\n'));
  return declaredResponseNames().filter((name) => !seen.has(name) && !unreachable.has(name));
};
