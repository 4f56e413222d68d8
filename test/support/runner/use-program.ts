import { beforeAll, beforeEach } from 'vitest';
import { MissingProgram } from '../../../stack/programs/machine.ts';

/** With an empty cache the program is built first, which may take 45 minutes. */
const buildLimitMs = 60 * 60_000;

/**
 * Finds a program that may have to be built, once for the tests beside the call. Skips them on a machine
 * that cannot get it; in CI they fail.
 * @returns a function for those tests, which returns the program
 */
export const useProgram = <T>(find: () => Promise<T>): (() => T) => {
  const found: T[] = [];
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      found.push(await find());
    } catch (error) {
      // oxlint-disable-next-line node/no-process-env -- It is no setting of the service.
      if (!(error instanceof MissingProgram) || process.env['CI']) throw error;
      missing = error.message;
    }
  }, buildLimitMs);
  beforeEach(({ skip }) => skip(missing !== undefined, missing));
  return () => found[0]!;
};
