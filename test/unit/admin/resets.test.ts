import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';
import { Refusal } from '../../../admin/change.ts';
import { createResets } from '../../../admin/resets.ts';
import { startRawServer } from '../../support/raw-server.ts';

it('a Temporal that does not answer within 5 s: says so, and what to do', async () => {
  await using mute = await startRawServer(() => {});
  const connection = Connection.lazy({ address: new URL(mute.url).host });
  try {
    const began = performance.now();
    const refused: unknown = await createResets(new Client({ connection }))
      .toDelivery('PAY_1', 'a test')
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(String(refused)).toContain(
      'Temporal did not reset the workflow, so nothing was changed: it did not answer within 5 seconds; try again when it does',
    );
    expect(performance.now() - began).toBeLessThan(8_000);
  } finally {
    await connection.close();
  }
}, 20_000);
