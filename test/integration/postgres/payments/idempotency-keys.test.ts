import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createIdempotencyKeys } from '../../../../postgres/payments/idempotency-keys.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { anIdempotencyRecord, aPayment } from '../../../support/data/payments.ts';
import { startRecords } from '../../../support/data/records.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const keys = createIdempotencyKeys(records.sql);
beforeEach(() => records.beginAgain());

const { route } = anIdempotencyRecord('any');
const insert = (key: string, keptFor: string) =>
  records.payments.insert(aPayment(), anIdempotencyRecord(key, keptFor));

describe('idempotencyKeys', () => {
  it('deletes expired records in bounded batches', async () => {
    for (const key of ['a', 'b', 'c']) await insert(key, '0');
    await insert('fresh', '1 minute');
    expect(await keys.deleteExpired(2)).toBe(2);
    expect(await keys.deleteExpired(2)).toBe(1);
    expect(await keys.deleteExpired(2)).toBe(0);
    expect(await records.sql`select key from idempotency_keys`).toEqual([{ key: 'fresh' }]);
  });

  it('the sweeper deletes all expired records and no others, however many there are', async () => {
    await insert('fresh', '1 hour');
    await records.sql`
      insert into idempotency_keys (application, test, route, key, fingerprint, status, location, body, expires_at)
      select application, test, route, 'key-' || n, '', 201, '', '{}', now() - interval '1 hour'
      from idempotency_keys, generate_series(1, 10001) n`;
    expect(await sweeperTasksOn(records, {}).deleteExpiredIdempotencyKeys()).toBe(10_001);
    expect(await records.sql`select key from idempotency_keys`).toEqual([{ key: 'fresh' }]);
  });

  it('keeps records while a clock that runs ahead says that they are over', async () => {
    await insert('kept', '1 hour');
    const { application, test } = aPayment();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 48 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await keys.deleteExpired(10)).toBe(0);
    expect(await keys.get({ application, test }, route, 'kept')).toBeDefined();
    // And while that of Postgres does, which is two hours ahead of this process.
    vi.setSystemTime(Date.now() - 50 * 3_600_000);
    await records.sql`update idempotency_keys set expires_at = now() - interval '1 hour'`;
    expect(await keys.deleteExpired(10)).toBe(0);
    expect(await keys.get({ application, test }, route, 'kept')).toBeDefined();
    expect(await insert('kept', '1 hour')).toMatchObject({ isInserted: false });
  });

  it('keeps a record that a create uses again while it is being deleted', async () => {
    await insert('reused', '0');
    const creating = await holdLock(
      records.sql,
      (tx) => tx`update idempotency_keys set expires_at = now() + interval '1 day'`,
    );
    const deleted = keys.deleteExpired(10);
    await creating.blocked('the deletion');
    await creating.commit();
    expect(await deleted).toBe(0);
    expect(await records.sql`select key from idempotency_keys`).toEqual([{ key: 'reused' }]);
  });
});
