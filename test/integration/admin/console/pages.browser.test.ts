import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventId, newReplayId } from '../../../../contract/ids.ts';
import { everyDelivery } from '../../../../postgres/delivery-filter.ts';
import { createReplays } from '../../../../postgres/replays.ts';
import { awayProvider, startConsole } from '../../../support/service/console.ts';
import { forFile } from '../../../support/for-file.ts';
import { recordReplayResult } from '../../../support/data/replay-result.ts';
import { fillPayouts } from '../../../support/data/fill-payouts.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { useBrowser } from '../../../support/runner/use-browser.ts';

const browser = useBrowser();
const console = await forFile(startConsole({ temporal: {}, identityProviderOf: awayProvider }));
let ids: Awaited<ReturnType<typeof fillConsole>>;
let replayId: string;
beforeAll(async () => {
  ids = await fillConsole(console.sql);
  const payments = await console.sql<
    { id: string; gateway: string; amount: number; currency: string }[]
  >`select id, gateway, amount, currency from payments where status = 'paid' and not test limit 20`;
  await fillPayouts(console.sql, { gateway: 'zarinpal', payments, rest: 1 });
  replayId = await addReplay();
});

/** A replay that is half done. */
const addReplay = async (): Promise<string> => {
  const id = newReplayId();
  const filter = {
    ...everyDelivery,
    application: 'shop',
    test: true,
    delivery: 'exhausted',
    to: new Date(),
  } as const;
  const replays = createReplays(console.sql);
  await replays.insertOfOperator({ ...filter, id, matched: 412, perSecond: 10 });
  await console.sql`update replays set begun = 205, refused = 2 where id = ${id}`;
  return id;
};

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const logIn = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(
    `${console.baseUrl}/login/${await console.links.issueLink('ada', { role: 'admin', applications: null })}`,
  );
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
};

/** Clicks what leads to another page, and waits until that page is there. */
const follow = async (link: Locator) => {
  await link.click();
  await link.page().waitForLoadState();
};

/** Shows the fields of a list's filter. */
const openFilter = (page: Page) => page.locator('summary', { hasText: 'More' }).click();

const aContext = async (options: Parameters<Browser['newContext']>[0] = {}) => {
  const context = await browser().newContext(options);
  onTestFinished(() => context.close());
  return context;
};

/** Every kind of page, with the states that a page can be in. */
const paths = (): Record<string, string> => ({
  overview: '/',
  attention: '/attention',
  'attention-money': '/attention/money',
  'attention-disputes': '/attention/disputes',
  'attention-silent': '/attention/silent',
  refunds: '/refunds',
  disputes: '/disputes',
  dispute: `/disputes/${ids.disputes.urgent}`,
  'dispute-lost': `/disputes/${ids.disputes.lost}`,
  'refund-give': `/payments/${ids.paid}/refund`,
  refund: `/refunds/${ids.byHand[0] ?? ''}`,
  'refund-confirm': `/refunds/${ids.toConfirm[0] ?? ''}/confirm`,
  'refund-failed': `/refunds/${ids.byHand[1] ?? ''}/failed`,
  'refund-give-question': `/payments/${ids.paid}/refund/give?amount=6.00`,
  'payment-to-check': `/payments/${ids.toCheck}`,
  'payment-failing': `/payments/${ids.failing[0] ?? ''}`,
  'payment-refunded': `/payments/${ids.refunded}`,
  accounts: `/accounts?month=${ids.accounts.openDay.slice(0, 7)}`,
  'accounts-none': '/accounts?month=2020-02&application=shop',
  'account-day-open': `/accounts/zarinpal/${ids.accounts.openDay}`,
  'account-day-young': `/accounts/sandbox/${ids.accounts.youngDay}`,
  'account-day-none': '/accounts/zarinpal/2020-02-29',
  'account-mend': `/accounts/differences/${ids.accounts.mendable}/mend`,
  'account-explain': `/accounts/differences/${ids.accounts.open}/explain`,
  payouts: '/accounts/payouts',
  'payouts-none': '/accounts/payouts?text=nothing',
  payout: '/accounts/payouts/zarinpal/po_listed',
  'account-reopen': `/accounts/differences/${ids.accounts.explained}/reopen`,
  'search-found': '/search?text=order-1003',
  payments: '/payments',
  'payments-none': '/payments?status=cancelled&period=15+minutes',
  'payment-exhausted': `/payments/${ids.exhausted}`,
  'payment-open': `/payments/${ids.open}`,
  'payment-hostile': `/payments/${ids.hostile}`,
  deliveries: '/deliveries',
  'deliveries-failing': '/deliveries?status=failing',
  'deliveries-none': '/deliveries?period=15+minutes&status=pending',
  'deliveries-times': '/deliveries?from=2026-11-20T00:00&to=2026-11-21T00:00&zone=UTC',
  'payments-gateway': '/payments?gateway=zarinpal',
  'replay-many': `/deliveries/replay?mode=live&scope=all&status=exhausted&to=${new Date().toISOString()}`,
  'replay-none': '/deliveries/replay?scope=selected',
  replays: '/deliveries/replays',
  'replays-one': `/deliveries/replays/${replayId}`,
  'replays-stop': `/deliveries/replays/${replayId}/stop`,
  events: '/applications/shop/events',
  'events-one': `/events/${eventId(ids.exhausted)}`,
  reconcile: '/reconcile',
  'reconcile-heal': '/reconcile/heal',
  applications: '/applications',
  'application-new': '/create-application',
  'application-test': '/applications/shop/test-webhook',
  application: '/applications/shop',
  requests: '/applications/shop/requests',
  'application-budget': '/applications/shop/budget',
  'application-token': '/applications/shop/tokens/issue',
  'application-callbacks': '/applications/shop/callback-urls',
  'application-limit': '/applications/shop/refund-limit',
  'refund-rules': '/refunds/rules',
  'refund-rules-change': '/refunds/rules/change',
  'person-new': '/invite',
  gateway: '/gateways/sandbox',
  'gateway-account': '/gateways/zarinpal/account',
  gateways: '/gateways',
  'gateway-credentials': '/gateways/zarinpal/credentials',
  audit: '/audit',
  'audit-none': '/audit?subject=nothing',
  people: '/people',
  account: '/account',
  'account-passkey': '/account/passkeys',
  'account-remove': '/account/passkeys/none/remove',
  'provider-unavailable': '/login/provider',
  'login-too-old': '/login/provider/callback',
  replay: `/events/${eventId(ids.exhausted)}/replay`,
  settings: '/settings',
  login: '/login',
  'not-found': '/nothing',
});

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

