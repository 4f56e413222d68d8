import { describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { createTokens } from '../../../../postgres/tokens.ts';
import type { TemporalAdmin } from '../../../../temporal/admin-client.ts';
import { startConsole } from '../../../support/service/console.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';

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

const console = await forFile(startConsole({ temporal: { testWebhook: answerTest, cancel } }));
const ids = await fillConsole(console.sql);

const stops = await fillReserved(console.sql, ids);
await console.sql`
  update payments set order_claimed_at = now() - interval '1 hour' where id = ${ids.open}`;

await console.sql`insert into gateways (slug, driver, kind) values ('toy', 'sandbox', 'sandbox')`;
await console.sql`update gateways set credentials = 'sealed' where slug = 'zarinpal'`;
await console.links.issueLink('leaver', { role: 'viewer', applications: null });
await console.sql`
  insert into refund_rule_requests (application, currency, amount, asked_by)
  values (null, 'USD', 500, 'another admin'), ('shop', 'USD', 900, 'another admin')`;

const newestReplay = async (): Promise<string> => {
  const [row] = await console.sql<{ id: string }[]>`
    select id from replays order by created_at desc limit 1`;
  return row?.id ?? '';
};

describe('an action', () => {
  it.each([
    ['/events/EVENT/replay', {}, 'delivery.replay', 'payment:PAYMENT'],
    ['/applications/shop/disable', {}, 'application.disable', 'application:shop'],
    ['/applications/shop/enable', {}, 'application.enable', 'application:shop'],
    [
      '/applications/shop/webhook-url',
      { url: 'https://shop.example/new' },
      'application.update',
      'application:shop',
    ],
    ['/applications/shop/budget', { budget: '77' }, 'application.update', 'application:shop'],
    [
      '/applications/shop/callback-urls',
      { callbacks: 'https://shop.example/back\r\nhttps://shop.example/other' },
      'application.update',
      'application:shop',
    ],
    [
      '/applications/shop/gateway',
      { gateway: 'zarinpal' },
      'application.update',
      'application:shop',
    ],
    [
      '/applications/tickets/fallback-gateways',
      { fallbacks: 'toy' },
      'application.update',
      'application:tickets',
    ],
    [
      '/applications/shop/payers',
      { name: 'The shop', locale: 'tr' },
      'application.update',
      'application:shop',
    ],
    [
      '/applications/shop/dispute-events',
      { disputes: 'on' },
      'application.update',
      'application:shop',
    ],
    [
      '/applications/shop/refund-events',
      { events: 'on' },
      'application.update',
      'application:shop',
    ],
    [
      '/applications/shop/tokens/issue',
      { name: 'a', scope: 'read' },
      'token.issue',
      'application:shop',
    ],
    [
      '/applications/shop/tokens/TOKEN/revoke',
      { confirm: 'to revoke' },
      'token.revoke',
      'application:shop',
    ],
    ['/applications/shop/secrets/rotate', {}, 'secret.rotate', 'application:shop'],
    [
      '/applications/shop/secrets/1/retire',
      { confirm: 'secret 1' },
      'secret.retire',
      'application:shop',
    ],
    [
      '/create-application',
      {
        ...{ slug: 'books', gateway: 'sandbox', callbacks: 'https://books.example/return' },
        ...{ budget: '600', events: 'off', once: 'yes', locale: 'en' },
      },
      'application.create',
      'application:books',
    ],
    ['/applications/shop/test-webhook', {}, 'webhook.test', 'application:shop'],
    [
      '/deliveries/replay?mode=live&scope=all&status=exhausted&to=2999-01-01T00:00:00.000Z',
      {},
      'delivery.replay_many',
      'replay:REPLAY',
    ],
    ['/deliveries/replays/REPLAY/stop', {}, 'delivery.replay_stop', 'replay:REPLAY'],
    [
      '/gateways/zarinpal/credentials',
      {
        confirm: 'zarinpal',
        credentials: '{"merchantId":"5b6bd4c9-6f3a-4c6e-9b1a-2f4f8b1f6a10"}',
      },
      'gateway.credentials',
      'gateway:zarinpal',
    ],
    ['/payments/PAID/refund/give?amount=1.00', {}, 'refund.create', 'refund:NEWEST'],
    [
      '/applications/shop/notices/add',
      { address: 'ops@shop.example' },
      'notice.add',
      'application:shop',
    ],
    [
      '/applications/shop/notices/remove',
      { address: 'ops@shop.example' },
      'notice.remove',
      'application:shop',
    ],
    ['/applications/shop/orders', { once: 'yes' }, 'application.update', 'application:shop'],
    ['/payments/OPEN/release-order', {}, 'payment.release_order', 'payment:OPEN'],
    ['/payments/OPEN/verify', {}, 'payment.verify', 'payment:OPEN'],
    ['/payments/OPEN/cancel', {}, 'payment.cancel', 'payment:OPEN'],
    ['/payments/TO_CHECK/checked', {}, 'payment.checked', 'payment:TO_CHECK'],
    ['/refunds/ALSO_CONFIRM/refuse', {}, 'refund.refuse', 'refund:ALSO_CONFIRM'],
    ['/refunds/TO_CONFIRM/confirm', {}, 'refund.confirm', 'refund:TO_CONFIRM'],
    ['/refunds/RESERVED/cancel', {}, 'refund.cancel', 'refund:RESERVED'],
    ['/refunds/HELD/release', {}, 'refund.release', 'refund:HELD'],
    [
      '/applications/stopped/cancel-refunds',
      {},
      'application.cancel_refunds',
      'application:stopped',
    ],
    ['/applications/shop/tokens/TO_ALLOW/confirm', {}, 'token.confirm', 'application:shop'],
    ['/refunds/BY_HAND/succeeded', {}, 'refund.settle', 'refund:BY_HAND'],
    ['/refunds/ALSO_HAND/failed', {}, 'refund.settle', 'refund:ALSO_HAND'],
    [
      '/accounts/differences/MENDABLE/mend',
      {},
      'account_difference.mend',
      'account_difference:MENDABLE',
    ],
    [
      '/accounts/differences/DIFFERS/explain',
      {},
      'account_difference.explain',
      'account_difference:DIFFERS',
    ],
    [
      '/accounts/differences/EXPLAINED/reopen',
      {},
      'account_difference.reopen',
      'account_difference:EXPLAINED',
    ],
    ['/gateways/sandbox/disable', {}, 'gateway.disable', 'gateway:sandbox'],
    ['/gateways/sandbox/enable', {}, 'gateway.enable', 'gateway:sandbox'],
    [
      '/gateways/zarinpal/account',
      { zone: 'Asia/Tehran', percent: '1.4', fixed: '' },
      'gateway.account',
      'gateway:zarinpal',
    ],
    ['/people/viewer-person/end', {}, 'console.logout', 'person:viewer-person'],
    ['/invite', { name: 'new one', role: 'operator' }, 'console.link', 'person:new one'],
    ['/people/viewer-person/link', {}, 'console.link', 'person:viewer-person'],
    ['/people/leaver/remove', { confirm: 'leaver' }, 'console.remove', 'person:leaver'],
    [
      '/applications/shop/refund-limit',
      { currency: 'EUR', amount: '100.00' },
      'refund_rule.change',
      'application:shop',
    ],
    [
      '/refunds/rules/change',
      { currency: 'EUR', amount: '50.00' },
      'refund_rule.change',
      'currency:EUR',
    ],
    ['/refunds/rules/USD/confirm', { seen: '500' }, 'refund_rule.confirm', 'currency:USD'],
    ['/refunds/rules/shop.USD/refuse', {}, 'refund_rule.refuse', 'application:shop'],
    ['/account/passkeys/cGFzcw/remove', {}, 'passkey.remove', 'person:ACTOR'],
  ])(
    '%s leaves one audit record, with who, why and through what',
    async (path, fields, action, subject) => {
      const actor = `actor of ${path}`.replaceAll(/[^\w ]/g, '.');
      await console.logIn('viewer');
      const text = await createTokens(console.sql).issue({
        application: 'shop',
        mode: 'test',
        name: 'to revoke',
      });
      const [token] = await console.sql<{ id: string }[]>`
      select left(encode(hash, 'hex'), 16) as id from tokens where prefix = ${text.slice(0, 13)}`;
      const newestRefund = async () => {
        const [refund] = await console.sql<{ id: string }[]>`
          select id from refunds order by created_at desc limit 1`;
        return refund?.id ?? '';
      };
      let newest = '';
      const fill = (pattern: string, replay: string) =>
        pattern
          .replace('EVENT', eventId(ids.exhausted))
          .replace('PAYMENT', ids.exhausted)
          .replace('PAID', ids.paid)
          .replace('OPEN', ids.open)
          .replace('TO_CHECK', ids.toCheck)
          .replace('TO_CONFIRM', ids.toConfirm[0] ?? '')
          .replace('ALSO_CONFIRM', ids.toConfirm[1] ?? '')
          .replace('RESERVED', stops.reserved)
          .replace('HELD', stops.held)
          .replace('TO_ALLOW', stops.tokenToConfirm)
          .replace('BY_HAND', ids.byHand[0] ?? '')
          .replace('ALSO_HAND', ids.byHand[1] ?? '')
          .replace('MENDABLE', String(ids.accounts.mendable))
          .replace('DIFFERS', String(ids.accounts.open))
          .replace('EXPLAINED', String(ids.accounts.explained))
          .replace('NEWEST', newest)
          .replace('TOKEN', token?.id ?? '')
          .replace('ACTOR', actor)
          .replace('REPLAY', replay);
      const person = await console.logIn('admin', actor);
      await console.sql`
        insert into console_passkeys (id, name, label, public_key, counter)
        values ('pass', ${actor}, 'phone', 'key', 0) on conflict (id) do update set name = excluded.name`;
      const address = fill(path, await newestReplay());
      const { question, ...first } = await console.act(address, fields, person);
      // It warns of what was chosen, and is made when the person presses the button again.
      const [, warned] = /name="warned" value="([\w-]+)"/.exec(first.answer.text) ?? [];
      const { answer } = warned ? await console.act(address, { ...fields, warned }, person) : first;
      expect(question.status, question.text).toBe(200);
      expect([200, 303], answer.text).toContain(answer.status);
      newest = await newestRefund();
      expect(await console.auditOf(actor)).toEqual([
        { action, subject: fill(subject, await newestReplay()), via: 'console', reason: 'a test' },
      ]);
    },
  );

  it('is listed above, so that none is without a test', () => {
    const paths = createRoutes(console.deps)
      .filter(({ method, role }) => method === 'POST' && role !== 'anyone')
      .map(({ path }) => path);
    const others = [
      '/logout',
      '/search',
      '/views',
      '/views/remove',
      '/payments/filter',
      '/audit/filter',
      '/payments/:id/refund',
      '/settings',
      '/mode',
      '/reconcile',
      '/reconcile/stop',
      '/accounts/:gateway/:day/compare',
      '/account/passkeys/options',
      '/account/passkeys',
    ];
    // Its records are those of the payments that it heals.
    const healing = ['/reconcile/heal'];
    expect(paths).toHaveLength(52 + others.length + healing.length);
  });

  it('an action without a reason changes nothing', async () => {
    const person = await console.logIn('admin', 'no reason');
    const { answer } = await console.act('/applications/tickets/disable', { reason: ' ' }, person);
    expect([answer.status, await console.auditOf('no reason')]).toEqual([409, []]);
  });

  it.each([
    ['reason', { name: 'a', scope: 'read', reason: 'found svc_live_abcdefgh in a mail' }],
    ['name', { name: 'whsec_abcdefgh', scope: 'read' }],
  ])(
    'an action with a secret in its %s changes nothing, because the audit log keeps it',
    async (_, form) => {
      const person = await console.logIn('admin', 'leaks');
      const { answer } = await console.act('/applications/tickets/tokens/issue', form, person);
      expect([answer.status, await console.auditOf('leaks')]).toEqual([409, []]);
      expect(answer.text).toContain('holds a token');
      expect(answer.text).not.toContain('abcdefgh');
    },
  );

  it('an action that cannot be taken back needs the typed name', async () => {
    const person = await console.logIn('admin', 'mistyped');
    const path = '/applications/tickets/secrets/2/retire';
    const { answer } = await console.act(path, { confirm: 'secret' }, person);
    expect([answer.status, await console.auditOf('mistyped')]).toEqual([409, []]);
  });

  it('an action that is refused says why and changes nothing', async () => {
    const person = await console.logIn('admin', 'refused');
    const { answer } = await console.act('/applications/tickets/enable', {}, person);
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
    const { question, answer } = await console.act(path, { name: 'a' }, person);
    expect([question.status, answer.status]).toEqual([403, 403]);
    expect(answer.text).toContain('Log in again first');
    expect(await console.auditOf('stale')).toEqual([]);
  });

  it('sent twice by a reload issues one token, and shows it once', async () => {
    const person = await console.logIn('admin', 'reloads');
    const path = '/applications/tickets/tokens/issue';
    const { answer, form } = await console.act(path, { name: 'once', scope: 'read' }, person);
    const [token = ''] = /svc_test_[\w-]+/.exec(answer.text) ?? [];
    expect((await createTokens(console.sql).authenticate(token))?.scopes).toEqual(['read']);
    const again = await console.call(path, { method: 'POST', cookie: person.cookie, form });
    expect([again.status, again.text.includes('svc_test_')]).toEqual([409, false]);
    expect(await console.auditOf('reloads')).toHaveLength(1);
    expect(JSON.stringify(console.lines)).not.toContain(token);
  });
});

describe('a test webhook', () => {
  it('shows what the receiver answered, as text', async () => {
    const person = await console.logIn('operator', 'tests');
    const { answer } = await console.act('/applications/tickets/test-webhook', {}, person);
    expect(answer.text).toContain('The receiver did not accept the sample');
    expect(answer.text).toContain('&lt;script&gt;answer&lt;/script&gt;‹U+202E›');
    expect(answer.text).not.toContain('key=hidden');
  });

  it('is refused after six in a minute', async () => {
    const person = await console.logIn('operator', 'hurries');
    await console.sql`
      insert into webhook_tests (id, application, kind)
      select gen_random_uuid(), 'tickets', 'payment.paid' from generate_series(1, 6)`;
    const { answer } = await console.act('/applications/tickets/test-webhook', {}, person);
    expect([answer.status, answer.text.includes('Too many samples')]).toEqual([409, true]);
    expect(await console.auditOf('hurries')).toEqual([]);
  });
});

describe('the search box', () => {
  const search = async (text: string) => {
    const { cookie, csrf } = await console.logIn('viewer');
    return console.call('/search', { method: 'POST', cookie, form: { csrf, text } });
  };

  it('opens an event by its id, and a payment by its id, its order, its reference and its tracking code', async () => {
    const [row] = await console.sql<Record<string, string>[]>`
      select p.id, e.id::text as event, p.order_id, p.gateway_reference, p.tracking_code
      from payments p join events e on e.payment_id = p.id
      where p.status = 'paid' and not p.test and p.id <> ${ids.hostile} limit 1`;
    const { id, event, ...others } = row ?? {};
    expect((await search(event ?? '')).headers.location).toBe(`/events/${event}`);
    for (const text of [id, `LATE_${id}`, ` ${id} `, ...Object.values(others)]) {
      const { status, headers } = await search(text ?? '');
      expect([status, headers.location], text).toEqual([303, `/payments/${id}`]);
    }
  });

  it('opens an application, and says where requests are', async () => {
    expect((await search('shop')).headers.location).toBe('/applications/shop');
    const { text } = await search('req_01K9Z5W6X7Y8ZABCDEFGHJKMNP');
    expect(text).toContain('grep req_01K9Z5W6X7Y8ZABCDEFGHJKMNP');
  });

  it('lists several payments of one order', async () => {
    await console.sql`
      update payments set order_id = 'twice' where id in (
        select id from payments where id not in (${ids.hostile}, ${ids.exhausted}) and not test limit 3)`;
    const { status, headers } = await search('twice');
    expect([status, headers.location]).toEqual([303, '/search?text=twice']);
    const { cookie } = await console.logIn('viewer');
    const { text } = await console.call('/search?text=twice', { cookie });
    expect(new Set(text.match(/\/payments\/PAY_\w+/g)).size).toBe(3);
  });

  it('finds a payment id in any case, inside a pasted text', async () => {
    const pasted = `see https://console/payments/${ids.open.toLowerCase()}?a=1`;
    expect((await search(pasted)).headers.location).toBe(`/payments/${ids.open}`);
  });

  it('keeps a token that was pasted into the filter of the payments out of the address', async () => {
    const person = await console.logIn('viewer');
    const form = { csrf: person.csrf, status: 'paid', order: 'svc_live_abcdefgh', least: '' };
    const { headers } = await console.call('/payments/filter', {
      method: 'POST',
      cookie: person.cookie,
      form,
    });
    expect(headers.location).toBe('/payments?status=paid');
  });

  it.each(['nothing', '%', "' or 1=1 --", '\0', '<script>'])(
    'finds nothing for %j',
    async (text) => {
      expect((await search(text)).status).toBe(404);
    },
  );

  it('keeps a pasted token out of the answer, its address and the log', async () => {
    const token = await createTokens(console.sql).issue({
      application: 'shop',
      mode: 'live',
      name: 'leaked one',
    });
    for (const text of [token, `Authorization: Bearer ${token}`, `whsec_${token}`]) {
      const { status, headers, text: answer } = await search(text);
      expect([status, headers.location]).toEqual([200, undefined]);
      expect(answer).toContain('This is a secret');
      expect(answer).not.toContain(token);
      if (!text.startsWith('whsec')) expect(answer).toContain('leaked one');
    }
    expect(JSON.stringify(console.lines)).not.toContain(token.slice(13));
  });

  it('is no way around the address: no list has a field for text', async () => {
    const { cookie } = await console.logIn('admin');
    const lists = ['/', '/payments', '/deliveries', '/applications', '/audit', '/people'];
    for (const path of [...lists, '/applications/shop/events', '/reconcile']) {
      const { text } = await console.call(path, { cookie });
      const forms = text.match(/<form[^>]*method="get"[^]*?<\/form>/g) ?? [];
      for (const form of forms)
        expect(form, path).not.toMatch(
          /<textarea|<input(?![^>]*type="(?:hidden|checkbox|datetime-local)")/,
        );
    }
  });
});
