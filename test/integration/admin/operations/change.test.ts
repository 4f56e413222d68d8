import { describe, expect, it } from 'vitest';
import { TemporalUnavailable } from '../../../../temporal/workflow-calls.ts';
import {
  anApplicationOn,
  emptyTemporal,
  operationsOn,
} from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const anApplication = () => anApplicationOn(records.sql);

const recordsOf = async (subject: string) => {
  const found = await operationsOn(records.sql).auditLog({ subject, limit: 10 });
  return found.map(({ action, reason, after }) => [action, reason, after]);
};

describe('the audit log', () => {
  it('says that Temporal did not take what an admin wanted', async () => {
    const unavailable = () => Promise.reject(new TemporalUnavailable('No connection'));
    const temporal = async () => ({ ...emptyTemporal, verify: unavailable, recheck: unavailable });
    const { payments, accounts } = operationsOn(records.sql, { temporal });
    const { id } = await records.sent();
    await expect(payments.verify(id, 'Ask it')).rejects.toThrow('Temporal is unavailable');
    expect(await recordsOf(`payment:${id}`)).toEqual([
      ['payment.verify', 'Ask it', { failed: true }],
      ['payment.verify', 'Ask it', null],
    ]);
    const [difference] = await records.sql<{ id: number }[]>`
      insert into account_differences (gateway, day, kind, subject, payment_id, state)
      values ('sandbox', '2026-11-20', 'captured_not_paid', ${id}, ${id}, 'open') returning id::int`;
    const number = difference?.id ?? 0;
    await expect(accounts.mend(number, 'Look')).rejects.toThrow('Temporal is unavailable');
    const [last, first] = await recordsOf(`account_difference:${number}`);
    expect(last).toEqual(['account_difference.mend', 'Look', { failed: true }]);
    expect(first?.[2]).toMatchObject({ payment: id });
  });

  it('says that a purge failed, with the failure itself for the admin', async () => {
    const purge = () => operationsOn(records.sql).purge(100, 'Nightly');
    await records.sql`alter table attempts rename column response_body to elsewhere`;
    await expect(purge()).rejects.toThrow('response_body');
    await records.sql`alter table attempts rename column elsewhere to response_body`;
    expect((await recordsOf('retention'))[0]).toEqual([
      'retention.purge',
      'Nightly',
      { failed: true },
    ]);
    await purge();
    expect((await recordsOf('retention'))[0]?.[2]).toMatchObject({ payments_before: null });
  });

  it('is append-only for every statement', async () => {
    await anApplication();
    const refusals = [
      records.sql`update audit_log set actor = 'somebody else'`,
      records.sql`delete from audit_log`,
      records.sql`truncate audit_log`,
    ];
    for (const refused of refusals)
      await expect(refused).rejects.toThrow('audit_log is append-only');
  });

  it('is written in the transaction of the change', async () => {
    const slug = await anApplication();
    const [row] = await records.sql<{ same: boolean }[]>`
      select a.xmin::text = l.xmin::text as same
      from applications a join audit_log l on l.subject = 'application:' || a.slug
      where a.slug = ${slug}`;
    expect(row?.same).toBe(true);
  });

  it('undoes the change when the record cannot be written', async () => {
    const broken = operationsOn(records.sql, { actor: '\0' });
    const slug = await anApplication();
    // Postgres rejects the actor's NUL, and with the record the change.
    const refused = broken.applications.setStatus(slug, 'disabled', null);
    await expect(refused).rejects.toThrow('invalid byte sequence');
    expect((await broken.applications.get(slug)).status).toBe('active');
  });
});
