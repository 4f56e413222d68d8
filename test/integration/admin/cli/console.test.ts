import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsoleLoginQueries } from '../../../../postgres/console-logins.ts';
import { runLine, words } from '../../../support/admin-line.ts';
import { aDatabase, type Database } from '../../../support/database.ts';
import { operationsOn } from '../../../support/operations.ts';

let database: Database;
beforeAll(async () => {
  database = await aDatabase();
});
afterAll(() => database?.drop());

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
      after: { role: 'operator' },
      reason: 'new',
      via: 'cli',
    },
  ]);
});

it('makes the link for the caller, an admin, unless it is told otherwise', async () => {
  expect((await run('console login')).out).toContain('Log in as ops (admin)');
});

it.each(['service', '<b>', ' ', '\u202eada'])('refuses the name %j', async (name) => {
  const line = ['console', 'login', name];
  const { code, notes } = await runLine(() => operationsOn(database.sql), line);
  expect([code, notes]).toEqual([1, expect.stringContaining('The name needs')]);
});

it('lists logins, and ends those of a person', async () => {
  expect((await run('console logins')).out).toMatch(/ada +operator .* yes$/m);
  expect((await run('console logout ada')).out).toBe('Ended the sessions of ada: 1.');
  expect((await run('console logins')).out).toMatch(/ada +operator .* no$/m);
  const { code, notes } = await run('console logout ada');
  expect([code, notes]).toEqual([1, '"ada" has no open session.']);
});
