import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventId, newReplayId } from '../contract/ids.ts';
import { createAuditLog } from '../postgres/audit-log.ts';
import { everyDelivery } from '../postgres/webhooks/delivery-filter.ts';
import { createReplays } from '../postgres/webhooks/replays.ts';
import { startConsole } from '../test/support/service/console.ts';
import { launchChromium } from '../test/support/demo/chromium.ts';
import { fillPayouts } from '../test/support/data/fill-payouts.ts';
import { fillConsole } from '../test/support/data/fill-console.ts';

/*
 * Takes the pictures of docs/console.md from a console on a Postgres of its own, with made-up payments.
 *
 *   npm run console-screenshots
 */

const folder = join(import.meta.dirname, '../docs/images/console');

/** A replay that an operator began, half done. */
const addReplay = async (): Promise<string> => {
  const id = newReplayId();
  const filter = {
    ...everyDelivery,
    application: 'shop',
    delivery: 'exhausted',
    to: new Date(),
  } as const;
  await createReplays(server.sql).insertOfOperator({ ...filter, id, matched: 412, perSecond: 10 });
  await server.sql`update replays set begun = 205, refused = 2 where id = ${id}`;
  const record = {
    action: 'delivery.replay_many',
    subject: `replay:${id}`,
    before: null,
  } as const;
  const words = { actor: 'ada', via: 'console', reason: 'The receiver is back' } as const;
  const after = { delivery: 'exhausted', application: 'shop', events: 412, per_second: 10 };
  await createAuditLog(server.sql).insert({ ...record, ...words, after });
  return id;
};

const server = await startConsole({ temporal: {} });
const browser = await launchChromium();
try {
  mkdirSync(folder, { recursive: true });
  const ids = await fillConsole(server.sql);
  await server.sql`update payments set order_id = 'order-1010' where id = ${ids.hostile}`;
  await server.sql`update refunds set gateway_message = null`;
  await server.sql`insert into gateways (slug, driver, kind) values ('stripe', 'stripe', 'live')`;
  await server.sql`
    update disputes set reason = 'fraudulent', network_reason = '10.4', gateway = 'stripe',
      gateway_reference = 'du_1Rq7XkL2eZvKYlo2'
    where id = ${ids.disputes.urgent}`;
  await server.sql`
    update deliveries set order_id = 'order-1010' where payment_id = ${ids.hostile}`;
  const payments = await server.sql<
    { id: string; gateway: string; amount: number; currency: string }[]
  >`
    select id, gateway, amount, currency from payments
    where status = 'paid' and not test and currency = 'EUR' order by id limit 8`;
  await fillPayouts(server.sql, { gateway: 'zarinpal', payments });
  const replayId = await addReplay();
  const wanted = {
    overview: '/',
    payments: '/payments',
    payment: `/payments/${ids.exhausted}`,
    refund: `/refunds/${ids.byHand[0] ?? ''}`,
    dispute: `/disputes/${ids.disputes.urgent}`,
    deliveries: '/deliveries',
    application: '/applications/shop',
    replay: `/events/${eventId(ids.exhausted)}/replay`,
    'replay-many': `/deliveries/replay?mode=live&scope=all&status=exhausted&to=${new Date().toISOString()}`,
    replaying: `/deliveries/replays/${replayId}`,
    payout: '/accounts/payouts/zarinpal/po_listed',
    reconcile: '/reconcile',
    audit: '/audit',
  };
  const looks = [
    { width: 1440, pages: wanted },
    { width: 390, pages: { 'payment-phone': wanted.payment } },
  ];
  for (const { width, pages } of looks) {
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    const page = await context.newPage();
    const code = await server.links.issueLink('ada', { role: 'admin', applications: null });
    await page.goto(`${server.baseUrl}/login/${code}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.goto(`${server.baseUrl}/reconcile`);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('open payment without a workflow').first().waitFor();
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${server.baseUrl}${path}`);
      await page.screenshot({ path: join(folder, `${name}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
