import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../support/runner/use-browser.ts';
import { forFile } from '../../support/for-file.ts';
import { runCommand, startStack } from '../../support/demo/stack.ts';

const browser = useBrowser();
const stack = await forFile(startStack());

const waitMs = 60_000;

/** A browser context that collects console errors, and requests to anything but the shop and the API. */
const aPayer = async (options: Parameters<Browser['newContext']>[0] = {}) => {
  const context = await browser().newContext({
    viewport: { width: 390, height: 844 },
    ...options,
  });
  context.setDefaultTimeout(waitMs);
  const complaints: string[] = [];
  const own = new Set([stack.facts.shop_url, stack.facts.api_base_url]);
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.page()?.url()}: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && !own.has(origin)) complaints.push(`requests ${request.url()}`);
  });
  onTestFinished(() => context.close());
  return { context, complaints };
};

const buy = async (context: BrowserContext, product: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(stack.facts.shop_url);
  await page.getByRole('button', { name: `Buy ${product}` }).click();
  await page.waitForURL('**/api/v1/sandbox/*');
  return page;
};

const openOrders = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(`${stack.facts.shop_url}/orders`);
  return page;
};

const choose = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click();

/** Waits until the page shows this state of its newest order, without a reload. */
const seeNewest = (orders: Page, state: string) =>
  orders.locator('.orders li').first().locator('.badge', { hasText: state }).waitFor();

const fitsItsWidth = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth');

const boxOf = async (orders: Page, part: string) => {
  const box = await orders.locator('.orders li').first().locator(part).boundingBox();
  if (!box) throw new Error(`The newest order shows no ${part}`);
  return box;
};

/** Whether the price and the state are beside or below each other, without overlapping. */
const showsPriceAndState = async (orders: Page) => {
  const [price, badge] = [await boxOf(orders, '.price'), await boxOf(orders, '.badge')];
  return price.x + price.width <= badge.x || price.y + price.height <= badge.y;
};

describe('the demo shop in a real browser', () => {
  it.each([
    { choice: 'Pay', state: 'Paid', heading: 'Thank you, it is paid' },
    { choice: 'Refuse', state: 'Failed', heading: 'The payment failed' },
    { choice: 'Cancel', state: 'Cancelled', heading: 'You cancelled the payment' },
  ])(
    'shows the order as $state by itself after the choice $choice',
    async ({ choice, state, heading }) => {
      const { context, complaints } = await aPayer();
      const payment = await buy(context, 'Stoneware mug');
      const orders = await openOrders(context);
      await seeNewest(orders, 'Waiting for payment');

      await payment.bringToFront();
      await choose(payment, choice);
      await payment.waitForURL(`${stack.facts.shop_url}/return?**`);
      await payment.getByRole('heading', { name: heading }).waitFor();
      await payment.getByText('Signature verified').waitFor();
      await payment.getByText('x-service-signature', { exact: true }).waitFor();

      await orders.bringToFront();
      await seeNewest(orders, state);
      expect(await fitsItsWidth(payment)).toBe(true);
      expect(await fitsItsWidth(orders)).toBe(true);
      expect(complaints).toEqual([]);
    },
  );

  it('keeps an order waiting whose payer paid and closed the browser', async () => {
    const { context, complaints } = await aPayer();
    const payment = await buy(context, 'Morning beans');
    await choose(payment, 'Pay and close the browser');
    await payment.getByRole('heading', { name: 'The browser is closed' }).waitFor();
    const orders = await openOrders(context);
    await seeNewest(orders, 'Waiting for payment');
    expect(await showsPriceAndState(orders)).toBe(true);
    await orders.setViewportSize({ width: 1280, height: 900 });
    expect(await showsPriceAndState(orders)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('keeps the focus when another order changes', async () => {
    const { context } = await aPayer();
    await buy(context, 'Stoneware mug');
    const orders = await openOrders(context);
    const live = orders.locator('[data-live]');
    const link = orders.locator('.orders li a').first();
    await link.focus();
    const [href, before] = [await link.getAttribute('href'), await live.getAttribute('data-live')];
    const payment = await buy(context, 'Morning beans');
    await orders.bringToFront();
    await orders.locator(`.orders li:nth-child(2) a[href="${href}"]`).waitFor();
    expect(await live.getAttribute('data-live')).not.toBe(before);
    const focused = 'document.activeElement.getAttribute("href")';
    expect(await orders.evaluate(focused)).toBe(href);
    await payment.close();
  });

  it('lets the payer choose among several gateways', async () => {
    const { context, complaints } = await aPayer();
    const shop = await context.newPage();
    const choice = shop.getByRole('combobox', { name: 'Pay for Stoneware mug with' });
    await shop.goto(stack.facts.shop_url);
    expect(await choice.count()).toBe(0);

    const slug = 'bank-of-the-long-name-behind-the-seven-mountains';
    const add = runCommand(
      ['run', 'admin', '--', 'gateways', 'add', slug, '--driver', 'sandbox'],
      stack.env,
    );
    expect(await add.exited, add.output()).toBe(0);
    await shop.reload();
    for (const width of [1280, 390]) {
      await shop.setViewportSize({ width, height: 900 });
      expect(await fitsItsWidth(shop)).toBe(true);
    }
    await choice.selectOption(slug);
    await shop.getByRole('button', { name: 'Buy Stoneware mug' }).click();
    await shop.waitForURL('**/api/v1/sandbox/*');
    await choose(shop, 'Pay');
    await shop.getByRole('heading', { name: 'Thank you, it is paid' }).waitFor();
    const id = new URL(shop.url()).searchParams.get('payment_id');
    const payment = await fetch(`${stack.facts.api_base_url}/api/v1/payments/${id}`, {
      headers: { authorization: `Bearer ${stack.facts.token}` },
    });
    expect(await payment.json()).toMatchObject({ status: 'paid', gateway: slug });

    await shop.goto(stack.facts.shop_url);
    await choice.selectOption(slug);
    const disable = runCommand(['run', 'admin', '--', 'gateways', 'disable', slug], stack.env);
    expect(await disable.exited, disable.output()).toBe(0);
    await shop.getByRole('button', { name: 'Buy Stoneware mug' }).click();
    await shop.getByRole('heading', { name: 'Not now' }).waitFor();
    await shop.getByRole('link', { name: 'Back to the shop' }).click();
    expect(await choice.count()).toBe(0);
    expect(complaints.filter((each) => !each.includes('409'))).toEqual([]);
  });

  it('sells and shows changes without JavaScript', async () => {
    const { context, complaints } = await aPayer({ javaScriptEnabled: false });
    const payment = await buy(context, 'Pour-over set');
    const orders = await openOrders(context);
    await choose(payment, 'Pay');
    await payment.getByText('Signature verified').waitFor();
    await seeNewest(orders, 'Paid');
    expect(complaints).toEqual([]);
  });
});
