import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { readConnection } from '../demo/connection.ts';
import { launchChromium } from '../test/support/demo/chromium.ts';

/*
 * Takes the README's picture from the running stack of `npm start`: it buys something in the demo shop, pays
 * on the sandbox gateway's page, and opens the payment in the Temporal UI.
 *
 *   npm run screenshots
 */

const picture = join(import.meta.dirname, '../docs/images/payment-in-temporal.png');

/** The Temporal UI without its menu, down to the end of the timeline. */
const size = { width: 1440, height: 840 };
const clip = { x: 272, y: 108, width: 1168, height: 724 };

const buyAndPay = async (page: Page, shopUrl: string): Promise<void> => {
  await page.goto(shopUrl);
  await page.getByRole('button', { name: 'Buy' }).first().click();
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.getByText('Signature verified').waitFor();
};

const openWorkflow = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Its workflow in Temporal' }).click();
  await page.getByText('Completed').first().waitFor();
  await page.getByText('deliverWebhook').first().waitFor();
  // The timeline is drawn once its data has arrived.
  await page.waitForLoadState('networkidle');
};

const [connectionFile] = process.argv.slice(2);
if (connectionFile === undefined) {
  console.error('Usage: node tools/take-screenshots.ts CONNECTION_FILE');
  process.exit(1);
}
const { shopUrl } = readConnection(connectionFile);
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: size });
  page.setDefaultTimeout(20_000);
  await buyAndPay(page, shopUrl);
  await openWorkflow(page);
  await page.screenshot({ path: picture, clip });
} finally {
  await browser.close();
}
