import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { startConsole } from '../../../support/service/console.ts';

const browser = useBrowser();
const console = await forFile(startConsole({ temporal: {} }));
const long = 'a-name-that-is-as-long-as-the-service-takes-it-50-';
let lists: string[] = [];

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
  const slug = `${long.slice(0, 49)}x`;
  await sql`
    insert into applications ${sql({ slug, default_gateway: 'sandbox', callback_urls: ['https://shop.example/return'] })}`;
  await sql`insert into gateways (slug, driver, kind) values (${slug}, 'zarinpal', 'live')`;
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
  await sql`update gateway_exchanges set gateway = ${slug}, result = 'no_answer', message = ${long.repeat(5)} where gateway = 'zarinpal'`;
  await sql`
    insert into refund_rule_requests (application, currency, amount, asked_by)
    values (null, 'EUR', 999999999999, ${long}), (${slug}, 'IRR', 999999999999, ${long})`;
  await sql`
    insert into audit_log (actor, action, subject, after, reason, via)
    values (${long}, 'application.update', ${`application:${slug}`}, ${sql.json({ webhook_url: `https://${long}.example/` })}, ${long.repeat(8)}, 'console')`;
  lists = [
    ...[
      '/payments',
      '/refunds',
      '/refunds?stage=by_hand',
      '/deliveries',
      '/deliveries?status=failing',
    ],
    ...[
      '/applications',
      '/gateways',
      '/audit',
      '/people',
      '/account',
      '/deliveries/replays',
      '/accounts',
    ],
    ...[
      '/applications/shop',
      `/applications/${slug}/events`,
      '/applications/shop/requests',
      '/attention/money',
      `/applications/${slug}`,
      `/gateways/${slug}`,
      `/gateways/${slug}/account`,
      ...['/gateways/sandbox', '/refunds/rules', '/invite', '/applications/shop/refund-limit'],
    ],
    ...[`/payments/${ids.refunded}`, `/accounts/zarinpal/${ids.accounts.openDay}`, '/'],
  ];
});

it.each([1280, 1440, 1920, 390])(
  'every control of every list is inside its box and can be clicked, %s px wide, with long texts',
  async (width) => {
    const context = await browser().newContext({ viewport: { width, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const person = { role: 'admin', applications: null } as const;
    await page.goto(`${console.baseUrl}/login/${await console.links.issueLink('ada', person)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForLoadState();
    await console.deps.views.save('ada', {
      name: 'Failed live payments of the last 7 days!',
      address: '/payments?status=failed',
    });
    for (const path of lists) {
      await page.goto(`${console.baseUrl}${path}`);
      const outside: string[] = await page.evaluate(findOutside);
      expect(outside, `${path}, ${width}`).toEqual([]);
    }
  },
);