// Colours do not depend on the width, so two of the four views see everything.
const views = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 390 },
] as const;

it.each(views)(
  'every page, $colorScheme and $width px wide, passes axe, keeps to the policy and fits',
  async ({ colorScheme, width }) => {
    const page = await logIn(await aContext({ colorScheme, viewport: { width, height: 900 } }));
    const refused: string[] = [];
    page.on('console', (message) => {
      // Pages that say that something is not there, or not possible.
      if (message.type() === 'error' && !/status of (404|409|410|502)/.test(message.text()))
        refused.push(message.text());
    });
    page.on('pageerror', (error) => refused.push(String(error)));
    for (const [name, path] of Object.entries(paths())) {
      await page.goto(`${console.baseUrl}${path}`);
      // By its own channel: the policy of the page admits no script but ours.
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => {
        const loaded = globalThis as unknown as {
          axe: { run(options: object): Promise<{ violations: Violation[] }> };
        };
        const rules = { 'target-size': { enabled: true } };
        return (await loaded.axe.run({ resultTypes: ['violations'], rules })).violations;
      });
      const found = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
      expect(found, `${name}, ${colorScheme}, ${width}`).toEqual([]);
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(overflow, `${name}, ${width}`).toBeLessThanOrEqual(0);
    }
    expect(refused).toEqual([]);
  },
);

it('the keyboard alone reaches the content, a filter and a payment', async () => {
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/payments`);
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
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/deliveries`);
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
  const page = await logIn(await aContext({ javaScriptEnabled: false }));
  await page.goto(`${console.baseUrl}/deliveries`);
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
  const page = await logIn(await aContext());
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  await page.goto(`${console.baseUrl}/deliveries/replays/${replayId}`);
  await page.evaluate('globalThis.isSamePage = true');
  await recordReplayResult(console.sql, replayId, { paymentId: ids.exhausted, begun: true });
  await page.getByText('208 of 412').waitFor();
  await createReplays(console.sql).end(replayId, 'stopped');
  await page.getByText('stopped', { exact: false }).first().waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  expect(await page.locator('[hx-get]').count()).toBe(0);
  expect(refused).toEqual([]);
});

it('an address holds only what was asked for, with the zone of exact times', async () => {
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/payments`);
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

it('a filter stays in the address, over pages and without JavaScript', async () => {
  const page = await logIn(await aContext({ javaScriptEnabled: false }));
  await follow(page.getByRole('link', { name: 'Payments', exact: true }));
  await openFilter(page);
  await page.getByLabel('Status').selectOption('paid');
  await follow(page.getByRole('button', { name: 'Filter' }));
  expect(new URL(page.url()).searchParams.get('status')).toBe('paid');
  const first = await page.locator('tbody .id').allTextContents();
  await follow(page.getByRole('link', { name: 'Older' }));
  const second = await page.locator('tbody .id').allTextContents();
  expect(new URL(page.url()).searchParams.get('status')).toBe('paid');
  expect([first.length, second.filter((id) => first.includes(id))]).toEqual([50, []]);
  expect(new Set(await page.locator('tbody td:nth-child(3)').allTextContents())).toEqual(
    new Set(['● paid']),
  );
});

it('without JavaScript a part of the filter is removed by its chip, and all of it at once', async () => {
  const page = await logIn(await aContext({ javaScriptEnabled: false }));
  await page.goto(`${console.baseUrl}/payments?status=failed&failure=card_declined&order=`);
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
  const page = await logIn(await aContext());
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

it('the cookie is seen at no other name of this machine', async () => {
  const context = await aContext();
  await logIn(context);
  expect(await context.cookies(console.baseUrl)).toHaveLength(1);
  expect(await context.cookies(`http://127.0.0.1:${console.port}`)).toEqual([]);
  expect(await context.cookies('http://localhost:3001')).toEqual([]);
});

