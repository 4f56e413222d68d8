import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createReplays } from '../../../../postgres/webhooks/replays.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReplay } from '../../../support/data/fill-replay.ts';
import { recordReplayResult } from '../../../support/data/replay-result.ts';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';
import { useConsolePages } from '../../../support/service/console-browser.ts';

const console = await forFile(startConsole({ temporal: {} }));
const openPage = useConsolePages(console);
let ids: Awaited<ReturnType<typeof fillConsole>>;
let replayId: string;
beforeAll(async () => {
  ids = await fillConsole(console.sql);
  replayId = await fillReplay(console.sql);
});

/** Clicks what leads to another page, and waits until that page is there. */
const follow = async (link: Locator) => {
  await link.click();
  await link.page().waitForLoadState();
};

/** Opens a page whose clock the test moves on, and collects what the browser complains of. */
const openLive = async (path: string, options: BrowserContextOptions = {}) => {
  const page = await openPage('/settings', options);
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  page.on('pageerror', (error) => refused.push(String(error)));
  await page.clock.install();
  await page.goto(`${console.baseUrl}${path}`);
  await page.evaluate('globalThis.isSamePage = true');
  return { page, refused, poll: (seconds: number) => page.clock.runFor(seconds * 1_000) };
};

/** Shows the fields of a list's filter. */
const openFilter = (page: Page) => page.locator('summary', { hasText: 'More' }).click();

it('the keyboard alone reaches the content, a filter and a payment', async () => {
  const page = await openPage('/payments');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(`document.activeElement?.textContent`)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(`document.activeElement?.textContent`)).toBe('Today');
  await page.locator('summary', { hasText: 'More' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('select[name=status]').focus();
  await page.keyboard.type('pa');
  await page.keyboard.press('/');
  expect(await page.evaluate(`document.activeElement?.id`)).not.toBe('search');
  await page.getByRole('link', { name: 'PAY_' }).first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Payment PAY_/ }).waitFor();
});

it('the keyboard alone replays two selected webhooks', async () => {
  const page = await openPage('/deliveries');
  await page.getByRole('button', { name: 'Replay all that match' }).focus();
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('Tab', 'Space');
  expect(await page.locator('tbody input:checked').count()).toBeGreaterThan(2);
  expect(await page.locator('tbody input:not(:checked)').count()).toBe(0);
  // Past the table, which scrolls.
  await press('Space', 'Tab', 'Tab', 'Space');
  expect(await page.getByText('1 selected').isVisible()).toBe(true);
  await page.locator('tbody input').nth(1).focus();
  await press('Space');
  expect(await page.getByText('2 selected').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Replay the selected' }).focus();
  await press('Enter');
  await page.getByRole('heading', { name: 'Replay 2 webhooks' }).waitFor();
  await page.getByLabel('Reason').focus();
  await page.keyboard.type('by keyboard');
  await press('Tab', 'Enter');
  await page.getByRole('heading', { name: /^Replay RPL_/ }).waitFor();
  await page.waitForLoadState();
  expect(await page.getByText('0 of 2').isVisible()).toBe(true);
});

it('without JavaScript all that match are replayed, watched by reloading, and stopped', async () => {
  const page = await openPage('/deliveries', { javaScriptEnabled: false });
  await openFilter(page);
  await page.getByLabel('Application').selectOption('tickets');
  await follow(page.getByRole('button', { name: 'Filter' }));
  await follow(page.getByRole('button', { name: 'Replay all that match' }));
  await page.getByLabel('Rounds a second, at most').selectOption('20');
  await page.getByLabel('Reason').fill('the receiver is back');
  await follow(page.getByRole('button', { name: 'Replay' }));
  await page.getByRole('heading', { name: /^Replay RPL_/ }).waitFor();
  expect(await page.getByText('at most 20 a second').isVisible()).toBe(true);
  const id = page.url().split('/').at(-1) ?? '';
  await recordReplayResult(console.sql, id, { paymentId: ids.exhausted, begun: true });
  await follow(page.getByRole('link', { name: 'Refresh' }));
  expect(await page.getByText(/^1 of /).isVisible()).toBe(true);
  await follow(page.getByRole('link', { name: 'Stop' }));
  await page.getByLabel('Reason').fill('enough');
  await follow(page.getByRole('button', { name: 'Stop' }));
  expect(await page.getByText('stopping').isVisible()).toBe(true);
});

it('the page of a replay moves on by itself, until it has ended', async () => {
  const { page, refused, poll } = await openLive(`/deliveries/replays/${replayId}`);
  await recordReplayResult(console.sql, replayId, { paymentId: ids.exhausted, begun: true });
  await poll(2);
  await page.getByText('208 of 412').waitFor();
  await createReplays(console.sql).end(replayId, 'stopped');
  await poll(2);
  await page.getByText('stopped', { exact: false }).first().waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  expect(await page.locator('[hx-get]').count()).toBe(0);
  expect(refused).toEqual([]);
});

it('an address holds only what was asked for, with the zone of exact times', async () => {
  const page = await openPage('/payments');
  await openFilter(page);
  await page.locator('select[name=gateway]').selectOption('zarinpal');
  await follow(page.getByRole('button', { name: 'Filter' }));
  expect(new URL(page.url()).search).toBe('?gateway=zarinpal');
  await openFilter(page);
  await page.locator('input[name=from]').fill('2026-11-01T00:00:00');
  await follow(page.getByRole('button', { name: 'Filter' }));
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    gateway: 'zarinpal',
    from: '2026-11-01T00:00',
    zone: 'UTC',
  });
  expect(await page.locator('input[name=from]').inputValue()).toMatch(/^2026-11-01T00:00/);
});

