import { expect, it } from 'vitest';
import { createReconciliationQueries } from '../../../../postgres/admin/reconciliation.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

it('lists an open payment once it is a minute old, because a younger one may be starting', async () => {
  const { id } = await records.created();
  const listed = async () => {
    const page = { after: undefined, limit: 10 };
    return (await createReconciliationQueries(records.sql).listOpen(page)).map((one) => one.id);
  };
  expect(await listed()).toEqual([]);
  await records.sql`
    update payments set created_at = now() - interval '61 seconds' where id = ${id}`;
  expect(await listed()).toEqual([id]);
});
