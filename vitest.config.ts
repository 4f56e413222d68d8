import { homedir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { compileCache } from './test/support/runner/compile-cache.ts';
import { MixedOrder, workers } from './test/support/runner/mixed-order.ts';
import { onFewCores } from './test/support/runner/on-few-cores.ts';

interface ProjectOptions {
  /** Whether each file has a process of its own. */
  isolate: boolean;
  setupFiles?: string[];
}

const project = (name: string, options: ProjectOptions) => ({
  test: {
    name,
    ...options,
    // All in one group: no core waits for the last file of a project.
    maxWorkers: workers,
    execArgv: onFewCores,
    // Compiling the same modules again for each file takes as long as many of the tests.
    env: { NODE_COMPILE_CACHE: compileCache },
    include: [`test/${name}/**/*.test.ts`],
    // Whole journeys on a real Temporal server, on a slow machine too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});

export default defineConfig({
  // Vitest keeps the durations of files here, which decide their order, in a new checkout too.
  cacheDir: join(homedir(), '.cache', 'payments', 'vitest'),
  test: {
    projects: [
      project('unit', { isolate: false }),
      project('integration', { isolate: false }),
      project('production', { isolate: true, setupFiles: ['test/support/runner/turns.ts'] }),
    ],
    sequence: { sequencer: MixedOrder },
    // Once for the whole run. With the unit tests alone it starts nothing.
    globalSetup: ['leave-nothing.ts', 'environment.ts'].map(
      (file) => `test/support/runner/${file}`,
    ),
    // A busy machine takes longer to stop it than the default of 10 s, and the servers would be left running.
    teardownTimeout: 300_000,
    // Also where Vitest would choose another one by itself.
    reporters: ['default', './test/support/runner/progress.ts'],
    // Tests of failures log many errors, which say something only where a test fails.
    silent: 'passed-only',
    slowTestThreshold: 10_000,
  },
});
