import { expect, it } from 'vitest';
import type { Queries } from '../../../postgres/driver/sql.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { forFile } from '../../support/for-file.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';

const roles = readProjectFile('deploy/roles.sql');
// The roles belong to a server, and others make them on the shared one, too.
const server = await forFile(startOwnPostgres());

/** As psql with ON_ERROR_STOP: what fails leaves the connection. */
const runRoles = async () => {
  const owner = connect(server.url, { name: 'tests-owner', max: 1 });
  try {
    await owner.unsafe(roles).simple();
  } finally {
    await owner.end({ timeout: 1 });
  }
};

const readAuditLog = (tx: Queries) => tx`lock table audit_log in access share mode`;

/** An admin acts meanwhile. @returns how long that took */
const insertMs = async () => {
  const began = performance.now();
  await server.sql`
    insert into audit_log (actor, action, subject) values ('ada', 'gateway.add', 'gateway:a')`;
  return performance.now() - began;
};

it('keeps nobody waiting behind it: it gives up, and leaves nothing half done', async () => {
  const reader = await holdLock(server.sql, readAuditLog);
  const running = runRoles().then(
    () => 'done',
    (error: unknown) => error,
  );
  await reader.blocked('roles.sql', { by: 'tests-owner' });
  // 1.5 s, and what a slow machine adds.
  expect(await insertMs()).toBeLessThan(30_000);
  expect(await running).toMatchObject({ code: '55P03' });
  await reader.release();
  const granted = await server.sql`
    select from pg_roles where rolname like 'payments\\_%'`;
  expect(granted).toHaveLength(0);
});

it('changes nothing when it is run again, and needs no table for itself', async () => {
  const state = () => server.sql`
    select c.relname, c.relacl::text, c.relrowsecurity, p.oid, p.polname
    from pg_class c left join pg_policy p on p.polrelid = c.oid
    where c.relnamespace = 'public'::regnamespace order by c.relname, p.polname`;
  await runRoles();
  const before = await state();
  expect(before.filter(({ polname }) => polname !== null)).toHaveLength(25);
  const reader = await holdLock(server.sql, readAuditLog);
  await runRoles();
  await reader.release();
  expect(await state()).toEqual(before);
});