it('the back button shows nothing after a logout', async () => {
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/payments/${ids.exhausted}`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await page.getByText('PAY_').count()).toBe(0);
});

it('an open page refreshes itself, without a reload and within the policy', async () => {
  const page = await logIn(await aContext());
  const refused: string[] = [];
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  page.on('pageerror', (error) => refused.push(String(error)));
  await page.goto(`${console.baseUrl}/payments/${ids.open}`);
  await page.evaluate('globalThis.isSamePage = true');
  // The first refresh finds nothing new and leaves the page as it is.
  const unchanged = await page.waitForResponse((response) => response.url().includes('/state'));
  expect(unchanged.status()).toBe(204);
  await console.sql`
    update payments set status = 'processing', gateway_reference = 'news' where id = ${ids.open}`;
  await page.getByText('processing').waitFor();
  await console.sql`
    update payments set status = 'failed', failure_code = 'card_declined' where id = ${ids.open}`;
  await page.getByText('card declined').first().waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  expect(await page.locator('[hx-get]').count()).toBe(0);
  expect(refused).toEqual([]);
});

it('a live page outlives a bad answer, says since when it is old, and goes on', async () => {
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/payments/${ids.live}`);
  const answers = [
    { status: 503, contentType: 'text/html', body: '<h1>The database is away</h1>' },
    { status: 200, contentType: 'text/html', body: '<h1>A login of a proxy</h1>' },
  ];
  await page.route('**/state**', (route) => route.fulfill(answers.shift()), { times: 2 });
  await page.getByText(/^Not refreshed since /).waitFor();
  expect(await page.getByRole('heading', { name: /database|proxy/ }).count()).toBe(0);
  await console.sql`
    update payments set status = 'failed', failure_code = 'card_declined' where id = ${ids.live}`;
  await page.getByText('card declined').first().waitFor();
  expect(await page.getByText(/^Not refreshed since /).isVisible()).toBe(false);
});

it('a live page says since when it is old when the server hangs, by the clock of the person', async () => {
  const context = await aContext({ timezoneId: 'America/New_York' });
  const page = await logIn(context);
  const url = console.baseUrl;
  await context.addCookies([{ name: 'console-zone', value: 'Asia/Tehran', url }]);
  await page.clock.install();
  await page.goto(`${console.baseUrl}/`);
  const hangs = page.waitForEvent('request', (request) => request.url().includes('/overview'));
  await page.route('**/overview**', () => {});
  await page.clock.runFor(15_000);
  await hangs;
  await page.clock.runFor(10_000);
  const notice = page.getByText(/^Not refreshed since /);
  await notice.waitFor();
  expect(await notice.innerText()).toMatch(/since \d\d:\d\d:\d\d Asia\/Tehran\.$/);
});

it('a session that ends under a live page leads to the login, and back to the page', async () => {
  const page = await logIn(await aContext());
  const path = `/payments/${ids.failing[1] ?? ''}`;
  await page.goto(`${console.baseUrl}${path}`);
  await console.sql`update console_sessions set ended_at = now() where ended_at is null`;
  await page.waitForURL(`${console.baseUrl}/login?back=${encodeURIComponent(path)}`);
  const link = await console.links.issueLink('ada', { role: 'admin', applications: null });
  await page.goto(`${console.baseUrl}/login/${link}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: /^Payment PAY_/ }).waitFor();
  expect(page.url()).toBe(`${console.baseUrl}${path}`);
});

it('one click replays a webhook, and the page says so', async () => {
  const page = await logIn(await aContext());
  await page.goto(`${console.baseUrl}/deliveries?status=failing`);
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
  const page = await logIn(await aContext());
  await page.getByText('The same as a table').click();
  const before = await page.getByText('As of').textContent();
  await page.waitForResponse((response) => response.url().includes('/overview'));
  await page.waitForResponse((response) => response.url().includes('/overview'));
  await page.waitForFunction(
    `!document.querySelector('main').textContent.includes(${JSON.stringify(before)})`,
  );
  expect(await page.locator('details[open]').count()).toBe(1);
  expect(await page.getByRole('region', { name: 'Payments by hour' }).isVisible()).toBe(true);
});
