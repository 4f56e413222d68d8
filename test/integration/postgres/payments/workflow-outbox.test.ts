import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkflowOutbox } from '../../../../postgres/payments/workflow-outbox.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const outbox = createWorkflowOutbox(records.sql);
beforeEach(() => records.beginAgain());

describe('workflowOutbox', () => {
  it('lists the oldest entries first, in bounded batches, and only those of a minimum age', async () => {
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
    const young = await records.created({ createdAt: ago(1) });
    const old = await records.created({ createdAt: ago(7_200) });
    const older = await records.created({ createdAt: ago(10_800) });
    await records.sql`
      update workflow_outbox o set created_at = p.created_at from payments p where p.id = o.payment_id`;
    const list = (limit: number, age = '1 hour') => outbox.list({ limit, age });
    expect(await list(9)).toMatchObject([{ id: older.id }, { id: old.id }]);
    expect(await list(1)).toEqual([
      {
        id: older.id,
        application: 'shop',
        orderId: 'order-1',
        amount: 1250,
        currency: 'EUR',
        gateway: 'sandbox',
        expiresAt: older.expiresAt,
        traceId: null,
      },
    ]);
    expect(await list(9, '0 seconds')).toHaveLength(3);
    await outbox.delete([older.id, 'PAY_unknown']);
    await outbox.delete([]);
    expect(await list(9, '0 seconds')).toMatchObject([{ id: old.id }, { id: young.id }]);
  });

  it('counts at most as many entries as it is asked to', async () => {
    expect(await outbox.count(10)).toBe(0);
    for (let count = 0; count < 4; count += 1) await records.created();
    expect(await outbox.count(10)).toBe(4);
    expect(await outbox.count(3)).toBe(3);
  });
});
