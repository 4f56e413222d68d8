import { runStack } from '../../../stack/run.ts';

/** A stack whose own programs are all this one. */
export const runAllAs = (program: string): Promise<void> =>
  runStack({
    ...{ api: program, worker: program, shop: program },
    bundle: 'test/fakes/stack/bundle.ts',
  });
