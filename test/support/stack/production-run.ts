import { onTestFinished } from 'vitest';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { findTemporalServer } from '../../../stack/temporal/program.ts';
import { useProgram } from '../runner/use-program.ts';
import { aFolder, prepare } from './support.ts';

/** @returns what a run on the production shape needs, for the tests beside the call */
export const useProductionRun = () => {
  const programs = useProgram(() => findTemporalServer(thisMachine()));
  return () => {
    const folder = prepare(aFolder());
    // Before the folder goes.
    const cleanup = new AsyncDisposableStack();
    onTestFinished(() => cleanup.disposeAsync());
    return { folder, programs: programs(), cleanup };
  };
};
