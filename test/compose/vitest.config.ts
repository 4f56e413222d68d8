import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** `npm run test:compose`: it needs a Docker Engine of its own, so it is no part of `npm test`. */
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    name: 'compose',
    include: ['test/compose/**/*.test.ts'],
    globalSetup: 'test/support/runner/leave-nothing.ts',
    // Each takes all cores.
    fileParallelism: false,
    testTimeout: 600_000,
    // With base images and programs to be made first: a build alone may take 45 minutes.
    hookTimeout: 60 * 60_000,
    // Each test begins where the one before left the installation.
    bail: 1,
    reporters: ['verbose'],
  },
});
