import { describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { createTokens, tokenIdOf } from '../../../../postgres/applications/tokens.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, ids } = await startFilledConsole();

describe('the scopes of a new token', () => {
  const path = '/applications/tickets/tokens/issue';
  const send = async (scopes: readonly string[]) => {
    const { cookie, csrf } = await console.logIn('admin', 'chooses');
    const fields = { csrf, name: 'till', reason: 'a test' };
    const form = [
      ...Object.entries(fields),
      ...scopes.map((scope): [string, string] => ['scope', scope]),
    ];
    return console.call(path, { method: 'POST', cookie, form });
  };

  it('are those that are checked', async () => {
    const { text } = await send(['read', 'create', 'refund']);
    const [token = ''] = /svc_test_[\w-]+/.exec(text) ?? [];
    expect((await createTokens(console.sql).authenticate(token))?.scopes).toEqual([
      'read',
      'create',
      'refund',
    ]);
  });

  it('are at least one, and an empty choice stays empty in the form', async () => {
    const { status, text } = await send([]);
    expect([status, / checked/.test(text)]).toEqual([409, false]);
  });
});

it('a token that replaces another one says when it ends and who must confirm it', async () => {
  const person = await console.logIn('admin', 'replaces');
  const old = await createTokens(console.sql).issue({
    ...({ application: 'tickets', mode: 'live', name: 'till', scopes: ['refund'] } as const),
    expiresAt: new Date(Date.now() + 86_400_000),
  });
  const path = `/applications/tickets/tokens/${tokenIdOf(old)}/replace`;
  await console.sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 1)`;
  const { question, answer } = await person.act(path, { confirm: 'till' });
  await console.sql`delete from approvals where kind = 'refund'`;
  expect(question.text).toContain('Nobody can use the new token until another admin confirms it');
  expect(answer.text).toMatch(/until another admin confirms it; it expires on \d{4}-/);
});

it('the forms of settings begin with what is set', async () => {
  const admin = await console.logIn('admin', 'reads');
  for (const [path, set] of [
    ['budget', 'value="120"'],
    ['callback-urls', '>https://shop.example/return</textarea>'],
    ['gateway', 'value="sandbox" selected'],
    ['refund-events', 'value="off" selected'],
    ['dispute-events', 'value="off" selected'],
    ['payers', 'placeholder="tickets"'],
  ]) {
    const { text } = await admin.get(`/applications/tickets/${path}`);
    expect(text, path).toContain(set);
  }
});

it('the name and the language for payers are changed together', async () => {
  const person = await console.logIn('admin', 'names');
  const fields = { name: 'Tickets & more', locale: 'tr' };
  const { answer } = await person.act('/applications/tickets/payers', fields);
  expect(answer.status).toBe(303);
  const [row] = await console.sql`
    select display_name, locale from applications where slug = 'tickets'`;
  expect(row).toEqual({ display_name: 'Tickets & more', locale: 'tr' });
});

describe('the credentials of a gateway', () => {
  const path = '/gateways/zarinpal/credentials';
  const secret = '7c1f1f0e-0a56-4f5b-8f8c-5d1d6c4c9b11';
  const columns = async () => {
    const [row] = await console.sql<{ credentials: string; notification_secrets: string | null }[]>`
      select credentials, notification_secrets from gateways where slug = 'zarinpal'`;
    return row;
  };

  it('are sealed, and appear in no page, log or audit record', async () => {
    const person = await console.logIn('admin', 'sets');
    const credentials = JSON.stringify({ merchantId: secret });
    const { answer } = await person.act(path, { credentials, confirm: 'zarinpal' });
    expect([answer.status, answer.headers.location]).toEqual([303, '/gateways/zarinpal']);
    expect((await columns())?.credentials).toMatch(/^v1\./);
    const pages = await person.get('/gateways');
    const audit = await console.sql`select a::text from audit_log a`;
    for (const text of [pages.text, JSON.stringify(audit), JSON.stringify(console.lines)])
      expect(text).not.toContain(secret);
    expect(JSON.stringify(await columns())).not.toContain(secret);
  });

  it('change nothing if they do not fit the driver, and are not shown again', async () => {
    const credentials = JSON.stringify({ merchant: secret });
    const before = await columns();
    const person = await console.logIn('admin', 'wrong credentials');
    const { answer } = await person.act(path, { credentials, confirm: 'zarinpal' });
    expect([answer.status, answer.text.includes('role="alert"')]).toEqual([409, true]);
    expect(answer.text).not.toContain(secret);
    expect(JSON.stringify(console.lines)).not.toContain(secret);
    expect(await columns()).toEqual(before);
    expect(await console.auditOf('wrong credentials')).toEqual([]);
  });
});

it('an address for notices is removed by its own row', async () => {
  const person = await console.logIn('admin', 'removes');
  const addresses = ['a@tickets.example', 'b@tickets.example'];
  for (const address of addresses)
    await person.act('/applications/tickets/notices/add', { address });
  const text = await person.read('/applications/tickets');
  const [, path = ''] = /b@tickets\.example[^]*?href="([^"]+\/remove\?row=\d)"/.exec(text) ?? [];
  expect(path).not.toContain('@');
  expect(await person.read(path)).toContain('value="b@tickets.example" selected');
});

it('a new application shows its webhook secret once, and appears in the list', async () => {
  const person = await console.logIn('admin', 'creates');
  const fields = {
    slug: 'music',
    gateway: 'sandbox',
    callbacks: ' https://music.example/return\r\nhttps://music.example/other ',
    url: 'https://music.example/webhook',
    fallbacks: 'music-two',
    allowed: 'zarinpal\r\nmusic-two',
    budget: '77',
    events: 'on',
    disputes: 'on',
    once: 'no',
    name: 'Music',
    locale: 'fa',
  };
  await console.sql`insert into gateways (slug, driver, kind) values ('music-two', 'sandbox', 'sandbox')`;
  const { question, answer } = await person.act('/create-application', fields);
  for (const name of Object.keys(fields)) expect(question.text).toContain(`name="${name}"`);
  expect(answer.text).toMatch(/<code>whsec_/);
  const { text } = await person.get('/applications/music');
  expect(text).toContain('https://music.example/return, https://music.example/other');
  const [row] = await console.sql`
    select fallback_gateways, allowed_gateways, requests_per_minute, refund_events, dispute_events, orders_paid_once, display_name, locale
    from applications where slug = 'music'`;
  expect(Object.values(row ?? {})).toEqual([
    ['music-two'],
    ['zarinpal', 'music-two'],
    77,
    true,
    true,
    false,
    'Music',
    'fa',
  ]);
  const again = await person.act('/create-application', fields);
  expect([again.answer.status, again.answer.text.includes('already exists')]).toEqual([409, true]);
  expect(await console.auditOf('creates')).toHaveLength(1);
});

describe('what a viewer sees', () => {
  it('has no answers of receivers and no buttons', async () => {
    const path = `/payments/${ids.hostile}`;
    const less = await (await console.logIn('viewer')).read(path);
    const more = await (await console.logIn('operator')).read(path);
    for (const part of ['answer&#39;)', 'error&#39;)', `/events/${eventId(ids.hostile)}/replay`]) {
      expect(more).toContain(part);
      expect(less).not.toContain(part);
    }
    expect(less).toMatch(/All attempts of “payment \w+” failed/);
  });

  it('has no query of a webhook URL, which may be a key', async () => {
    const { text } = await (await console.logIn('admin')).get('/applications/tickets');
    expect(text).toContain('https://shop.example/webhook?…');
    expect(text).not.toContain('key=hidden');
  });
});
