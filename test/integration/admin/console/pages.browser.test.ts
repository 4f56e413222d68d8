import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import { awayProvider, startConsole } from '../../../support/service/console.ts';
import { forFile } from '../../../support/for-file.ts';
import { fillPayouts } from '../../../support/data/fill-payouts.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReplay } from '../../../support/data/fill-replay.ts';
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
  replayId = await fillReplay(console.sql);
});

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
