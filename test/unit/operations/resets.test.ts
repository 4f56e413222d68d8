import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { Refusal } from '../../../operations/change.ts';
import { createResets } from '../../../operations/resets.ts';
import { startRawServer } from '../../support/servers/raw-server.ts';

it('refuses when Temporal does not respond within 5 s, and says what to do', async () => {
  await using mute = await startRawServer(() => {});
  const connection = Connection.lazy({ address: new URL(mute.url).host });
  try {
    const began = performance.now();
    const refused: unknown = await createResets(new Client({ connection }))
      .toDelivery('PAY_1', 'a test')
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(String(refused)).toContain(
      'Temporal could not reset the workflow, and nothing was changed: it did not respond within 5 seconds; try again later',
    );
    expect(performance.now() - began).toBeLessThan(8_000);
  } finally {
    await connection.close();
  }
}, 20_000);
