import { describe, expect, it } from 'vitest';
import { anApplicationOn, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const anApplication = () => anApplicationOn(records.sql);

describe('the audit log', () => {
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
