import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { useBrowser } from '../../support/runner/use-browser.ts';
import { createJourney } from '../../support/service/journey.ts';
import { refund } from '../../support/service/refunds.ts';
import { startService, type Service } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';

const folder = new URL('../../../docs/operating/', import.meta.url);
const guide = readFileSync(new URL('temporal.md', folder), 'utf8');

const browser = useBrowser();
let page: Page;
let service: Service;
/** Payments by what they show. */
let shown: Record<'waiting' | 'retrying' | 'exhausted' | 'delivered', string>;
let application: string;
/** A refund that its gateway has accepted. */
let refunded: string;

beforeAll(async () => {
  service = await startService({ ownTemporal: true, withUi: true });
  const made = await service.anApplication();
  application = made.application;
  const journey = createJourney(service, made.token);
  const paid = async (order: string) => {
    const id = await journey.atGateway({ order_id: order, description: 'An order' });
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await until('the first attempt', () => service.receiver.of(id)[0]);
    return id;
  };
  const delivered = await paid('order-1001');
  service.receiver.behave(() => 503);
  const exhausted = await paid('order-1002');
  await skipAllTime(service.client, exhausted);
  await service.client.workflow
    .getHandle(exhausted)
    .result()
    .catch(() => {});
  const retrying = await paid('order-1003');
  const waiting = await journey.atGateway({ order_id: 'order-1004' });
  shown = { waiting, retrying, exhausted, delivered };
  const { json } = await refund(journey, delivered, {
    amount: 600,
    sandbox: { outcome: 'pending', after_seconds: 3_600 },
  });
  refunded = String(json['refund_id']);
});

beforeEach(async () => {
  if (page) return;
  page = await browser().newPage({ viewport: { width: 1440, height: 900 } });
  // As the guide says, by hand: "Configure Workflow Table".
  const columns = ['Status', 'OrderId', 'Application', 'Type', 'Workflow ID', 'Start'];
  const stored = JSON.stringify({ default: columns.map((label) => ({ label })) });
  await page.addInitScript(
    (text) => globalThis.localStorage.setItem('namespace-workflow-table-columns', text),
    stored,
  );
  await page.route('**/api/v1/**', hideMachine);
  page.setDefaultTimeout(60_000);
});

afterAll(async () => {
  await page?.unrouteAll({ behavior: 'ignoreErrors' });
  await service?.stop();
});

/** The guide's query of this name, for the payments of this test. */
const queryOf = (name: string): string => {
  const [, query] =
    new RegExp(`<!-- ${name} -->\\s+\`\`\`sql\\n([^\`]+)\n\`\`\``).exec(guide) ?? [];
  if (!query) throw new Error(`The guide has no query ${name}`);
  return query.replaceAll('order-1001', 'order-1003').replaceAll('shop', application);
};

const found = async (query: string) => {
  const ids: string[] = [];
  for await (const { workflowId } of service.client.workflow.list({ query })) ids.push(workflowId);
  return ids.toSorted().join();
};

const open = async (path: string, text: string | RegExp) => {
  await page.goto(`${service.engine.uiUrl}/namespaces/default/workflows${path}`);
  await page.getByText(text).first().waitFor();
};

/** A frame that the page puts in another's place meanwhile has no text. */
const textOfFrames = async () => {
  const texts = page.frames().map((frame) => frame.locator('body').innerText());
  return (await Promise.all(texts.map((text) => text.catch(() => '')))).join();
};

/** A picture must not show the folder and the name of this machine. */
const hideMachine = async (route: Route) => {
  // A long poll outlives the page.
  if (route.request().url().includes('waitNewEvent')) return route.continue();
  const response = await route.fetch();
  const text = await response.text();
  const body = text
    .replaceAll(process.cwd(), '/srv/payments')
    .replaceAll(`@${hostname()}`, '@worker-1');
  await route.fulfill({ response, body });
};

