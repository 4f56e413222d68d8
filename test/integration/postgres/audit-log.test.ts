import { describe, expect, it } from 'vitest';
import { dayMs } from '../../../contract/time.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { createRetention } from '../../../postgres/admin/retention.ts';
import { forFile } from '../../support/for-file.ts';
import { startRecords } from '../../support/data/records.ts';
import { holdLock } from '../../support/data/hold-lock.ts';

const { sql } = await forFile(startRecords());
const auditLog = createAuditLog(sql);

const record = (nth: number) => ({
  actor: 'ada',
  action: 'application.update' as const,
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
      duplicate_of: 'PAY_0',
    });
  await auditLog.insert(record(7));

  const { last, brokenAt } = await auditLog.verify();
  expect([last.id, brokenAt]).toEqual([8, null]);
  expect(last.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await auditLog.has(last)).toBe(true);
  expect(await auditLog.has({ ...last, hash: '00' })).toBe(false);
});

describe('a reason', () => {
  const write = async (reason: string) => {
    await auditLog.insert({ ...record(9), reason });
    return (await auditLog.verify()).last.id;
  };
  const rowOf = async (id: number) => {
    const [row] = await sql`
      select a.reason, r.salt from audit_log a join audit_reasons r on r.record = a.id where a.id = ${id}`;
    return row;
  };

  it('is emptied by a purge with what could prove it, and the chain stays whole', async () => {
    const old = await write('called off for Jane Doe');
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      // The hash covers the time, so all that follows is calculated anew.
      await tx`update audit_log set at = now() - interval '400 days' where id = ${old}`;
      await tx`
        update audit_log a set hash = audit_hash(
          (select b.hash from audit_log b where b.id = a.id - 1), a) where id = ${old}`;
    });
    const kept = await write('called off for John Doe');
    const { last } = await auditLog.verify();
    expect(await createRetention(sql).forgetReasons(new Date(Date.now() - 300 * dayMs), 10)).toBe(
      1,
    );
    expect(await rowOf(old)).toEqual({ reason: null, salt: null });
    expect(await rowOf(kept)).toMatchObject({ reason: 'called off for John Doe' });
    expect(await auditLog.verify()).toEqual({ last, brokenAt: null });
    expect(JSON.stringify(await sql`select a::text from audit_log a`)).not.toContain('Jane');
  });

  it.each([
    [
      'changes',
      (tx: Queries, id: number) => tx`update audit_log set reason = 'b' where id = ${id}`,
    ],
    [
      'is removed',
      (tx: Queries, id: number) => tx`update audit_log set reason = null where id = ${id}`,
    ],
    [
      'comes back after a purge',
      (tx: Queries, id: number) => tx`update audit_reasons set salt = null where record = ${id}`,
    ],
    [
      'is another one with a hash of its own',
      (tx: Queries, id: number) => tx`
        with r as (update audit_reasons set hash = reason_hash(salt, 'b') where record = ${id})
        update audit_log set reason = 'b' where id = ${id}`,
    ],
  ])('breaks the chain if it %s', async (_name, change) => {
    const id = await write('a');
    expect(await verifiedAfter((tx) => change(tx, id))).toMatchObject({ brokenAt: id });
  });

  it('breaks the chain where none was given', async () => {
    await auditLog.insert(record(10));
    const { id } = (await auditLog.verify()).last;
    expect(
      await verifiedAfter((tx) => tx`update audit_log set reason = 'b' where id = ${id}`),
    ).toMatchObject({ brokenAt: id });
  });

  it('cannot be replaced by an update', async () => {
    const id = await write('a');
    await expect(sql`update audit_log set reason = 'b' where id = ${id}`).rejects.toThrow(
      'append-only',
    );
    await expect(
      sql`update audit_log set reason = null, actor = 'eve' where id = ${id}`,
    ).rejects.toThrow('append-only');
  });
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
