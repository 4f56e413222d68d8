import { expect, it } from 'vitest';
import { createConsoleLoginQueries } from '../../../../postgres/console/logins.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { aDatabase } from '../../../support/data/database.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { forFile } from '../../../support/for-file.ts';

const database = await forFile(aDatabase());

const run = (line: string) =>
  runLine((actor = 'ops') => operationsOn(database.sql, { actor }), words(line));

it('prints a link that opens one session, and records who made it for whom', async () => {
  const { code, out } = await run('console login ada --role operator --reason new --as bob');
  expect(code).toBe(0);
  expect(out).toContain('Log in as ada (operator), once and within 15 minutes');
  const [, secret = ''] = /http:\/\/console\.localhost:3002\/login\/([\w-]{43})$/.exec(out) ?? [];
  const logins = createConsoleLoginQueries(database.sql);
  const session = await logins.openSession(secret);
  expect(await logins.getSession(session ?? '')).toMatchObject({ name: 'ada', role: 'operator' });
  expect(await logins.openSession(secret)).toBeUndefined();
  const records = await database.sql`
    select actor, action, subject, after, reason, via from audit_log`;
  expect(records).toEqual([
    {
      actor: 'bob',
      action: 'console.link',
      subject: 'person:ada',
      after: { role: 'operator', applications: null },
      reason: 'new',
      via: 'cli',
    },
  ]);
});

it('makes the link for the caller, an admin, unless it is told otherwise', async () => {
  expect((await run('console login')).out).toContain('Log in as ops (admin)');
});

it.each([
  ...['service', '<b>', ' ', '\u202eada'].map(
    (name) => [['login', name], 'The name needs'] as const,
  ),
  ...['ada', 'ada@', '@example.com', 'a b@example.com', 'a@b@c'].map(
    (email) =>
      [['add', 'kay', '--role', 'viewer', '--email', email], 'address is not valid'] as const,
  ),
])('refuses %j: %s', async (line, why) => {
  const ran = await runLine(() => operationsOn(database.sql), ['console', ...line]);
  expect(ran).toMatchObject({ code: 1, notes: expect.stringContaining(why) });
});

it('lists logins, and ends those of a person', async () => {
  expect((await run('console logins')).out).toMatch(/ada +operator +link .* yes$/m);
  expect((await run('console logout ada')).out).toBe(
    'Ended the sessions of ada: 1; unused links: 0.',
  );
  expect((await run('console logins')).out).toMatch(/ada +operator .* no$/m);
  const { code, notes } = await run('console logout ada');
  expect([code, notes]).toEqual([1, '"ada" has no open session and no unused link.']);
});

it('keeps the role of a known person unless it gets another one', async () => {
  expect((await run('console login grace --role viewer')).out).toContain('grace (viewer)');
  expect((await run('console login grace')).out).toContain('grace (viewer)');
  expect((await run('console login grace --role operator')).out).toContain('grace (operator)');
});

it('adds a person for the identity provider, lists and removes them', async () => {
  await run('console add iris --role operator --email Iris@Example.com');
  expect((await run('console people')).out).toMatch(/iris +operator +iris@example\.com +no +0/);
  const { code, notes } = await run('console add jo --role viewer --email iris@example.com');
  expect([code, notes]).toEqual([1, 'The address is that of "iris".']);
  expect((await run('console remove iris --yes')).code).toBe(0);
  expect((await run('console people')).out).not.toContain('iris');
  expect((await run('console remove iris --yes')).notes).toContain('There is no person "iris"');
});

it('keeps the last admin', async () => {
  await run('console login ops --role admin');
  const why = '"ops" is the last admin of the console. Make another one first';
  for (const line of [
    'console remove ops --yes',
    'console login ops --role operator',
    'console add ops --role viewer --email ops@example.com',
  ]) {
    const { code, notes } = await run(line);
    expect([code, notes], line).toEqual([1, expect.stringContaining(why)]);
  }
  await run('console login bob --role admin');
  const ran = await Promise.all([run('console remove ops --yes'), run('console remove bob --yes')]);
  expect(ran.filter(({ code }) => code === 0)).toHaveLength(1);
});
