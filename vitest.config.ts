import { defineConfig } from 'vitest/config';
import { closingLine } from './test/support/closing-line.ts';
import { everyDeclaredResponse } from './test/support/every-declared-response.ts';

const project = (
  name: string,
  { maxWorkers, groupOrder }: Record<'maxWorkers' | 'groupOrder', number>,
) => ({
  test: {
    name,
    maxWorkers,
    sequence: { groupOrder },
    include: [`test/${name}/**/*.test.ts`],
    // Whole journeys on a real Temporal server, on a slow machine too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

export default defineConfig({
  test: {
    projects: [
      // Most of a test's time is waiting: five workers keep two cores busy.
      project('unit', { maxWorkers: 5, groupOrder: 0 }),
      project('integration', { maxWorkers: 5, groupOrder: 0 }),
      // Whole stacks under load, which a busy machine makes respond 503.
      project('production', { maxWorkers: 2, groupOrder: 1 }),
    ],
    // Once for the whole run. With the unit tests alone it starts nothing.
    globalSetup: 'test/support/environment.ts',
    // The last reporter prints the closing line of the run, so it stays the last.
    reporters: ['default', everyDeclaredResponse(), closingLine()],
  },
});
