import { existsSync, readFileSync } from 'node:fs';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { declaredResponseNames } from '../checks/contract-problems.ts';

/** Declared, but impossible to provoke. */
const unreachable = new Set(
  // These are served from memory: no dependency can fail.
  ['getOpenApi', 'showDocs', 'getDocsAsset'].flatMap((operation) => [
    `${operation} 500 INTERNAL`,
    `${operation} 503 SERVICE_UNAVAILABLE`,
  ]),
);

/**
 * Fails a complete run of the integration tests if they have not seen every response that the contract
 * declares: each operation with each status and code.
 */
export const everyDeclaredResponse = (): Reporter => {
  let vitest: Vitest | undefined;
  return {
    onInit(given) {
      vitest = given;
    },
    async onTestRunEnd(modules, _errors, reason) {
      if (!modules.some(({ project }) => project.name === 'integration')) return;
      const specifications = (await vitest?.globTestSpecifications()) ?? [];
      const isComplete =
        modules.length === specifications.length && !vitest?.config.testNamePattern;
      if (!isComplete || reason !== 'passed') {
        const why = isComplete ? 'a test failed' : 'not all tests ran';
        process.stdout.write(`Did not check that every declared response was seen: ${why}\n`);
        return;
      }
      const seen = new Set(
        recordsOf(modules).flatMap((file) => readFileSync(file, 'utf8').split('\n')),
      );
      const missing = declaredResponseNames().filter(
        (name) => !seen.has(name) && !unreachable.has(name),
      );
      if (missing.length === 0) return;
      process.exitCode = 1;
      process.stdout.write(
        `Declared responses that no test has seen:\n  ${missing.join('\n  ')}\n`,
      );
    },
  };
};

/** The files in which the projects of a run record the responses they see. */
const recordsOf = (modules: readonly TestModule[]): string[] => [
  ...new Set(
    modules.flatMap(({ project }) => {
      const { answersFile } = project.getProvidedContext();
      return answersFile !== undefined && existsSync(answersFile) ? [answersFile] : [];
    }),
  ),
];
