import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createIdentityProvider } from '../../../../admin/console/identity-provider.ts';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';
import {
  client,
  createVisitor,
  startIdentityProvider,
  type Visitor,
} from '../../../support/servers/identity-provider.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';

let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let visitor: Visitor;
const console = await forFile(
  startConsole({
    identityProviderOf: async (baseUrl, logger) => {
      provider = await startIdentityProvider(`${baseUrl}/login/provider/callback`);
      return createIdentityProvider({
        issuer: provider.issuer,
        clientId: client.id,
        clientSecret: client.secret,
        baseUrl,
        logger,
      });
    },
  }),
);
afterAll(() => provider.stop());
beforeEach(() => {
  visitor = createVisitor();
});
afterEach(() => vi.useRealTimers());

const at = (path: string) => new URL(path, console.baseUrl);
const add = (name: string, login = name) =>
  operationsOn(console.sql).console.add(
    { name, role: 'operator', email: `${login}@example.com` },
    null,
  );
/** Lets a person in who has come back from the provider. @returns the way into the console */
const begin = async (name: string) => {
  await add(name);
  return visitor.logInAtProvider(at('/login/provider'), name);
};
/** The whole login, through every redirect. */
const logIn = async (login: string, path = '/login/provider') =>
  visitor.open(await visitor.logInAtProvider(at(path), login));
const isLoggedIn = async () => (await visitor.open(at('/payments'))).url.pathname === '/payments';

describe('a login at the identity provider', () => {
  it('logs in the person with the verified address, in the role of the table', async () => {
    await add('Ada L', 'ada');
    const { url, status, text } = await logIn('ada');
    expect([url.pathname, status]).toEqual(['/', 200]);
    expect(text).toContain('Ada L');
    expect(text).toContain('(operator)');
    const records = await console.sql`
      select actor, action, after, via from audit_log where subject = 'person:Ada L' order by id`;
    expect(records).toMatchObject([
      { action: 'console.add' },
      {
        actor: 'Ada L',
        action: 'console.account',
        after: { issuer: provider.issuer.origin, subject: 'ada' },
        via: 'console',
      },
      { actor: 'Ada L', action: 'console.login', after: { via: 'provider' }, via: 'console' },
    ]);
  });

  it('knows the account from then on, and not the address', async () => {
    await add('bob');
    await logIn('bob');
    await operationsOn(console.sql).console.add(
      { name: 'bob', role: 'viewer', email: 'robert@example.com' },
      null,
    );
    const statusOf = async (login: string) => {
      visitor = createVisitor();
      return (await logIn(login)).status;
    };
    // The command unbinds the account, so the new address decides.
    expect([await statusOf('bob'), await statusOf('robert')]).toEqual([403, 200]);
    await console.sql`update console_people set email = 'mallory@example.com' where name = 'bob'`;
    expect([await statusOf('mallory'), await statusOf('robert')]).toEqual([409, 200]);
  });

  it('leads back to the page that wanted a fresh login, and makes it open', async () => {
    await add('carol');
    await logIn('carol');
    await console.sql`
      update console_sessions set proved_at = now() - interval '11 minutes' where name = 'carol'`;
    const stale = await visitor.open(at('/me/passkeys'));
    expect([stale.status, stale.text.includes('Log in again first')]).toEqual([403, true]);
    const [, href = ''] = /href="(\/login\/provider[^"]*)"/.exec(stale.text) ?? [];
    const { url, status } = await logIn('carol', href);
    expect([url.pathname, status]).toEqual(['/me/passkeys', 200]);
    const open = await console.sql`
      select from console_sessions where name = 'carol' and ended_at is null`;
    expect(open).toHaveLength(1);
  });

  it('asks for the person again where the provider did so more than five minutes ago', async () => {
    await add('dora');
    await logIn('dora');
    const withoutPage = (url: URL) => url.pathname.startsWith('/interaction/');
    const soon = await visitor.open(at('/login/provider'), { isEnd: withoutPage });
    expect(soon.url.pathname).toBe('/');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 301_000 });
    const later = await visitor.open(at('/login/provider'), { isEnd: withoutPage });
    expect(later.url.pathname).toMatch(/^\/interaction\//);
  });

  it.each([null, new Date(Date.now() - 601_000)])(
    'is no fresh proof when the provider asked for the person at %s',
    async (provedAt) => {
      await add('old');
      const account = { issuer: 'https://old.example', subject: 'old' };
      await operationsOn(console.sql).console.bindAccount('old', account);
      const session = await console.links.openProviderSession(account, provedAt);
      const cookie = `console=${session}`;
      expect((await console.call('/me', { cookie })).status).toBe(200);
      expect((await console.call('/me/passkeys', { cookie })).status).toBe(403);
    },
  );
});

