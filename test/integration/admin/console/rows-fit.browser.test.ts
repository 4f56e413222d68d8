import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillPayouts } from '../../../support/data/fill-payouts.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { startConsole } from '../../../support/service/console.ts';

const browser = useBrowser();
const console = await forFile(startConsole({ temporal: {} }));
const long = 'a-name-that-is-as-long-as-the-service-takes-it-50-';
const longest = `${long.slice(0, 49)}x`;
let lists: string[] = [];
let others: string[] = [];

/** Runs in the page. */
const findOutside = `(() => {
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

beforeAll(async () => {
  const { sql } = console;
  const ids = await fillConsole(sql);
  await fillReserved(sql, ids);
  const slug = longest;
  await sql`
    insert into applications ${sql({ slug, default_gateway: 'sandbox', callback_urls: ['https://shop.example/return'], webhook_url: `https://${long}.example/` })}`;
  await sql`insert into gateways (slug, driver, kind, silent_until) values (${slug}, 'zarinpal', 'live', now())`;
  await sql.begin(async (tx) => {
    // Triggers keep the gateway of a payment.
    await tx`set local session_replication_role = replica`;
    await tx`
      update payments set order_id = ${long.repeat(5)}, application = ${slug}, gateway = ${slug}, amount = 999999999999,
        failure_code = case when status = 'failed' then 'merchant_configuration' end
      where application = 'shop'`;
  });
  await sql`update deliveries set order_id = ${long.repeat(5)}, application = ${slug} where application = 'shop'`;
  await sql`update refunds set order_id = ${long.repeat(5)}, application = ${slug}, gateway_message = ${long}, amount = 999999999999`;
  await sql`update refunds set asked_by = ${long} where asked_by is not null`;
  await sql`
    update disputes set order_id = ${long.repeat(5)}, application = ${slug}, gateway = ${slug}, amount = 999999999999,
      reason = ${long.repeat(2)}, network_reason = ${long}, gateway_reference = ${`dp_${'x'.repeat(200)}`}
    where id <> ${ids.disputes.inquiry}`;
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
  lists = [
    '/accounts/payouts',
    ...['/payments', '/refunds', '/refunds?stage=by_hand', '/refunds/rules', '/disputes'],
    ...['/deliveries', '/deliveries?status=failing', '/deliveries/replays'],
    ...['/applications', `/applications/${slug}/events`, '/applications/shop/requests'],
    ...['/gateways', '/audit', '/people', '/accounts', '/search?text=order-10'],
    ...[`/accounts/zarinpal/${ids.accounts.openDay}`, `/accounts/sandbox/${ids.accounts.youngDay}`],
    ...['money', 'orders', 'unopened', 'silent', 'overdue'].map((kind) => `/attention/${kind}`),
    ...['/attention', '/attention/disputes'],
  ];
  others = [
    ...['/', '/account', '/applications/shop', `/applications/${slug}`, '/invite', '/reconcile'],
    `/accounts/payouts/${slug}/po_listed`,
    ...[`/gateways/${slug}`, `/gateways/${slug}/account`, '/gateways/sandbox'],
    ...['/applications/shop/refund-limit', `/payments/${ids.refunded}`],
    ...[`/disputes/${ids.disputes.urgent}`, `/disputes/${ids.disputes.lost}`],
  ];
});

/** The page of an admin in a window of this size. */
const openPage = async (viewport: { width: number; height: number }) => {
  const context = await browser().newContext({ viewport });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const person = { role: 'admin', applications: null } as const;
  await page.goto(`${console.baseUrl}/login/${await console.links.issueLink('ada', person)}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForLoadState();
  return page;
};

/** Runs in the page. */
const bottomOfFirstRow = `document
  .querySelector('main :is(tbody tr, .days li, .attention li, .empty)')?.getBoundingClientRect().bottom`;

/** Lists with every part of their filters set, and with long texts in them. */
const filtered = () => {
  const times = 'from=2026-01-01T00:00:00&to=2027-01-01T00:00:00&zone=Asia/Tehran';
  const whole = `application=${longest}`;
  return [
    `/payments?status=failed&failure=merchant_configuration&gateway=${longest}&order=${long}&least=1.00+EUR&most=9999999999.99+EUR&${whole}&${times}`,
    `/payments?period=yesterday&status=paid&failure=card_declined`,
    `/refunds?status=pending&stage=by_hand&${whole}&${times}`,
    `/disputes?status=needs_response&stage=chargeback&gateway=${longest}&${whole}&${times}`,
    `/deliveries?status=exhausted&kind=payment.failed&error=connection&${whole}&${times}`,
    `/applications/${longest}/events?status=exhausted&kind=payment.failed&${times}`,
    `/audit?subject=application:${longest}&actor=${long}&action=application.update&text=${long}&logins=shown&${times}`,
    `/accounts?${whole}`,
    `/attention/silent?gateway=${longest}`,
    `/accounts/payouts?gateway=${longest}&text=${long.repeat(4)}`,
    '/applications/shop/requests?id=5f0c1bd2-8c0e-4c43-a4f6-0a6f0b2d7d11',
  ];
};

it.each([1280, 1440, 1920, 390])(
  'every control of every list is inside its box and can be clicked, %s px wide, with long texts',
  async (width) => {
    const page = await openPage({ width, height: 900 });
    await console.deps.views.save('ada', {
      name: 'Failed live payments of the last 7 days!',
      address: '/payments?status=failed',
    });
    for (const path of [...lists, ...others, ...filtered()]) {
      await page.goto(`${console.baseUrl}${path}`);
      const outside: string[] = await page.evaluate(findOutside);
      expect(outside, `${path}, ${width}`).toEqual([]);
    }
  },
);

it.each([
  [1440, 900],
  [390, 844],
])(
  'the first row of every list is seen without scrolling, %s × %s px, whatever is filtered',
  async (width, height) => {
    const page = await openPage({ width, height });
    const hidden: unknown[] = [];
    for (const path of [...lists, ...filtered()]) {
      await page.goto(`${console.baseUrl}${path}`);
      const bottom: number | undefined = await page.evaluate(bottomOfFirstRow);
      if (bottom === undefined || bottom > height) hidden.push([path, bottom]);
    }
    expect(hidden).toEqual([]);
  },
);
