import type { Reporter } from 'vitest/node';

/**
 * Prints `N passed, N failed` as the last line of the output. A file that does not load, an error
 * outside of the tests and a run that breaks count as failures. A run without any test fails.
 */
export const closingLine = (): Reporter => {
  const count = { passed: 0, failed: 0, skipped: 0 };
  return {
    onInit() {
      process.once('exit', (code) => {
        if (count.passed + count.failed === 0) process.exitCode = code || 1;
        if (count.failed === 0 && process.exitCode) count.failed = 1;
        const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
        process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`);
      });
    },
    onTestRunEnd(modules, unhandledErrors) {
      count.failed += unhandledErrors.length;
      for (const module of modules) {
        const failedBefore = count.failed;
        for (const test of module.children.allTests()) {
          const { state } = test.result();
          if (state === 'passed' || state === 'failed') count[state] += 1;
          else count.skipped += 1;
        }
        if (module.state() === 'failed' && count.failed === failedBefore) count.failed += 1;
      }
    },
  };
};
