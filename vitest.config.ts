import { defineConfig } from 'vitest/config';
import { closingLine } from './test/support/closing-line.ts';
import { everyDeclaredResponse } from './test/support/every-declared-response.ts';

const project = (name: string) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    // Whole journeys on a real Temporal server, on a slow machine too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

export default defineConfig({
  test: {
    projects: ['unit', 'integration', 'production'].map(project),
    // Once for the whole run. With the unit tests alone it starts nothing.
    globalSetup: 'test/support/environment.ts',
    // The last reporter prints the closing line of the run, so it stays the last.
    reporters: ['default', everyDeclaredResponse(), closingLine()],
    // Most of a test's time is waiting. With four workers a machine of two cores has no CPU to spare.
    maxWorkers: 3,
  },
});