it('without JavaScript a part of the filter is removed by its chip, and all of it at once', async () => {
  const page = await openPage('/payments?status=failed&failure=card_declined&order=', {
    javaScriptEnabled: false,
  });
  await follow(page.getByRole('link', { name: 'Today' }));
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toEqual({
    status: 'failed',
    failure: 'card_declined',
    period: 'today',
  });
  await follow(page.getByRole('link', { name: 'Remove Failure: card declined' }));
  await follow(page.getByRole('link', { name: 'Remove Today' }));
  expect(new URL(page.url()).search).toBe('?status=failed');
  expect(await page.getByRole('link', { name: 'Clear all' }).count()).toBe(0);
  await openFilter(page);
  expect(await page.locator('select[name=status]').inputValue()).toBe('failed');
  await page.getByLabel('Amount from').fill('1.00');
  await page.getByLabel('Currency').fill('EUR');
  await follow(page.getByRole('button', { name: 'Filter' }));
  expect(await page.getByRole('link', { name: 'Remove Amount: from 1.00 EUR' }).count()).toBe(1);
  await follow(page.getByRole('link', { name: 'Clear all' }));
  expect(new URL(page.url()).search).toBe('');
});

it('texts from outside are shown as text, with their invisible characters', async () => {
  const page = await openPage('/');
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${console.baseUrl}/payments/${ids.hostile}`);
  for (const summary of await page.locator('summary').all()) await summary.click();
  const text = await page.locator('main').innerText();
  for (const name of [
    'order',
    'description',
    'metadata',
    'gateway',
    'code',
    'exchange',
    'error',
    'answer',
    'event',
  ])
    expect(text, name).toContain(`<img src=x onerror=alert('${name}')>`);
  expect(text).toContain('‹U+202E›');
  for (const hidden of ['\u202e', '\u0007']) expect(text).not.toContain(hidden);
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(dialogs).toEqual([]);
});

it('the back button shows nothing after a logout', async () => {
  const page = await openPage(`/payments/${ids.exhausted}`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await page.getByText('PAY_').count()).toBe(0);
});

it('an open page refreshes itself, without a reload and within the policy', async () => {
  const { page, refused, poll } = await openLive(`/payments/${ids.open}`);
  // The first refresh finds nothing new and leaves the page as it is.
  const unchanged = page.waitForResponse((response) => response.url().includes('/state'));
  await poll(5);
  expect((await unchanged).status()).toBe(204);
  await console.sql`
    update payments set status = 'processing', gateway_reference = 'news' where id = ${ids.open}`;
  await poll(5);
  await page.getByText('processing').waitFor();
  await console.sql`
    update payments set status = 'failed', failure_code = 'card_declined' where id = ${ids.open}`;
  await poll(5);
  await page.getByText('card declined').first().waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  expect(await page.locator('[hx-get]').count()).toBe(0);
  expect(refused).toEqual([]);
});

it('a live page outlives a bad answer, says since when it is old, and goes on', async () => {
  const { page, poll } = await openLive(`/payments/${ids.live}`);
  const bodies = ['<h1>The database is away</h1>', '<h1>A login of a proxy</h1>'];
  for (const [n, body] of bodies.entries()) {
    const answer = { status: n === 0 ? 503 : 200, contentType: 'text/html', body };
    await page.route('**/state**', (route) => route.fulfill(answer), { times: 1 });
    const answered = page.waitForResponse((response) => response.url().includes('/state'));
    await poll(5);
    await answered;
  }
  await page.getByText(/^Not refreshed since /).waitFor();
  expect(await page.getByRole('heading', { name: /database|proxy/ }).count()).toBe(0);
  await console.sql`
    update payments set status = 'failed', failure_code = 'card_declined' where id = ${ids.live}`;
  await poll(5);
  await page.getByText('card declined').first().waitFor();
  expect(await page.getByText(/^Not refreshed since /).isVisible()).toBe(false);
});

it('a live page says since when it is old when the server hangs, by the clock of the person', async () => {
  const { page, poll } = await openLive('/', { timezoneId: 'America/New_York' });
  const url = console.baseUrl;
  await page.context().addCookies([{ name: 'console-zone', value: 'Asia/Tehran', url }]);
  await page.reload();
  const hangs = page.waitForEvent('request', (request) => request.url().includes('/overview'));
  await page.route('**/overview**', () => {});
  await poll(15);
  await hangs;
  await poll(10);
  const notice = page.getByText(/^Not refreshed since /);
  await notice.waitFor();
  expect(await notice.innerText()).toMatch(/since \d\d:\d\d:\d\d Asia\/Tehran\.$/);
});

it('a session that ends under a live page leads to the login, and back to the page', async () => {
  const path = `/payments/${ids.failing[1] ?? ''}`;
  const { page, poll } = await openLive(path);
  await console.sql`update console_sessions set ended_at = now() where ended_at is null`;
  await poll(5);
  await page.waitForURL(`${console.baseUrl}/login?back=${encodeURIComponent(path)}`);
  const link = await console.links.issueLink('ada', { role: 'admin', applications: null });
  await page.goto(`${console.baseUrl}/login/${link}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /^Payment PAY_/ }).waitFor();
  expect(page.url()).toBe(`${console.baseUrl}${path}`);
  // No other name of this machine sees the cookie.
  const namesAt = async (url: string) =>
    (await page.context().cookies(url)).map(({ name }) => name);
  expect(await namesAt(console.baseUrl)).toContain('console');
  expect(await namesAt(`http://127.0.0.1:${console.port}`)).toEqual([]);
  expect(await namesAt('http://localhost:3001')).toEqual([]);
});

