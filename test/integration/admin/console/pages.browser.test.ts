import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import { labels } from '../../../../admin/operations/labels.ts';
import { eventId, linkEventId } from '../../../../contract/ids.ts';
import { createLinkEnds } from '../../../../postgres/links/ends.ts';
import { createAuditLog, type AuditAction } from '../../../../postgres/audit-log.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillPayouts } from '../../../support/data/fill-payouts.ts';
import { fillReplay } from '../../../support/data/fill-replay.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';
import { awayProvider, startConsole } from '../../../support/service/console.ts';
import { useConsolePages } from '../../../support/service/console-browser.ts';

const console = await forFile(startConsole({ temporal: {}, identityProviderOf: awayProvider }));
const openPage = useConsolePages(console);
const long = 'a-name-that-is-as-long-as-the-service-takes-it-50-';
const slug = `${long.slice(0, 49)}x`;
let ids: Awaited<ReturnType<typeof fillConsole>>;
let replayId: string;
let lists: string[] = [];
let others: string[] = [];

/** Texts of the greatest lengths in all tables, but for the payments that have pages of their own. */
const lengthen = async () => {
  const { sql } = console;
  await sql`
    insert into applications ${sql({ slug, default_gateway: 'sandbox', callback_urls: ['https://shop.example/return'], webhook_url: `https://${long}.example/` })}`;
  await sql`insert into gateways (slug, driver, kind, silent_until) values (${slug}, 'zarinpal', 'live', now())`;
  await sql.begin(async (tx) => {
    // Triggers keep the gateway of a payment.
    await tx`set local session_replication_role = replica`;
    await tx`
      update payments set order_id = ${long.repeat(5)}, application = ${slug}, gateway = ${slug}, amount = 999999999999,
        failure_code = case when status = 'failed' then 'merchant_configuration' end,
        paid_twice_at = case when status = 'paid' then now() end
      where application = 'shop' and id not in (${ids.paid}, ${ids.hostile})`;
  });
  await sql`update deliveries set order_id = ${long.repeat(5)}, application = ${slug} where application = 'shop'`;
  await sql`update refunds set order_id = ${long.repeat(5)}, application = ${slug}, gateway_message = ${long}, amount = 999999999999`;
  await sql`update refunds set asked_by = ${long} where asked_by is not null`;
  await sql`
    update disputes set order_id = ${long.repeat(5)}, application = ${slug}, gateway = ${slug}, amount = 999999999999,
      reason = ${long.repeat(2)}, network_reason = ${long}, gateway_reference = ${`dp_${'x'.repeat(200)}`}
    where id <> ${ids.disputes.inquiry}`;
  await sql`
    update links set order_id = ${long.repeat(2)}, application = ${slug}, amount = 999999999999,
      asked_by = ${long}, description = ${long.repeat(5)} where asked_by is not null`;
  await sql`update payments set link_id = ${ids.links.open} where gateway = ${slug}`;
  await sql`update links set expires_at = now() where id = ${ids.links.ofTickets}`;
  await createLinkEnds(sql).end(ids.links.ofTickets, new Date());
  await sql`update gateway_exchanges set gateway = ${slug}, result = 'no_answer', message = ${long.repeat(5)} where gateway = 'zarinpal'`;
  await sql`
    insert into refund_rule_requests (application, currency, amount, asked_by)
    values (null, 'EUR', 999999999999, ${long}), (${slug}, 'IRR', 999999999999, ${long})`;
  await sql`
    insert into tokens (hash, prefix, application, mode, name, scopes, issued_by)
    values ('x', 'svc_live_xxxx', ${slug}, 'live', ${long}, '{read,create,refund}', ${long})`;
  await sql`update tokens set to_confirm = true where hash = 'x'`;
  await sql`
    insert into receivers (application, test, state, since)
    select ${slug}, test, 'exhausted', now() from unnest('{true,false}'::boolean[]) as m (test)`;
  await sql`
    insert into audit_log (actor, action, subject, after, reason, via)
    values (${long}, 'application.update', ${`application:${slug}`}, ${sql.json({ webhook_url: `https://${long}.example/` })}, ${long.repeat(8)}, 'console')`;
  const payments = await sql<{ id: string; gateway: string; amount: number; currency: string }[]>`
    select id, gateway, amount, currency from payments where gateway = ${slug} and status = 'paid' limit 2`;
  const words = { descriptor: long.repeat(2), bank_reference: long.repeat(3) };
  await fillPayouts(sql, { gateway: slug, payments, rest: 1, words });
  await console.logIn('admin', 'ada');
  const name = 'Failed live payments of the last 7 days!';
  await console.deps.views.save('ada', { name, address: '/payments?status=failed' });
};

