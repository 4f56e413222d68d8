import { expect, it } from 'vitest';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { forFile } from '../../support/for-file.ts';
import { startRecords } from '../../support/data/records.ts';
import { holdLock } from '../../support/data/hold-lock.ts';

const { sql } = await forFile(startRecords());
const auditLog = createAuditLog(sql);

const record = (nth: number) => ({
  actor: 'ada',
  action: 'application.update',
  subject: `application:${nth}`,
  before: null,
  after: { requests_per_minute: nth },
  reason: null,
  via: 'cli' as const,
});

/** As somebody who owns the tables and has switched the triggers off. The change is undone. */
const verifiedAfter = async (change: (tx: Queries) => Promise<unknown>) => {
  const undo = new Error('undo');
  let verified;
  await sql
    .begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await change(tx);
      verified = await createAuditLog(tx).verify();
      throw undo;
    })
    .catch((error: unknown) => expect(error).toBe(undo));
  return verified;
};

it('the chain is whole after records of transactions that overlap, roll back or conflict', async () => {
  expect(await auditLog.verify()).toEqual({ last: { id: 0, hash: '' }, brokenAt: null });
  const holder = await holdLock(sql, (tx) => createAuditLog(tx).insert(record(0)));
  const writing = Promise.all([1, 2, 3, 4, 5].map((nth) => auditLog.insert(record(nth))));
  await holder.blocked('each writer', { count: 5 });
  await holder.commit();
  await writing;
  await expect(
    sql.begin(async (tx) => {
      await createAuditLog(tx).insert(record(6));
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  for (const id of ['PAY_1', 'PAY_2'])
    await auditLog.insertDuplicate('payment.duplicate', id, {
      application: 'a',
      test: false,
      order_id: 'o',
    });
  await auditLog.insert(record(7));

  const { last, brokenAt } = await auditLog.verify();
  expect([last.id, brokenAt]).toEqual([8, null]);
  expect(last.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await auditLog.has(last)).toBe(true);
  expect(await auditLog.has({ ...last, hash: '00' })).toBe(false);
});

it.each([
  ['a changed record', 3, (tx: Queries) => tx`update audit_log set actor = 'eve' where id = 3`],
  ['a changed time', 3, (tx: Queries) => tx`update audit_log set at = now() where id = 3`],
  ['a removed record', 5, (tx: Queries) => tx`delete from audit_log where id = 4`],
  ['removed first records', 3, (tx: Queries) => tx`delete from audit_log where id < 3`],
  [
    'a record with a hash of its own',
    4,
    (tx: Queries) =>
      tx`update audit_log a set actor = 'eve', hash = audit_hash((
        select hash from audit_log where id = 2), row(a.id, a.at, 'eve', a.action, a.subject,
        a.before, a.after, a.reason, a.via, a.hash)::audit_log) where id = 3`,
  ],
])('the chain is broken by %s', async (_name, brokenAt, change) => {
  expect(await verifiedAfter(change)).toMatchObject({ brokenAt });
});
