import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startConsole } from '../test/support/console.ts';
import { launchChromium } from '../test/support/demo/chromium.ts';
import { fillConsole } from '../test/support/fill-console.ts';

/*
 * Takes the pictures of docs/console.md from a console on a Postgres of its own, with made-up payments.
 *
 *   npm run console-screenshots
 */

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs/images/console');
/** A folder of one's own gets every page in both sizes and colours. */
const takesAll = process.argv[2] !== undefined;

const server = await startConsole();
const browser = await launchChromium();
try {
  mkdirSync(folder, { recursive: true });
  const ids = await fillConsole(server.sql);
  if (!takesAll)
    await server.sql`update payments set order_id = 'order-1010' where id = ${ids.hostile}`;
  const wanted: Record<string, string> = {
    overview: '/',
    payments: '/payments',
    payment: `/payments/${ids.exhausted}`,
    deliveries: '/deliveries',
    application: '/applications/shop',
    retrigger: `/payments/${ids.exhausted}/retrigger`,
    audit: '/audit',
    ...(takesAll && {
      hostile: `/payments/${ids.hostile}`,
      open: `/payments/${ids.open}`,
      applications: '/applications',
      token: '/applications/shop/tokens/issue',
      revoke: '/applications/shop/tokens/none/revoke',
      gateways: '/gateways',
      people: '/people',
      settings: '/settings',
      empty: '/deliveries?status=pending&mode=test',
    }),
  };
  const looks = [
    { width: 1440, colorScheme: 'light' },
    { width: 390, colorScheme: 'light' },
    { width: 1440, colorScheme: 'dark' },
    { width: 390, colorScheme: 'dark' },
  ] as const;
  for (const { width, colorScheme } of takesAll ? looks : looks.slice(0, 2)) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    const page = await context.newPage();
    const code = await server.links.issueLink('ada', 'admin');
    await page.goto(`${server.baseUrl}/login/${code}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    for (const [name, path] of Object.entries(wanted)) {
      // Of the narrow ones the documentation shows the payment.
      if (!takesAll && width === 390 && name !== 'payment') continue;
      await page.goto(`${server.baseUrl}${path}`);
      const suffix = takesAll ? `-${width}-${colorScheme}` : width === 390 ? '-phone' : '';
      await page.screenshot({ path: join(folder, `${name}${suffix}.png`), fullPage: takesAll });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
