import { expect, it, onTestFinished } from 'vitest';
import { plantFault, plantedFaults } from '../../../chaos/planted-faults.ts';
import { aDatabase } from '../../support/data/database.ts';

it.each(plantedFaults)('plants the fault %s in the current schema', async (fault) => {
  const { sql, drop } = await aDatabase();
  onTestFinished(drop);
  await plantFault(sql, fault);
  const triggers = await sql`select from pg_trigger where not tgisinternal and tgenabled = 'O'
    and tgname in ('lose_event', 'change_receipt', 'forget_claim', 'forget_option', 'forget_gateway',
      'forget_candidates')`;
  expect(triggers).toHaveLength(1);
});
