import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { consoleRoles } from '../../../../postgres/console/logins.ts';
import { until } from '../../../support/until.ts';
import { awayProvider, call, hoursOf, startConsole } from '../../../support/service/console.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { forFile } from '../../../support/for-file.ts';

const console = await forFile(startConsole({ identityProviderOf: awayProvider }));

const loginFor = (path: string) => `/login?back=${encodeURIComponent(path)}`;

const linkFor = (name = 'ada') =>
  console.links.issueLink(name, { role: 'admin', applications: null });
const openLink = (code: string) => console.call(`/login/${code}`, { method: 'POST', form: {} });
const cookieOf = (setCookie: string[] | undefined) => setCookie?.[0]?.split(';')[0];

describe('every route', () => {
  it('answers nobody without a login, and each role only from its rank on', async () => {
    const seen: string[] = [];
    const logins = new Map<string, Awaited<ReturnType<typeof console.logIn>>>();
    for (const route of createRoutes(console.deps)) {
      if (route.role === 'anyone') continue;
      const path = route.path.replace(/:\w+/g, 'none');
      const name = `${route.method} ${route.path}`;
      const anonymous = await console.call(path, {
        method: route.method,
        ...(route.method === 'POST' && { form: {} }),
      });
      const login = route.method === 'POST' || path === '/' ? '/login' : loginFor(path);
      expect([anonymous.status, anonymous.headers.location], name).toEqual([303, login]);
      for (const role of consoleRoles) {
        const own = logins.get(role) ?? (await console.logIn(role));
        logins.set(role, own);
        const { cookie, csrf } = own;
        const { status, text, headers } = await console.call(path, {
          method: route.method,
          cookie,
          ...(route.method === 'POST' && { form: { csrf } }),
        });
        const isAllowed = consoleRoles.indexOf(role) >= consoleRoles.indexOf(route.role);
        expect(text.includes('Not allowed'), `${name} as ${role}: ${text}`).toBe(!isAllowed);
        if (isAllowed) expect(status, `${name} as ${role}: ${text}`).toBeLessThan(500);
        else expect(status, `${name} as ${role}`).toBe(403);
        if (isAllowed) expect(status, `${name} as ${role}`).not.toBe(403);
        // One of them ends it.
        const isOver = name === 'POST /logout';
        expect(Boolean(headers.location?.startsWith('/login')), name).toBe(isOver && isAllowed);
        if (isOver) logins.delete(role);
      }
      seen.push(name);
    }
    expect(seen.length).toBeGreaterThan(5);
  });

  it('is without the one that skips time, unless npm start has switched it on', () => {
    const pathsWith = (skipsTime: boolean) =>
      createRoutes({ ...console.deps, skipsTime }).map(({ path }) => path);
    expect(pathsWith(false)).not.toContain('/payments/:id/skip');
    expect(pathsWith(true)).toContain('/payments/:id/skip');
  });

  it('of anyone shows no data', async () => {
    const open = createRoutes(console.deps).filter(({ role }) => role === 'anyone');
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /login/passkey/options',
      'POST /login/passkey',
      'GET /login/provider',
      'GET /login/provider/callback',
      'GET /login',
      'GET /login/:code',
      'POST /login/:code',
      'GET /logout',
    ]);
  });
});