beforeAll(async () => {
  ids = await fillConsole(console.sql);
  await fillReserved(console.sql, ids);
  await lengthen();
  replayId = await fillReplay(console.sql);
  const { openDay, youngDay, mendable, open, explained } = ids.accounts;
  const times = 'from=2026-01-01T00:00:00&to=2027-01-01T00:00:00&zone=Asia/Tehran';
  const whole = `application=${slug}`;
  lists = [
    ...['/payments', '/refunds', '/refunds?stage=by_hand', '/refunds/rules', '/disputes', '/links'],
    ...['/payments?status=cancelled&period=15+minutes', '/payments?gateway=zarinpal'],
    ...['/deliveries', '/deliveries?status=failing', '/deliveries/replays'],
    '/deliveries?period=15+minutes&status=pending',
    '/deliveries?from=2026-11-20T00:00&to=2026-11-21T00:00&zone=UTC',
    ...['/applications', `/applications/${slug}/events`, '/applications/shop/requests'],
    ...['/gateways', '/audit', '/audit?subject=nothing', '/people', '/search?text=order-10'],
    ...['/accounts', '/accounts/payouts', '/accounts/payouts?text=nothing'],
    ...[`/accounts/zarinpal/${openDay}`, `/accounts/sandbox/${youngDay}`],
    ...['money', 'orders', 'unopened', 'silent', 'overdue'].map((kind) => `/attention/${kind}`),
    ...['/attention', '/attention/disputes', '/attention/paid-twice'],
    // With every part of their filters set.
    `/payments?status=failed&failure=merchant_configuration&gateway=${slug}&order=${long}&least=1.00+EUR&most=9999999999.99+EUR&${whole}&${times}`,
    `/payments?period=yesterday&status=paid&failure=card_declined`,
    `/refunds?status=pending&stage=by_hand&${whole}&${times}`,
    `/disputes?status=needs_response&stage=chargeback&gateway=${slug}&${whole}&${times}`,
    `/links?status=open&order=${long.repeat(2)}&${whole}&${times}`,
    `/deliveries?status=exhausted&kind=payment.failed&error=connection&${whole}&${times}`,
    `/applications/${slug}/events?status=exhausted&kind=payment.failed&${times}`,
    `/audit?subject=application:${slug}&actor=${long}&action=application.update&text=${long}&logins=shown&${times}`,
    `/accounts?${whole}`,
    `/attention/silent?gateway=${slug}`,
    `/accounts/payouts?gateway=${slug}&text=${long.repeat(4)}`,
    '/applications/shop/requests?id=5f0c1bd2-8c0e-4c43-a4f6-0a6f0b2d7d11',
  ];
  // With the long texts of the hostile one.
  const [order] = await console.sql<{ address: string[] }[]>`
    select array[application, case when test then 'test' else 'live' end, order_id] as address
    from payments where id = ${ids.hostile}`;
  const [application = '', mode = '', orderId = ''] = order?.address ?? [];
  const ofOrder = String(new URLSearchParams({ mode, order: orderId }));
  const [byHand, alsoByHand] = ids.byHand;
  const event = eventId(ids.exhausted);
  others = [
    ...['/', '/settings', '/login', '/nothing', '/people', '/invite'],
    ...['/me', '/me/passkeys', '/me/passkeys/none/remove'],
    // The provider is away, and no login has begun.
    ...['/login/provider', '/login/provider/callback'],
    ...[ids.paid, ids.toCheck, ids.failing[0], ids.refunded].map((id) => `/payments/${id}`),
    ...[ids.exhausted, ids.open, ids.hostile].map((id) => `/payments/${id}`),
    ...[`/payments/${ids.paid}/refund`, `/payments/${ids.paid}/refund/give?amount=6.00`],
    ...[`/refunds/${byHand}`, `/refunds/${alsoByHand}/failed`],
    `/refunds/${ids.toConfirm[0]}/confirm`,
    '/refunds/rules/change',
    ...[`/orders/${application}?${ofOrder}`, `/orders/${slug}?mode=live&order=${long.repeat(5)}`],
    ...[`/disputes/${ids.disputes.urgent}`, `/disputes/${ids.disputes.lost}`],
    ...[
      `/links/${ids.links.open}`,
      `/links/${ids.links.toConfirm}`,
      `/links/${ids.links.disabled}`,
    ],
    ...[
      '/create-link',
      `/links/${ids.links.toConfirm}/confirm`,
      `/events/${linkEventId(ids.links.ofTickets)}`,
    ],
    ...[`/accounts?month=${openDay.slice(0, 7)}`, '/accounts?month=2020-02&application=shop'],
    ...['/accounts/zarinpal/2020-02-29', `/accounts/differences/${mendable}/mend`],
    ...['/accounts/differences', `/accounts/differences/${open}`],
    ...[`/accounts/differences/${open}/explain`, `/accounts/differences/${explained}/reopen`],
    `/accounts/payouts/${slug}/po_listed`,
    `/deliveries/replay?mode=live&scope=all&status=exhausted&to=${new Date().toISOString()}`,
    '/deliveries/replay?scope=selected',
    ...[`/deliveries/replays/${replayId}`, `/deliveries/replays/${replayId}/stop`],
    ...[`/events/${event}`, `/events/${event}/replay`],
    ...['/reconcile', '/reconcile/heal'],
    ...['/create-application', '/applications/shop', `/applications/${slug}`],
    ...['test-webhook', 'budget', 'tokens/issue', 'callback-urls', 'refund-limit'].map(
      (path) => `/applications/shop/${path}`,
    ),
    ...['/gateways/sandbox', `/gateways/${slug}`, `/gateways/${slug}/account`],
    ...['/gateways/zarinpal/account', '/gateways/zarinpal/credentials'],
  ];
});