it('one click replays a webhook, and the page says so', async () => {
  const page = await openPage('/deliveries?status=failing');
  await page.getByRole('button', { name: 'Send now' }).first().click();
  await page.getByText('The next attempt of the event is due.').waitFor();
  expect(new URL(page.url()).search).toBe('?status=failing');
  await page.reload();
  expect(await page.getByText('The next attempt of the event is due.').count()).toBe(0);
  const path = `/payments/${ids.paid}`;
  await page.goto(`${console.baseUrl}${path}`);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText('The next attempt of the event is due.').waitFor();
  expect(new URL(page.url()).pathname).toBe(path);
});

it('an overview keeps what its reader has opened while it refreshes', async () => {
  const { page, poll } = await openLive('/');
  await page.getByText('The same as a table').click();
  const before = await page.getByText('As of').textContent();
  // The figures are read again after 14 seconds.
  const now = performance.now.bind(performance);
  let passedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  onTestFinished(() => void vi.restoreAllMocks());
  // Again and again: the first reading may be of the same second.
  const pollMain = async () => {
    passedMs += 15_000;
    await poll(15);
    return page.locator('main').textContent();
  };
  await expect.poll(pollMain, { timeout: 10_000 }).not.toContain(before);
  expect(await page.locator('details[open]').count()).toBe(1);
  expect(await page.getByRole('region', { name: 'Payments by hour' }).isVisible()).toBe(true);
});
