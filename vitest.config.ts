import { defineConfig } from 'vitest/config';
import { closingLine } from './test/support/closing-line.ts';
import { everyAnswer } from './test/support/every-answer.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/environment.ts',
    // The last one prints the run's closing line, so it stays the last.
    reporters: ['default', everyAnswer(), closingLine()],
    // Whole journeys on a real engine, also on a slow machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most of a test's time is waiting. With four, a machine of two cores has no time to spare.
    maxWorkers: 3,
  },
});