/** Runs in the page. The window was wider before. */
const findOutside = `(() => {
  for (const box of [document.documentElement, ...document.querySelectorAll('.scroll')]) box.scrollTo(0, 0);
  const name = (element) => element.tagName + ' ' + element.textContent.trim().slice(0, 60) + ' ' + (element.href ?? '');
  const controls = [...document.querySelectorAll('main :is(a, button, input, select, summary)')];
  const isOutside = (each) => {
    const { left, right } = each.getBoundingClientRect();
    const box = each.closest('.scroll')?.getBoundingClientRect();
    return left < Math.max(0, box?.left ?? 0) - 1 || right > Math.min(innerWidth, box?.right ?? innerWidth) + 1;
  };
  const isCovered = (each) => {
    each.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const [{ left, top, width, height }] = each.getClientRects();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return hit === null || !(each.contains(hit) || hit.contains(each));
  };
  const seen = controls.filter((each) => each.checkVisibility() && each.getClientRects().length > 0);
  return [
    ...seen.filter(isOutside).map((each) => 'outside: ' + name(each)),
    ...seen.filter(isCovered).map((each) => 'covered: ' + name(each)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['the page is too wide'] : []),
  ];
})()`;

/** Runs in the page. */
const bottomOfFirstRow = `scrollTo(0, 0), document
  .querySelector('main :is(tbody tr, .days li, .attention li, .empty)')?.getBoundingClientRect().bottom`;

/** Runs in the page: rows of a list that differ in their texts alone have the same faults, and each takes its time. */
const removeEqualRows = `(() => {
  const seen = new Set();
  for (const row of document.querySelectorAll('tbody tr')) {
    const marks = [...row.querySelectorAll('*')].map(
      (each) => each.tagName + each.className + each.getAttributeNames(),
    );
    const kind = row.className + marks.join();
    if (seen.has(kind)) row.remove();
    seen.add(kind);
  }
})()`;

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

