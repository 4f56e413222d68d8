import type { Reporter } from 'vitest/node';

/**
 * Ends the output with `N passed, N failed`, whatever else the run still prints. A file that does
 * not load, an error outside of every test and a run that breaks as a whole count as failures; a
 * run in which no test was executed fails, unless its `label` says that this machine may lack what it needs.
 */
export const closingLine = ({ label }: { label?: string } = {}): Reporter => {
  const count = { passed: 0, failed: 0, skipped: 0 };
  return {
    onInit() {
      process.once('exit', (code) => {
        const isSkipped = label !== undefined && count.skipped > 0;
        if (count.passed + count.failed === 0 && !isSkipped) process.exitCode = code || 1;
        if (count.failed === 0 && process.exitCode) count.failed = 1;
        const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
        const line = `${count.passed} passed, ${count.failed} failed${skipped}`;
        process.stdout.write(`${label === undefined ? '' : `${label}: `}${line}\n`);
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
