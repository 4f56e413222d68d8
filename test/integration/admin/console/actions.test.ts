import { describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { createTokens, tokenIdOf } from '../../../../postgres/applications/tokens.ts';
import type { TemporalAdmin } from '../../../../temporal/admin-client.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { fieldOf } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

/** As a worker would. */
const answerTest = async (id: string): Promise<void> => {
  await console.sql`
    update webhook_tests set completed_at = now(), sent = '{}', duration_ms = 7, response_status = 400,
      error_class = 'http_status', response_body = ${'<script>answer</script>\u202e'},
      response_truncated = true where id = ${id}::uuid`;
};

/** As a worker would. */
const cancel: TemporalAdmin['cancel'] = async ({ id }) => {
  await console.sql`
    update payments set status = 'cancelled', cancelled_by = 'admin' where id = ${id}`;
  return { kind: 'ended', status: 'cancelled' };
};

const { console, ids } = await startFilledConsole({
  temporal: { testWebhook: answerTest, cancel },
});
const stops = await fillReserved(console.sql, ids);
await console.sql`
  update payments set order_claimed_at = now() - interval '1 hour' where id = ${ids.open}`;

await console.sql`insert into gateways (slug, driver, kind) values ('toy', 'sandbox', 'sandbox')`;
await console.sql`update gateways set credentials = 'sealed' where slug = 'zarinpal'`;
await console.links.issueLink('leaver', { role: 'viewer', applications: null });
await console.logIn('viewer');
await console.sql`
  insert into refund_rule_requests (application, currency, amount, asked_by)
  values (null, 'USD', 500, 'another admin'), ('shop', 'USD', 900, 'another admin')`;

const newest = async (table: string): Promise<string> => {
  const [row] = await console.sql<{ id: string }[]>`
    select id from ${console.sql(table)} order by created_at desc limit 1`;
  return row?.id ?? '';
};

const revocable = await createTokens(console.sql).issue({
  application: 'shop',
  mode: 'test',
  name: 'to revoke',
});
/** What the addresses and subjects below name in capitals. */
const namesNow = async (actor: string): Promise<Record<string, string>> => ({
  ...{ ACTOR: actor, TOKEN: tokenIdOf(revocable), TO_ALLOW: stops.tokenToConfirm },
  ...{ EVENT: eventId(ids.exhausted), PAYMENT: ids.exhausted, PAID: ids.paid, OPEN: ids.open },
  ...{ TO_CHECK: ids.toCheck, RESERVED: stops.reserved, HELD: stops.held },
  ...{ TO_CONFIRM: ids.toConfirm[0] ?? '', ALSO_CONFIRM: ids.toConfirm[1] ?? '' },
  ...{ BY_HAND: ids.byHand[0] ?? '', ALSO_HAND: ids.byHand[1] ?? '' },
  ...{ MENDABLE: `${ids.accounts.mendable}`, DIFFERS: `${ids.accounts.open}` },
  EXPLAINED: `${ids.accounts.explained}`,
  ...{ OPENLINK: ids.links.open, HELDLINK: ids.links.toConfirm, NEWLINK: await newest('links') },
  ...{ NEWEST: await newest('refunds'), REPLAY: await newest('replays') },
});

type Fields = Record<string, string>;

/** Below /applications/shop: the page, its action in the audit log, and what is typed there. */
const ofShop: [page: string, action: string, fields?: Fields][] = [
  ['disable', 'application.disable'],
  ['enable', 'application.enable'],
  ['webhook-url', 'application.update', { url: 'https://shop.example/new' }],
  ['budget', 'application.update', { budget: '77' }],
  [
    'callback-urls',
    'application.update',
    { callbacks: 'https://shop.example/back\r\nhttps://shop.example/other' },
  ],
  ['gateway', 'application.update', { gateway: 'zarinpal' }],
  ['allowed-gateways', 'application.update', { allowed: 'sandbox' }],
  ['payers', 'application.update', { name: 'The shop', locale: 'tr' }],
  ['dispute-events', 'application.update', { disputes: 'on' }],
  ['refund-events', 'application.update', { events: 'on' }],
  ['orders', 'application.update', { once: 'yes' }],
  ['tokens/issue', 'token.issue', { name: 'a', scope: 'read' }],
  ['tokens/TOKEN/replace', 'token.replace', { ends: 'in 1 day', confirm: 'to revoke' }],
  ['tokens/TOKEN/revoke', 'token.revoke', { confirm: 'to revoke' }],
  ['tokens/TO_ALLOW/confirm', 'token.confirm'],
  ['secrets/rotate', 'secret.rotate'],
  ['secrets/1/retire', 'secret.retire', { confirm: 'secret 1' }],
  ['test-webhook', 'webhook.test'],
  ['notices/add', 'notice.add', { address: 'ops@shop.example' }],
  ['notices/remove', 'notice.remove', { address: 'ops@shop.example' }],
  ['refund-limit', 'refund_rule.change', { currency: 'EUR', amount: '100.00' }],
];
const allExhausted = 'mode=live&scope=all&status=exhausted&to=2999-01-01T00:00:00.000Z';
const merchant = '{"merchantId":"5b6bd4c9-6f3a-4c6e-9b1a-2f4f8b1f6a10"}';
type Change = [path: string, action: string, subject: string, fields?: Fields];
const changes: Change[] = [
  ['/events/EVENT/replay', 'delivery.replay', 'payment:PAYMENT'],
  ...ofShop.map(([page, action, fields]): Change => [
    `/applications/shop/${page}`,
    action,
    'application:shop',
    fields ?? {},
  ]),
  [
    '/applications/tickets/fallback-gateways',
    'application.update',
    'application:tickets',
    { fallbacks: 'toy' },
  ],
  [
    '/create-application',
    'application.create',
    'application:books',
    {
      ...{ slug: 'books', gateway: 'sandbox', callbacks: 'https://books.example/return' },
      ...{ budget: '600', events: 'off', once: 'yes', locale: 'en' },
    },
  ],
  [
    '/create-link',
    'link.create',
    'link:NEWLINK',
    {
      ...{ application: 'tickets', mode: 'test', order: 'A-17', amount: '84,00 EUR' },
      ...{ text: 'Invoice A-17', language: 'de', days: '90' },
    },
  ],
  ['/links/HELDLINK/confirm', 'link.confirm', 'link:HELDLINK'],
  ['/links/OPENLINK/disable', 'link.disable', 'link:OPENLINK'],
  [`/deliveries/replay?${allExhausted}`, 'delivery.replay_many', 'replay:REPLAY'],
  ['/deliveries/replays/REPLAY/stop', 'delivery.replay_stop', 'replay:REPLAY'],
  [
    '/gateways/zarinpal/credentials',
    'gateway.credentials',
    'gateway:zarinpal',
    { confirm: 'zarinpal', credentials: merchant },
  ],
  ['/payments/PAID/refund/give?amount=1.00', 'refund.create', 'refund:NEWEST'],
  ['/payments/OPEN/release-order', 'payment.release_order', 'payment:OPEN'],
  ['/payments/OPEN/verify', 'payment.verify', 'payment:OPEN'],
  ['/payments/OPEN/cancel', 'payment.cancel', 'payment:OPEN'],
  ['/payments/TO_CHECK/checked', 'payment.checked', 'payment:TO_CHECK'],
  ['/refunds/ALSO_CONFIRM/refuse', 'refund.refuse', 'refund:ALSO_CONFIRM'],
  ['/refunds/TO_CONFIRM/confirm', 'refund.confirm', 'refund:TO_CONFIRM'],
  ['/refunds/RESERVED/cancel', 'refund.cancel', 'refund:RESERVED'],
  ['/refunds/HELD/release', 'refund.release', 'refund:HELD'],
  ['/applications/stopped/cancel-refunds', 'application.cancel_refunds', 'application:stopped'],
  ['/refunds/BY_HAND/succeeded', 'refund.settle', 'refund:BY_HAND'],
  ['/refunds/ALSO_HAND/failed', 'refund.settle', 'refund:ALSO_HAND'],
  ['/accounts/differences/MENDABLE/mend', 'account_difference.mend', 'account_difference:MENDABLE'],
  [
    '/accounts/differences/DIFFERS/explain',
    'account_difference.explain',
    'account_difference:DIFFERS',
  ],
  [
    '/accounts/differences/EXPLAINED/reopen',
    'account_difference.reopen',
    'account_difference:EXPLAINED',
  ],
  ['/gateways/sandbox/disable', 'gateway.disable', 'gateway:sandbox'],
  ['/gateways/sandbox/enable', 'gateway.enable', 'gateway:sandbox'],
  [
    '/gateways/zarinpal/account',
    'gateway.account',
    'gateway:zarinpal',
    { zone: 'Asia/Tehran', percent: '1.4', fixed: '' },
  ],
  ['/people/viewer-person/end', 'console.logout', 'person:viewer-person'],
  ['/invite', 'console.link', 'person:new one', { name: 'new one', role: 'operator' }],
  ['/people/viewer-person/link', 'console.link', 'person:viewer-person'],
  ['/people/leaver/remove', 'console.remove', 'person:leaver', { confirm: 'leaver' }],
  [
    '/refunds/rules/change',
    'refund_rule.change',
    'currency:EUR',
    { currency: 'EUR', amount: '50.00' },
  ],
  ['/refunds/rules/USD/confirm', 'refund_rule.confirm', 'currency:USD', { seen: '500' }],
  ['/refunds/rules/shop.USD/refuse', 'refund_rule.refuse', 'application:shop'],
  ['/me/passkeys/cGFzcw/remove', 'passkey.remove', 'person:ACTOR'],
];

describe('an action', () => {
  it.each(changes)(
    '%s leaves the audit record %s of %s, with who, why and through what',
    async (path, action, subject, fields = {}) => {
      const actor = `actor of ${path}`.replaceAll(/[^\w ]/g, '.');
      const person = await console.logIn('admin', actor);
      await console.sql`
        insert into console_passkeys (id, name, label, public_key, counter)
        values ('pass', ${actor}, 'phone', 'key', 0) on conflict (id) do update set name = excluded.name`;
      const fill = async (pattern: string) => {
        const names = await namesNow(actor);
        return pattern.replaceAll(/[A-Z_]{4,}/g, (name) => names[name] ?? name);
      };
      const address = await fill(path);
      const { question, ...first } = await person.act(address, fields);
      // It warns of what was chosen, and is made when the person presses the button again.
      const warned = fieldOf(first.answer.text, 'warned');
      const { answer } = warned ? await person.act(address, { ...fields, warned }) : first;
      expect(question.status, question.text).toBe(200);
      expect([200, 303], answer.text).toContain(answer.status);
      expect(await console.auditOf(actor)).toEqual([
        { action, subject: await fill(subject), via: 'console', reason: 'a test' },
      ]);
    },
  );

  it('is listed above, so that none is without a test', () => {
    const listed = changes.map(([path]) => path.split('?')[0] ?? '');
    const isListed = (path: string) => {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
      return listed.some((address) => pattern.test(address));
    };
    const others = createRoutes(console.deps)
      .filter(({ method, path, role }) => method === 'POST' && role !== 'anyone' && !isListed(path))
      .map(({ path }) => path);
    expect(others.toSorted()).toEqual([
      '/accounts/:gateway/:day/compare',
      '/accounts/payouts/filter',
      '/audit/filter',
      '/links/filter',
      '/logout',
      '/me/passkeys',
      '/me/passkeys/options',
      '/mode',
      '/orders/:slug/checked',
      '/orders/:slug/refund',
      '/payments/:id/refund',
      '/payments/filter',
      '/reconcile',
      // Its records are those of the payments that it heals.
      '/reconcile/heal',
      '/reconcile/stop',
      '/search',
      '/settings',
      '/views',
      '/views/remove',
    ]);
  });

  it('an action without a reason changes nothing', async () => {
    const person = await console.logIn('admin', 'no reason');
    const { answer } = await person.act('/applications/tickets/disable', { reason: ' ' });
    expect([answer.status, await console.auditOf('no reason')]).toEqual([409, []]);
  });

  it.each([
    ['reason', { name: 'a', scope: 'read', reason: 'found svc_live_abcdefgh in a mail' }],
    ['name', { name: 'whsec_abcdefgh', scope: 'read' }],
  ])(
    'an action with a secret in its %s changes nothing, because the audit log keeps it',
    async (_, form) => {
      const person = await console.logIn('admin', 'leaks');
      const { answer } = await person.act('/applications/tickets/tokens/issue', form);
      expect([answer.status, await console.auditOf('leaks')]).toEqual([409, []]);
      expect(answer.text).toContain('holds a token');
      expect(answer.text).not.toContain('abcdefgh');
    },
  );

  it('an action that cannot be taken back needs the typed name', async () => {
    const person = await console.logIn('admin', 'mistyped');
    const path = '/applications/tickets/secrets/2/retire';
    const { answer } = await person.act(path, { confirm: 'secret' });
    expect([answer.status, await console.auditOf('mistyped')]).toEqual([409, []]);
  });

  it('an action that is refused says why and changes nothing', async () => {
    const person = await console.logIn('admin', 'refused');
    const { answer } = await person.act('/applications/tickets/enable', {});
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('already has these settings');
    expect(await console.auditOf('refused')).toEqual([]);
  });

  it.each([
    '/applications/tickets/tokens/issue',
    '/applications/tickets/tokens/none/revoke',
    '/applications/tickets/secrets/rotate',
    '/applications/tickets/secrets/1/retire',
    '/applications/tickets/webhook-url',
    '/applications/tickets/callback-urls',
    '/applications/tickets/gateway',
    '/create-application',
    '/create-link',
    '/gateways/zarinpal/credentials',
    '/invite',
    '/people/viewer-person/link',
    '/people/viewer-person/remove',
    '/refunds/rules/change',
    '/applications/tickets/refund-limit',
  ])('%s needs a login of the last ten minutes', async (path) => {
    const person = await console.logIn('admin', 'stale');
    await console.sql`
      update console_sessions set created_at = now() - interval '11 minutes'
      where link in (select hash from console_links where name = 'stale')`;
    const { question, answer } = await person.act(path, { name: 'a' });
    expect([question.status, answer.status]).toEqual([403, 403]);
    expect(answer.text).toContain('Log in again first');
    expect(await console.auditOf('stale')).toEqual([]);
  });

  it('sent twice by a reload issues one token, and shows it once', async () => {
    const person = await console.logIn('admin', 'reloads');
    const path = '/applications/tickets/tokens/issue';
    const { answer, form } = await person.act(path, { name: 'once', scope: 'read' });
    const [token = ''] = /svc_test_[\w-]+/.exec(answer.text) ?? [];
    expect((await createTokens(console.sql).authenticate(token))?.scopes).toEqual(['read']);
    const again = await person.post(path, form);
    expect([again.status, again.text.includes('svc_test_')]).toEqual([409, false]);
    expect(await console.auditOf('reloads')).toHaveLength(1);
    expect(JSON.stringify(console.lines)).not.toContain(token);
  });
});

describe('a test webhook', () => {
  it('shows what the receiver answered, as text', async () => {
    const person = await console.logIn('operator', 'tests');
    const { answer } = await person.act('/applications/tickets/test-webhook', {});
    expect(answer.text).toContain('The receiver did not accept the sample');
    expect(answer.text).toContain('&lt;script&gt;answer&lt;/script&gt;‹U+202E›');
    expect(answer.text).not.toContain('key=hidden');
  });

  it('is refused after six in a minute', async () => {
    const person = await console.logIn('operator', 'hurries');
    await console.sql`
      insert into webhook_tests (id, application, kind)
      select gen_random_uuid(), 'tickets', 'payment.paid' from generate_series(1, 6)`;
    const { answer } = await person.act('/applications/tickets/test-webhook', {});
    expect([answer.status, answer.text.includes('Too many samples')]).toEqual([409, true]);
    expect(await console.auditOf('hurries')).toEqual([]);
  });
});