describe('a login link', () => {
  it('opens one session: a GET spends nothing, and a second POST finds it spent', async () => {
    const code = await linkFor();
    for (const status of [200, 200])
      expect((await console.call(`/login/${code}`)).status).toBe(status);
    const first = await openLink(code);
    expect([first.status, first.headers.location]).toEqual([303, '/']);
    expect(first.headers['set-cookie']?.[0]).toMatch(
      /^console=[\w-]{43}; path=\/; expires=[^;]+ GMT; samesite=lax; httponly$/,
    );
    expect(hoursOf(first.headers['set-cookie']?.[0])).toBe(24);
    const second = await openLink(code);
    expect([second.status, second.headers['set-cookie']]).toEqual([410, undefined]);
    expect((await console.call(`/login/${code}`)).status).toBe(410);
  });

  it('opens one session when two browsers use it at once', async () => {
    const code = await linkFor();
    const answers = await Promise.all([1, 2, 3, 4].map(() => openLink(code)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(3);
  });

  it('is refused after 15 minutes', async () => {
    const code = await linkFor('late');
    await console.sql`
      update console_links set expires_at = expires_at - interval '15 minutes' where name = 'late'`;
    const { status } = await openLink(code);
    expect(status).toBe(410);
  });

  it('stands in no log line, and neither it nor the session stands in Postgres', async () => {
    const code = await linkFor();
    const { headers } = await openLink(code);
    const session = cookieOf(headers['set-cookie'])?.split('=')[1] ?? '';
    expect(JSON.stringify(console.lines)).toContain('/login/:code');
    const rows = await console.sql`
      select l::text as row from console_links l union all select s::text from console_sessions s`;
    for (const secret of [code, session]) {
      expect(JSON.stringify(console.lines)).not.toContain(secret);
      expect(JSON.stringify(rows)).not.toContain(secret);
    }
  });
});

describe('an admin who ends the sessions of a person', () => {
  it('voids unused links of the person, and nobody else’s', async () => {
    const [code, other] = [await linkFor('leaver'), await linkFor('stayer')];
    await operationsOn(console.sql).console.logOut('leaver', null);
    expect((await console.call(`/login/${code}`)).status).toBe(410);
    expect([(await openLink(code)).status, (await openLink(other)).status]).toEqual([410, 303]);
  });

  it('leaves no session of a link that is opened at the same moment', async () => {
    const code = await linkFor('racer');
    const [opened] = await Promise.all([
      openLink(code),
      operationsOn(console.sql).console.logOut('racer', null),
    ]);
    const cookie = cookieOf(opened.headers['set-cookie']);
    expect((await console.call('/payments', { cookie })).status).toBe(303);
  });
});

describe('a person', () => {
  it('has one role, which the next request of an open session sees', async () => {
    const { cookie } = await console.logIn('admin', 'demoted');
    const path = '/applications/shop/disable';
    expect((await console.call(path, { cookie })).status).not.toBe(403);
    await console.links.issueLink('demoted', { role: 'viewer', applications: null });
    expect((await console.call(path, { cookie })).status).toBe(403);
  });

  it('who is removed has no session, no link and no passkey', async () => {
    const { cookie } = await console.logIn('admin', 'removed');
    const code = await linkFor('removed');
    await console.sql`
      insert into console_passkeys (id, name, label, public_key, counter)
      values ('\\x00', 'removed', 'a', '\\x00', 0)`;
    await operationsOn(console.sql).console.remove('removed', null);
    expect((await console.call('/payments', { cookie })).status).toBe(303);
    expect((await console.call(`/login/${code}`)).status).toBe(410);
    expect(await console.sql`select from console_passkeys`).toHaveLength(0);
  });
});

describe('a session', () => {
  const statusWith = async (cookie: string) => (await console.call('/payments', { cookie })).status;

  it('ends at logout', async () => {
    const person = await console.logIn('viewer');
    const { cookie } = person;
    expect(await statusWith(cookie)).toBe(200);
    const out = await person.post('/logout');
    expect(out.headers['set-cookie']?.[0]).toMatch(/^console=; .*expires=Thu, 01 Jan 1970 /);
    expect(await statusWith(cookie)).toBe(303);
  });

  it.each([
    ['an idle hour', 'seen_at', '61 minutes'],
    ['12 hours', 'created_at', '721 minutes'],
  ])('ends after %s', async (_, column, age) => {
    const name = `aged-${column}`;
    const { cookie } = await console.logIn('viewer', name);
    expect(await statusWith(cookie)).toBe(200);
    await console.sql`
      update console_sessions s set ${console.sql(column)} = now() - ${age}::interval
      from console_links l where l.hash = s.link and l.name = ${name}`;
    expect(await statusWith(cookie)).toBe(303);
  });

  it('stays alive by asking for a page, and not by a page that refreshes itself', async () => {
    const { cookie } = await console.logIn('viewer', 'idle');
    const age = async () => {
      await console.sql`
        update console_sessions s set seen_at = now() - interval '59 minutes'
        from console_links l where l.hash = s.link and l.name = 'idle'`;
    };
    const isRecent = async () => {
      const [row] = await console.sql<{ recent: boolean }[]>`
        select s.seen_at > now() - interval '1 minute' as recent
        from console_sessions s join console_links l on l.hash = s.link where l.name = 'idle'`;
      return row?.recent;
    };
    await age();
    expect((await console.call('/overview', { cookie })).status).toBe(200);
    expect(await isRecent()).toBe(false);
    await console.call('/payments', { cookie });
    expect(await isRecent()).toBe(true);
  });

  it('of before ends when its browser opens another link', async () => {
    const { cookie, csrf } = await console.logIn('viewer');
    const rights = { role: 'viewer', applications: null } as const;
    const code = await console.links.issueLink('viewer-person', rights);
    await console.call(`/login/${code}`, { method: 'POST', cookie, form: { csrf } });
    expect(await statusWith(cookie)).toBe(303);
  });
});

describe('a request', () => {
  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    [
      'another origin, in an old browser',
      { 'sec-fetch-site': '', origin: 'http://127.0.0.1:3001' },
    ],
    ['nowhere, in an old browser', { 'sec-fetch-site': '' }],
  ])('that posts from %s is refused', async (_, headers) => {
    const { cookie, csrf } = await console.logIn('viewer');
    const form = { csrf, zone: 'Asia/Tehran' };
    const refused = await console.call('/settings', { method: 'POST', cookie, form, headers });
    expect([refused.status, refused.headers['set-cookie']]).toEqual([403, undefined]);
  });

  it('that posts from our origin in an old browser is served', async () => {
    const { cookie, csrf } = await console.logIn('viewer');
    const { status } = await console.call('/settings', {
      ...{ method: 'POST', cookie, form: { csrf, zone: 'Asia/Tehran' } },
      headers: { 'sec-fetch-site': '', origin: console.baseUrl },
    });
    expect(status).toBe(303);
  });

  it('that posts a form without the token, with another or that of another session is refused', async () => {
    const person = await console.logIn('viewer');
    const { cookie } = person;
    const without = await console.call('/settings', { method: 'POST', cookie, form: {} });
    expect(without.status).toBe(403);
    const { csrf } = await console.logIn('viewer');
    for (const forged of ['', 'x'.repeat(43), csrf])
      expect((await person.post('/settings', { csrf: forged })).status, forged).toBe(403);
  });

  it.each(['attacker.example', '127.0.0.1', 'localhost', 'console.localhost:1'])(
    'to the name %s is refused, so that no other name can be bound to the console',
    async (name) => {
      const { cookie } = await console.logIn('viewer');
      const host = name.includes(':') ? name : `${name}:${console.port}`;
      const { status, text } = await console.call('/payments', { cookie, headers: { host } });
      expect([status, text]).toEqual([421, `The console answers at ${console.baseUrl} only.\n`]);
    },
  );

  it('gets the headers that keep a page to itself', async () => {
    const { cookie } = await console.logIn('viewer');
    for (const path of ['/', '/login', '/payments', '/none', '/payments/none']) {
      const { headers } = await console.call(path, { cookie });
      expect(headers, path).toMatchObject({
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
      const policy = headers['content-security-policy'];
      expect(policy, path).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy, path).not.toContain('unsafe');
      expect(policy, path).toMatch(/frame-ancestors 'none'/);
    }
  });

  it('with a form of more than 32 KB, or none, is refused', async () => {
    const person = await console.logIn('viewer');
    const { cookie } = person;
    expect((await person.post('/settings', { zone: 'x'.repeat(40_000) })).status).toBe(413);
    const none = { method: 'POST', cookie, headers: { 'content-type': 'text/plain' } };
    expect((await console.call('/settings', none)).status).toBe(413);
  });
});

it('each cookie is bound to the one name over https', async () => {
  const port = await console.serveAt('https://console.example');
  const code = await linkFor();
  const { headers } = await call(port, `/login/${code}`, {
    method: 'POST',
    form: {},
    headers: { host: 'console.example' },
  });
  expect(headers['set-cookie']?.[0]).toMatch(
    /^__Host-console=[\w-]{43}; path=\/; expires=[^;]+ GMT; samesite=lax; secure; httponly$/,
  );
  // What another name of the site has set.
  const show = async (prefix: string) => {
    const { text } = await call(port, '/settings', {
      headers: { host: 'console.example' },
      cookie: [
        headers['set-cookie']?.[0]?.split(';')[0],
        `${prefix}console-zone=Asia/Tehran`,
        `${prefix}console-mode=test`,
      ].join('; '),
    });
    return ['Times in Asia/Tehran', 'Test mode'].map((words) => text.includes(words));
  };
  expect([await show(''), await show('__Host-')]).toEqual([
    [false, false],
    [true, true],
  ]);
});

it('a message is shown once, to the session whose change it is about, and no other text', async () => {
  const [ada, eve] = [await console.logIn('viewer', 'ada'), await console.logIn('viewer', 'eve')];
  const changed = await ada.post('/settings', { zone: 'Asia/Tehran' });
  const cookies = changed.headers['set-cookie'] ?? [];
  const [, sealed = ''] = /^console-message=([^;]+)/.exec(cookies.at(-1) ?? '') ?? [];
  const [words = '', seal = ''] = sealed.split('.');
  const show = async (cookie: string, message: string) => {
    const answer = await console.call('/settings', {
      cookie: `${cookie}; console-message=${message}`,
    });
    return [answer.status, answer.text.includes('class="notice good"')];
  };
  expect(await show(ada.cookie, sealed)).toEqual([200, true]);
  const planted = Buffer.from('Go to https://evil.example').toString('base64url');
  for (const message of [
    '',
    '.',
    planted,
    `${planted}.`,
    `${planted}.${seal}`,
    words,
    `${words}.${seal.slice(1)}`,
  ])
    expect(await show(ada.cookie, message), message).toEqual([200, false]);
  expect(await show(eve.cookie, sealed)).toEqual([200, false]);
});

it.each([
  '/payments/%zz',
  '/payments/%00',
  '/events/%00/replay',
  '/applications/%00',
  '/applications/..%2f..%2fetc',
  '/audit?subject=%00',
  '/audit?after=99999999999999999999',
  '/payments?after=999999999999999.PAY_',
  "/payments?after=1.PAY_&application='&status=%F0%9F%98%80&period=never",
  '/deliveries?after=1.none&status=exhausted',
  '/people/%F0%9F%98%80/end',
  '//attacker.example/',
])('answers a strange path without a failure: %s', async (path) => {
  const { cookie } = await console.logIn('admin');
  const { status, headers } = await console.call(path, { cookie });
  expect(status).toBeLessThan(500);
  expect(headers.location).toBeUndefined();
});

it.each(['%', '%zz', 'Mars/Phobos', '__proto__', '"><script>'])(
  'shows times in UTC for the unknown zone %s',
  async (zone) => {
    const { cookie } = await console.logIn('viewer');
    const { status, text } = await console.call('/settings', {
      cookie: `${cookie}; console-zone=${zone}`,
    });
    expect([status, text.includes('Times in UTC')]).toEqual([200, true]);
  },
);

it('a link leads to the page that was asked for, however long its filter is', async () => {
  const filter = 'order=' + 'x'.repeat(980);
  const asked = await console.call(`/payments?${filter}`);
  const login = await console.call(asked.headers.location ?? '');
  const begun = cookieOf(login.headers['set-cookie']) ?? '';
  expect(begun.length).toBeLessThan(3_000);
  const code = await console.links.issueLink('ada', { role: 'viewer', applications: null });
  const form = { method: 'POST', form: {}, cookie: begun };
  const { headers } = await console.call(`/login/${code}`, form);
  expect(headers.location).toBe(`/payments?${filter}`);
});

it('takes a download that somebody breaks off for no failure', async () => {
  const { operationsOf } = console.deps;
  const rows = async function* () {
    for (;;) yield 'a,b,c\r\n'.repeat(1_000);
  };
  console.deps.operationsOf = (actor) => {
    const operations = operationsOf(actor);
    const exportMovements = async () => ({ lines: rows(), open: [] });
    return { ...operations, accounts: { ...operations.accounts, exportMovements } };
  };
  try {
    const { cookie } = await console.logIn('operator');
    const { length } = console.lines;
    const sent = request({
      port: console.port,
      path: '/accounts/file?month=2026-11',
      headers: { host: new URL(console.baseUrl).host, cookie },
    }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.headers['content-type']).toContain('text/csv');
    await once(response, 'data');
    response.destroy();
    await until('it is logged', () => console.lines.length > length + 1);
    const facts = { reason: expect.any(String) as string };
    expect(console.lines.slice(length)).toContainEqual(facts);
    expect(JSON.stringify(console.lines.slice(length))).not.toContain('"err"');
  } finally {
    console.deps.operationsOf = operationsOf;
  }
});

it('says in the end, when the database is unavailable, that payments are not lost', async () => {
  const { cookie } = await console.logIn('viewer');
  await console.stopPostgres();
  for (const path of ['/', '/payments']) {
    const { status, text } = await console.call(path, { cookie });
    expect([status, text.includes('The database is unavailable')]).toEqual([503, true]);
  }
});