describe('a login at the identity provider is refused', () => {
  it.each([
    ['an account that nobody let in', 'stranger', 'Nobody has let in your account'],
    ['an address that the provider has not verified', 'eve', 'has verified your e-mail address'],
  ])('for %s', async (_, login, why) => {
    await add('eve');
    const { status, text } = await logIn(login);
    expect([status, text.includes(why)]).toEqual([403, true]);
    expect(await isLoggedIn()).toBe(false);
  });

  it('with another state, and the login is spent then', async () => {
    const back = await begin('gina');
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect((await visitor.open(forged)).status).toBe(403);
    expect((await visitor.open(back)).status).toBe(410);
    expect(await isLoggedIn()).toBe(false);
  });

  it('in a browser that did not begin it', async () => {
    const back = await begin('hugo');
    expect((await createVisitor().open(back)).status).toBe(410);
  });

  it('when its address is opened twice', async () => {
    const back = await begin('ida');
    expect((await visitor.open(back)).status).toBe(200);
    expect((await visitor.open(back)).status).toBe(410);
  });

  it('with a code that was used before', async () => {
    const first = await begin('jan');
    await visitor.open(first);
    const second = await visitor.logInAtProvider(at('/login/provider'), 'jan');
    second.searchParams.set('code', first.searchParams.get('code') ?? '');
    const { status, text } = await visitor.open(second);
    expect([status, text.includes('The login is refused')]).toEqual([403, true]);
  });

  it('ten minutes after it began', async () => {
    const back = await begin('kim');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    const { status, text } = await visitor.open(back);
    expect([status, text.includes('The login is too old')]).toEqual([410, true]);
    expect(await isLoggedIn()).toBe(false);
  });

  it('when the person declines at the provider', async () => {
    const back = at('/login/provider/callback');
    const page = await visitor.open(at('/login/provider'), {
      isEnd: ({ pathname }) => pathname.startsWith('/interaction/'),
    });
    const url = await visitor.open(new URL(`${page.url.href}/abort`), {
      isEnd: ({ pathname }) => pathname === back.pathname,
    });
    expect(url.url.searchParams.get('error')).toBe('access_denied');
    expect((await visitor.open(url.url)).status).toBe(403);
  });

  it('with a cookie that this console did not seal', async () => {
    await add('joe');
    const facts = { back: '/', at: Date.now(), nonce: 'x' };
    const text = Buffer.from(JSON.stringify(facts)).toString('base64url');
    for (const seal of ['', 'x', 'x'.repeat(43)]) {
      const cookie = `console-login=${text}.${seal}`;
      const { status } = await console.call('/login/provider/callback?code=x', { cookie });
      expect(status).toBe(410);
    }
  });
});

it.each(['https://attacker.example', '//attacker.example', '/\\attacker.example', '/a?b=<c>', 'x'])(
  'leads to the overview and not to %s',
  async (back) => {
    await add('lea');
    const { url } = await logIn('lea', `/login/provider?back=${encodeURIComponent(back)}`);
    expect(url.href).toBe(`${console.baseUrl}/`);
  },
);

it('lets people in while 20,000 logins have begun that nobody ends', async () => {
  for (let count = 0; count < 20_000; count += 1) console.deps.begunLogins.begin('/');
  await add('mark');
  expect((await logIn('mark')).status).toBe(200);
});

