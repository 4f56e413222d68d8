import { expect, it } from 'vitest';
import { runRestoreDrill } from '../../../chaos/restore-drill.ts';
import { useProductionRun } from '../../support/stack/production-run.ts';

const aRun = useProductionRun();

it(
  'accounts for all money and repeats no refund after the restore of a backup',
  { timeout: 600_000 },
  async () => {
    const { tables, problems } = await runRestoreDrill(
      { payments: 20, refunds: 8, quick: true },
      { ...aRun(), say: () => {} },
    );

    expect(problems, tables.join('\n')).toEqual([]);
  },
);
