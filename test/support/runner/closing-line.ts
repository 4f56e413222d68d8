import type { Reporter } from 'vitest/node';

/**
 * Prints `N passed, N failed` as the last line of the output. A file that does not load, an error
 * outside of the tests and a run that breaks count as failures. A run without any test fails, unless
 * it has a `label`: then the machine may lack what the tests need. Before it, a line says what each reason
 * was to skip tests.
 */
export const closingLine = ({ label }: { label?: string } = {}): Reporter => {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const missing = new Set<string>();
  return {
    onInit() {
      process.once('exit', (code) => {
        const isSkipped = label !== undefined && count.skipped > 0;
        if (count.passed + count.failed === 0 && !isSkipped) process.exitCode = code || 1;
        if (count.failed === 0 && process.exitCode) count.failed = 1;
        const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
        for (const note of missing) process.stdout.write(`Skipped tests: ${note}\n`);
        const line = `${count.passed} passed, ${count.failed} failed${skipped}`;
        process.stdout.write(`${label === undefined ? '' : `${label}: `}${line}\n`);
      });
    },
    onTestRunEnd(modules, unhandledErrors) {
      count.failed += unhandledErrors.length;
      for (const module of modules) {
        const failedBefore = count.failed;
        for (const test of module.children.allTests()) {
          const result = test.result();
          if (result.state === 'passed' || result.state === 'failed') count[result.state] += 1;
          else count.skipped += 1;
          if (result.state === 'skipped' && result.note) missing.add(result.note);
        }
        if (module.state() === 'failed' && count.failed === failedBefore) count.failed += 1;
      }
    },
  };
};