/** The guide's picture of what is on the page; `vitest -u` takes it anew. @returns its name */
const picture = async (name: string): Promise<string> => {
  const file = `images/${name}.png`;
  const path = new URL(file, folder);
  if (inject('updates')) {
    // The page loads on for ever; what matters is there, and stands still a moment later.
    await page.waitForTimeout(1_000);
    await page.screenshot({ path: path.pathname });
  }
  expect(existsSync(path), `${file} is there`).toBe(true);
  return file;
};

describe('the operators’ guide to the Temporal UI', () => {
  it.each([
    { name: 'by order', finds: ['retrying'] },
    { name: 'by application', finds: ['waiting', 'retrying', 'exhausted', 'delivered'] },
    { name: 'exhausted', finds: ['exhausted'] },
    { name: 'on their way', finds: ['waiting', 'retrying'] },
  ] as const)('the query $name of the guide finds what it says', async ({ name, finds }) => {
    const expected = finds.map((each) => shown[each]).toSorted();
    await until(name, async () => (await found(queryOf(name))) === expected.join());
    expect(await found(queryOf(name))).toBe(expected.join());
  });

  it('the query older than a day of the guide finds what began before its date, and nothing later', async () => {
    const query = queryOf('older than a day');
    // All that runs began before this one: what the other date leaves out is known by then.
    const later = query.replace('2026-01-01', '2999-01-01');
    const running = [shown.waiting, shown.retrying].toSorted().join();
    await until('they are found', async () => (await found(later)) === running);
    expect(await found(query)).toBe('');
  });

  it('shows what a payment is, and where it waits', async () => {
    await open(`?query=${encodeURIComponent(queryOf('by application'))}`, shown.waiting);
    await page.getByText(shown.exhausted).first().waitFor();
    await page.getByText('order-1004').first().waitFor();
    expect(guide).toContain(await picture('payments'));

    const { runId } = await service.client.workflow.getHandle(shown.waiting).describe();
    await open(`/${shown.waiting}/${runId}/user-metadata`, 'Current Details');
    // The page shows both as Markdown, each in a frame of its own.
    for (const text of [`12.50 EUR for ${application}`, 'order-1004', 'It waits for its payer'])
      await until(text, async () => (await textOfFrames()).includes(text));
    expect(guide).toContain(await picture('details'));
    await open(`/${shown.waiting}/${runId}/timeline`, 'Waits for the payer');
    await page.getByText('Waits for the payer').first().scrollIntoViewIfNeeded();
    expect(guide).toContain(await picture('waiting'));
  });

  it('shows what a refund waits for, and no retry that fails', async () => {
    const handle = service.client.workflow.getHandle(refunded);
    const { runId } = await handle.describe();
    await until('it waits', async () =>
      (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes),
    );
    await open(`/${refunded}/${runId}/user-metadata`, 'Current Details');
    for (const text of [`Refund of 6.00 EUR for ${application}`, 'has accepted the refund'])
      await until(text, async () => (await textOfFrames()).includes(text));
    expect(guide).toContain(await picture('refund'));
    expect((await handle.describe()).raw.pendingActivities).toEqual([]);
  });

  it('shows a pending delivery with its attempts and its last failure', async () => {
    const { runId } = await service.client.workflow.getHandle(shown.retrying).describe();
    await open(`/${shown.retrying}/${runId}/pending-activities`, 'deliverWebhook');
    await page
      .getByText(/Attempt \d+: /)
      .first()
      .waitFor();
    expect(guide).toContain(await picture('delivery'));
  });

  it('shows an exhausted delivery as a failed workflow', async () => {
    const { runId } = await service.client.workflow.getHandle(shown.exhausted).describe();
    await open(`/${shown.exhausted}/${runId}/timeline`, 'WebhookExhausted');
    await page.getByText('six attempts in 14 h 36 min').first().scrollIntoViewIfNeeded();
    expect(guide).toContain(await picture('exhausted'));
  });
});
