import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium, launchLimitMs } from '../../support/demo/chromium.ts';
import { type StartedStack, startStack } from '../../support/demo/stack.ts';

let browser: Browser;
let stack: StartedStack;

beforeAll(async () => {
  browser = await launchChromium();
  stack = await startStack();
}, launchLimitMs);

afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const waitMs = 15_000;

/** A browser of its own, which may complain of nothing and ask nobody but the shop and the API. */
const aPayer = async (options: Parameters<Browser['newContext']>[0] = {}) => {
  const context = await browser.newContext({
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
    if (protocol !== 'data:' && !own.has(origin)) complaints.push(`asks ${request.url()}`);
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

/** A page that nobody touches: the state of its newest order. */
const seeNewest = (orders: Page, state: string) =>
  orders.locator('.orders li').first().locator('.badge', { hasText: state }).waitFor();

const fitsItsWidth = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth');

const boxOf = async (orders: Page, part: string) => {
  const box = await orders.locator('.orders li').first().locator(part).boundingBox();
  if (!box) throw new Error(`The newest order shows no ${part}`);
  return box;
};

/** Beside each other, or the one below the other. */
const showsPriceAndState = async (orders: Page) => {
  const [price, badge] = [await boxOf(orders, '.price'), await boxOf(orders, '.badge')];
  return price.x + price.width <= badge.x || price.y + price.height <= badge.y;
};

describe('the demo shop in a real browser', () => {
  it.each([
    { choice: 'Pay', state: 'Paid', heading: 'Thank you, it is paid' },
    { choice: 'Refuse', state: 'Failed', heading: 'The payment failed' },
    { choice: 'Cancel', state: 'Cancelled', heading: 'You cancelled the payment' },
  ])('$choice: the order turns $state by itself', async ({ choice, state, heading }) => {
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
  });

  it('Pay and close the browser: the order waits for what the service finds out', async () => {
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

  it('fits the narrowest phone, from the shop to the gateway and where there is a problem', async () => {
    const { context } = await aPayer({ viewport: { width: 320, height: 568 } });
    const page = await buy(context, 'Stoneware mug');
    expect(await fitsItsWidth(page)).toBe(true);
    await choose(page, 'Pay and close the browser');
    await page.getByRole('heading', { name: 'The browser is closed' }).waitFor();
    expect(await fitsItsWidth(page)).toBe(true);
    const nobodys = `PAY_${'0'.repeat(26)}`;
    await page.goto(`${stack.facts.api_base_url}/api/v1/payments/${nobodys}/checkout`);
    expect(await fitsItsWidth(page)).toBe(true);
    await page.goto(`${stack.facts.shop_url}/orders`);
    expect(await fitsItsWidth(page)).toBe(true);
  });

  it('its buttons look like buttons in forced colours', async () => {
    const { context } = await aPayer({ forcedColors: 'active' });
    const page = await context.newPage();
    await page.goto(stack.facts.shop_url);
    const border = 'getComputedStyle(document.querySelector("button")).borderTopStyle';
    expect(await page.evaluate(border)).toBe('solid');
  });

  it('takes the focus away from nobody when an order changes', async () => {
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

  it('sells without JavaScript, and the order changes all the same', async () => {
    const { context, complaints } = await aPayer({ javaScriptEnabled: false });
    const payment = await buy(context, 'Pour-over set');
    const orders = await openOrders(context);
    await choose(payment, 'Pay');
    await payment.getByText('Signature verified').waitFor();
    await seeNewest(orders, 'Paid');
    expect(complaints).toEqual([]);
  });
});
