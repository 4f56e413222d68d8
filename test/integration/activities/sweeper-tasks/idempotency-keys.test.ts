import { beforeEach, expect, it } from 'vitest';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

it('deleteExpiredIdempotencyKeys deletes all expired keys and no others', async () => {
  await records.sql`
    insert into idempotency_keys (application, test, route, key, fingerprint, status, location,
      body, expires_at)
    select 'shop', true, 'POST /api/v1/payments', 'key-' || n, '', 201, '', '{}',
      now() + case when n = 1 then interval '1 hour' else interval '-1 hour' end
    from generate_series(1, 10002) n`;
  expect(await sweeperTasksOn(records, {}).deleteExpiredIdempotencyKeys()).toBe(10_001);
  const left = await records.sql`select key from idempotency_keys`;
  expect(left).toEqual([{ key: 'key-1' }]);
});
