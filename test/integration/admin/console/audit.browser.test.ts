import { expect, it, onTestFinished } from 'vitest';
import { labels } from '../../../../admin/operations/labels.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { createAuditLog, type AuditAction } from '../../../../postgres/audit-log.ts';
import { forFile } from '../../../support/for-file.ts';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { startConsole } from '../../../support/service/console.ts';

const browser = useBrowser();
const console = await forFile(startConsole({ temporal: {} }));
const actions = Object.keys(labels.audit) as AuditAction[]; // Object.keys widens to string.
for (let n = 0; n < 50; n += 1)
  await createAuditLog(console.sql).insert({
    actor: n % 2 ? 'service' : 'ada-of-the-support-team',
    action: actions.filter((action) => !action.endsWith('login'))[n % 50] ?? 'webhook.test',
    subject: n % 3 ? `payment:${newPaymentId()}` : 'application:a-shop-with-a-long-name',
    before: {
      requests_per_minute: 120,
      webhook_url: 'https://shop.example/a/long/path/to/the/receiver',
    },
    after: { requests_per_minute: 1000, webhook_url: 'https://shop.example/another/path' },
    reason: 'the customer has called twice, and the shop has agreed to it by mail',
    via: n % 2 ? null : 'console',
  });

it.each([
  [1440, 48],
  [390, 110],
])('a record takes about a line at %s px, %s px high on average', async (width, height) => {
  const context = await browser().newContext({ viewport: { width, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const person = { role: 'viewer', applications: null } as const;
  await page.goto(`${console.baseUrl}/login/${await console.links.issueLink('reader', person)}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForLoadState();
  await page.goto(`${console.baseUrl}/audit`);
  const rows = await page
    .locator('tbody tr')
    .evaluateAll((found) =>
      found.map((row) => (row as unknown as { offsetHeight: number }).offsetHeight),
    );
  expect(rows).toHaveLength(50);
  const total = rows.reduce((sum, each) => sum + each, 0);
  expect(total / rows.length).toBeLessThanOrEqual(height);
});
