import { readFileSync } from 'node:fs';
import type { TestSpecification, Vitest } from 'vitest/node';
import { declaredResponseNames } from '../checks/contract-problems.ts';
import { hasPassed } from './failures.ts';

/** Declared, but impossible to provoke. */
const unreachable = new Set(
  // These are served from memory: no dependency can fail.
  ['getOpenApi', 'showDocs', 'getDocsAsset'].flatMap((operation) => [
    `${operation} 500 INTERNAL`,
    `${operation} 503 SERVICE_UNAVAILABLE`,
  ]),
);

/**
 * Whether a complete run of the integration tests has seen every response that the contract declares: each
 * operation with each status and code. Says which are missing, or why it does not know.
 */
export const hasEveryResponse = async (
  vitest: Vitest,
  specifications: readonly TestSpecification[],
): Promise<boolean> => {
  const project = specifications.find((each) => each.project.name === 'integration')?.project;
  if (!project) return true;
  const all = await vitest.globTestSpecifications();
  const isComplete = specifications.length === all.length && !vitest.config.testNamePattern;
  if (!isComplete || !specifications.every((each) => hasPassed(each, []))) {
    const why = isComplete ? 'a test failed' : 'not all tests ran';
    process.stdout.write(`Did not check that every declared response was seen: ${why}\n`);
    return true;
  }
  const { answersFile } = project.getProvidedContext();
  const seen = new Set(readFileSync(answersFile, 'utf8').split('\n'));
  const missing = declaredResponseNames().filter(
    (name) => !seen.has(name) && !unreachable.has(name),
  );
  if (missing.length > 0)
    process.stdout.write(`Declared responses that no test has seen:\n  ${missing.join('\n  ')}\n`);
  return missing.length === 0;
};
