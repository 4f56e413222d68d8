import { readFileSync } from 'node:fs';
import type { Reporter, Vitest } from 'vitest/node';
import { declaredAnswers } from './declared.ts';

/** Declared, and not to be brought about. */
const impossible = new Set(
  // These are bytes in memory: nothing can be away, and only a fault in the program could fail.
  ['getOpenApi', 'showDocs', 'getDocsAsset'].flatMap((operation) => [
    `${operation} 500 INTERNAL`,
    `${operation} 503 SERVICE_UNAVAILABLE`,
  ]),
);

/**
 * A run of all tests fails unless they have seen every answer that the contract declares, each
 * operation with each status and code.
 */
export const everyAnswer = (): Reporter => {
  let vitest: Vitest | undefined;
  return {
    onInit(given) {
      vitest = given;
    },
    async onTestRunEnd(modules, _errors, reason) {
      const files = (await vitest?.globTestSpecifications()) ?? [];
      const isWhole = modules.length === files.length && !vitest?.config.testNamePattern;
      if (!isWhole || reason !== 'passed') {
        const why = isWhole ? 'not all tests passed' : 'not all tests ran';
        process.stdout.write(`Declared answers were not looked for: ${why}\n`);
        return;
      }
      const { answersFile } = modules[0]?.project.getProvidedContext() ?? {};
      const seen = new Set(readFileSync(answersFile ?? '', 'utf8').split('\n'));
      const missing = declaredAnswers().filter(
        (answer) => !seen.has(answer) && !impossible.has(answer),
      );
      if (missing.length === 0) return;
      process.exitCode = 1;
      process.stdout.write(`Declared, and seen by no test:\n  ${missing.join('\n  ')}\n`);
    },
  };
};