it('forgets ended logins after ten minutes', async () => {
  await console.sql`update console_ended_logins set created_at = now() - interval '11 minutes'`;
  expect(await console.links.endBegunLogin('one')).toBe(true);
  expect(await console.links.endBegunLogin('one')).toBe(false);
  expect(await console.sql`select from console_ended_logins`).toHaveLength(1);
});

it('records the first refused login of each hour and way', async () => {
  await console.sql`delete from console_people where name = 'stranger'`;
  const refused = () => console.sql<{ login: string; many: number }[]>`
    select after->>'login' as login, count(*)::int as many from audit_log
    where action = 'console.refuse_login' group by 1 order by 1`;
  // The hour may end between two of them.
  const once = (login: string) => ({ login, many: expect.toBeOneOf([1, 2]) as number });
  for (const _ of [1, 2, 3]) {
    expect((await logIn('stranger')).status).toBe(403);
    expect((await console.call('/login/unknown', { method: 'POST', form: {} })).status).toBe(410);
  }
  expect(await refused()).toEqual([once('link'), once('provider')]);
  visitor = createVisitor();
  await add('ida');
  expect((await logIn('ida')).status).toBe(200);
  expect(await refused()).toEqual([once('link'), once('provider')]);
});

describe('a person who is added again', () => {
  it('loses sessions, links and passkeys, for the name may be another one from now on', async () => {
    await add('oncall', 'olga');
    await logIn('olga');
    expect(await isLoggedIn()).toBe(true);
    await console.links.issueLink('oncall', { role: 'operator', applications: null });
    await console.sql`
      insert into console_passkeys (id, name, label, public_key, counter)
      values ('p', 'oncall', 'laptop', 'k', 0)`;
    await add('oncall', 'peter');
    expect(await isLoggedIn()).toBe(false);
    const people = await operationsOn(console.sql).console.people(100);
    expect(people.find(({ name }) => name === 'oncall')).toMatchObject({
      ...{ email: 'peter@example.com', hasAccount: false },
      ...{ passkeys: 0, openSessions: 0, unusedLinks: 0 },
    });
  });
});

it('lets in the account with a subject, whose address the provider has not verified', async () => {
  const { add: addPerson } = operationsOn(console.sql).console;
  const person = { name: 'Eve S', role: 'viewer', email: null, subject: 'eve' } as const;
  await addPerson(person, null);
  await expect(addPerson({ ...person, name: 'another' }, null)).rejects.toThrow('that of "Eve S"');
  const { status, text } = await logIn('eve');
  expect([status, text.includes('Eve S')]).toEqual([200, true]);
  await expect(addPerson({ ...person, email: 'mar\u212A@example.com' }, null)).rejects.toThrow(
    'not in ASCII',
  );
});

it('keeps codes, states, tokens and the client secret out of the log and of Postgres', async () => {
  const back = await begin('mia');
  const begunLogin = /console-login=([\w.-]+)/.exec(visitor.cookieFor(back))?.[1] ?? '';
  const rows = await console.sql`select a::text from console_ended_logins a`;
  await visitor.open(back);
  back.searchParams.set('code', 'wrong');
  const again = await visitor.logInAtProvider(at('/login/provider'), 'mia');
  again.searchParams.set('code', 'wrong-code');
  await visitor.open(again);
  const written = JSON.stringify([console.lines, rows]);
  expect(written).toContain('invalid_grant');
  for (const param of ['code', 'state'])
    expect(written).not.toContain(again.searchParams.get(param));
  expect(written).not.toContain(begunLogin);
  expect(written).not.toContain(client.secret);
  expect(written).not.toContain('eyJ');
});

// The last one: it stops the provider.
it('explains that the provider is unavailable, at the start and at the end of a login', async () => {
  const back = await begin('nora');
  provider.stop();
  for (const url of [back, at('/login/provider')]) {
    const { status, text } = await visitor.open(url);
    expect([status, text.includes('The identity provider is unavailable')]).toEqual([502, true]);
    expect(text).toContain('href="/login"');
  }
});