const findViolations = async (page: Page): Promise<string[]> => {
  const violations = await page.evaluate(async () => {
    const loaded = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: Violation[] }> };
    };
    const rules = { 'target-size': { enabled: true } };
    return (await loaded.axe.run({ resultTypes: ['violations'], rules })).violations;
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
};

// Colours do not depend on the width, so two of the four views see everything.
const views = [
  { colorScheme: 'light', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const;
const sizes = [{ width: 1920, height: 900 }, views[0], { width: 1280, height: 900 }, views[1]];

/** @returns the faults of the page that is open */
const inspect = async (page: Page, path: string): Promise<string[]> => {
  const found: string[] = [];
  for (const { width, height } of sizes) {
    await page.setViewportSize({ width, height });
    const outside: string[] = await page.evaluate(findOutside);
    found.push(...outside.map((each) => `${path}, ${width}: ${each}`));
  }
  if (lists.includes(path))
    for (const { width, height } of views) {
      await page.setViewportSize({ width, height });
      const bottom: number | undefined = await page.evaluate(bottomOfFirstRow);
      if (bottom === undefined || bottom > height)
        found.push(`${path}, ${width}: the first row is not seen without scrolling`);
    }
  await page.evaluate(removeEqualRows);
  for (const { colorScheme, width, height } of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    const violations = await findViolations(page);
    found.push(...violations.map((each) => `${path}, ${colorScheme}, ${width}: ${each}`));
  }
  return found;
};

it('knows every page that has one address', () => {
  const known = new Set([...lists, ...others].map((path) => path.split('?', 1)[0]));
  const missing = createRoutes(console.deps)
    .filter(({ method, isPolled }) => method === 'GET' && !isPolled)
    .map(({ path }) => path)
    .filter((path) => !path.includes(':') && !known.has(path));
  // Files, and an address that leads elsewhere.
  expect(missing.toSorted()).toEqual([
    '/accounts/file',
    '/accounts/month/file',
    '/logout',
    '/payments/file',
  ]);
});

it.each([
  ['lists', () => lists],
  ['other pages', () => others],
])(
  'all %s pass axe, keep to the policy and fit, and every control can be clicked',
  async (_, paths) => {
    const left = [...paths()];
    const found: string[] = [];
    const walk = async () => {
      const page = await openPage('/login', { script: axe });
      page.on('console', (message) => {
        // Pages that say that something is not there, or not possible.
        const isExpected = /status of (404|409|410|502)/.test(message.text());
        if (message.type() === 'error' && !isExpected) found.push(message.text());
      });
      page.on('pageerror', (error) => found.push(String(error)));
      for (let path = left.shift(); path !== undefined; path = left.shift()) {
        await page.goto(`${console.baseUrl}${path}`);
        found.push(...(await inspect(page, path)));
      }
    };
    // While one tab waits for its page, another one is drawn.
    await Promise.all([walk(), walk(), walk()]);
    expect(found).toEqual([]);
  },
);

it.each([
  [1440, 48],
  [390, 110],
])('a record takes about a line at %s px, %s px high on average', async (width, height) => {
  const actions = Object.keys(labels.audit) as AuditAction[]; // Object.keys widens to string.
  for (let n = 0; n < 50; n += 1)
    await createAuditLog(console.sql).insert({
      actor: n % 2 ? 'service' : 'ada-of-the-support-team',
      action: actions.filter((action) => !action.endsWith('login'))[n % 50] ?? 'webhook.test',
      subject: n % 3 ? `payment:${ids.paid}` : 'application:a-shop-with-a-long-name',
      before: {
        requests_per_minute: 120,
        webhook_url: 'https://shop.example/a/long/path/to/the/receiver',
      },
      after: { requests_per_minute: 1000, webhook_url: 'https://shop.example/another/path' },
      reason: 'the customer has called twice, and the shop has agreed to it by mail',
      via: n % 2 ? null : 'console',
    });
  const page = await openPage('/audit', { viewport: { width, height: 900 } });
  const rows = await page
    .locator('tbody tr')
    .evaluateAll((found) =>
      found.map((row) => (row as unknown as { offsetHeight: number }).offsetHeight),
    );
  expect(rows).toHaveLength(50);
  const total = rows.reduce((sum, each) => sum + each, 0);
  expect(total / rows.length).toBeLessThanOrEqual(height);
});
