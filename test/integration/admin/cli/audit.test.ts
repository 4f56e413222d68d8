import { expect, it } from 'vitest';
import { createAuditLog } from '../../../../postgres/audit-log.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';

const { sql } = await forFile(startRecords());
const run = (line: string) => runLine(() => operationsOn(sql), words(line));

/** As somebody who owns the table and has switched its triggers off. */
const remove = (id: number) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from audit_log where id = ${id}`;
  });

it('audit --verify exits with 1 if the noted record is gone, or the chain is broken', async () => {
  const empty = await run('audit --verify --json');
  expect(empty.code).toBe(0);
  expect(JSON.parse(empty.out)).toEqual({ last: null, broken_at: null, has_noted: true });
  const facts = {
    action: 'application.update',
    subject: 'application:shop',
    actor: 'ada',
  } as const;
  for (const reason of ['one', 'two', 'three'])
    await createAuditLog(sql).insert({ ...facts, before: null, after: null, reason, via: 'cli' });

  const whole = await run('audit --verify');
  expect(whole.code).toBe(0);
  const [, noted] = /^last record +(3:\S+)$/m.exec(whole.out) ?? [];
  expect(await run(`audit --verify --noted ${noted}`)).toMatchObject({ code: 0, out: whole.out });

  await remove(3);
  expect(await run('audit --verify')).toMatchObject({ code: 0 });
  expect(await run(`audit --verify --noted ${noted}`)).toMatchObject({
    code: 1,
    out: expect.stringContaining('whole; the noted record is not there'),
  });
  await remove(1);
  expect(await run('audit --verify')).toMatchObject({
    code: 1,
    out: expect.stringContaining('broken at record 2'),
  });
});

it('audit says amounts in their currency, and in minor units as JSON', async () => {
  await createAuditLog(sql).insert({
    ...{ actor: 'sums', action: 'refund.approve_above', subject: 'currency:EUR', via: 'cli' },
    ...{ before: { above: null }, after: { above: 10_000 }, reason: null },
  });
  expect((await run('audit --actor sums')).out).toContain('{"above":"100.00 EUR"}');
  expect(JSON.parse((await run('audit --actor sums --json')).out)).toMatchObject([
    { after: { above: 10_000 } },
  ]);
});
