import { afterAll } from 'vitest';

type Stoppable = { stop(): unknown } | { drop(): unknown };

/** Starts what all tests of a file use, at the top level of that file, and stops it after the last one. */
export const forFile = async <T extends Stoppable>(starting: Promise<T>): Promise<T> => {
  const started = await starting;
  afterAll(async () => {
    await ('drop' in started ? started.drop() : started.stop());
  });
  return started;
};
