import { expect, it, onTestFinished } from 'vitest';
import { runRestoreDrill } from '../../../chaos/restore-drill.ts';
import { thisMachine } from '../../../stack/programs/machine.ts';
import { findTemporalServer } from '../../../stack/temporal/program.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { aFolder, prepare } from '../../support/stack/support.ts';

const programs = useProgram(() => findTemporalServer(thisMachine()));

it(
  'accounts for all money and repeats no refund after the restore of a backup',
  { timeout: 600_000 },
  async () => {
    const folder = prepare(aFolder());
    // Before the folder goes.
    const cleanup = new AsyncDisposableStack();
    onTestFinished(() => cleanup.disposeAsync());
    const { tables, problems } = await runRestoreDrill(
      { payments: 20, refunds: 8, quick: true },
      { folder, programs: programs(), cleanup, say: () => {} },
    );

    expect(problems, tables.join('\n')).toEqual([]);
  },
);
