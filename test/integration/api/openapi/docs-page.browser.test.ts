import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { forFile } from '../../../support/for-file.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';

const browser = useBrowser();
const service = await forFile(useService());
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Opens the page; `complaints` lists console errors and every other request. */
const openDocs = async (width: number, colorScheme: 'light' | 'dark' = 'light') => {
  const context = await browser().newContext({ viewport: { width, height: 900 }, colorScheme });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  const url = `${service.url}/api/v1/docs`;
  context.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:'))
      complaints.push(`requests ${request.url()}`);
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(url);
  return { page, complaints };
};

const problemsOf = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await checker.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
};

it('the docs page shows every operation and object, and asks for nothing else', async () => {
  const { page, complaints } = await openDocs(1280);
  const document = await createJourney(service, '').call('GET', '/api/v1/openapi.json');
  const { paths, webhooks, components } = document.json as {
    paths: Record<string, Record<string, { operationId: string }>>;
    webhooks: Record<string, object>;
    components: { schemas: Record<string, object> };
  };
  const ids = [
    ...Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    ),
    ...Object.keys(components.schemas).flatMap((name) =>
      name.startsWith('Error_') ? [] : `object-${name}`,
    ),
    ...Object.keys(webhooks),
  ];
  const shown = await page.locator('h3[id]').evaluateAll((all) => all.map(({ id }) => id));
  expect(new Set(shown)).toEqual(new Set(ids));
  expect(shown).toHaveLength(ids.length);
  // No link of the page leads nowhere.
  const lost = await page
    .locator('a[href^="#"]')
    .evaluateAll((all) =>
      all.flatMap((link) =>
        link.ownerDocument.querySelector(link.getAttribute('href') ?? '') ? [] : link.outerHTML,
      ),
    );
  expect(lost).toEqual([]);
  expect(complaints).toEqual([]);
});

it.each([
  [1280, 'light'],
  [390, 'dark'],
] as const)('the docs page fits into %i px, %s, and is accessible', async (width, scheme) => {
  const { page } = await openDocs(width, scheme);
  // Opens what is closed, so that it is looked at, too.
  await page.locator('details').evaluateAll((all) => {
    for (const each of all) each.setAttribute('open', '');
  });
  const widest = await page
    .locator('body *')
    .evaluateAll((all) => Math.max(...all.map((each) => each.getBoundingClientRect().right)));
  expect(Math.round(widest)).toBeLessThanOrEqual(width);
  expect(await problemsOf(page)).toEqual([]);
});

it('the policy of the docs page allows its one style, and no script', async () => {
  const { headers } = await createJourney(service, '').call('GET', '/api/v1/docs');
  const policy = headers.get('content-security-policy') ?? '';
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]));
  expect(rules.get('default-src')).toBe("default-src 'none'");
  expect(rules.has('script-src')).toBe(false);
  for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
    expect(rules.get(name)).toBe(`${name} 'none'`);
  expect(policy).not.toMatch(/\*|unsafe|https?:/);
});

it('the first call of the docs page creates a payment', async () => {
  const { token } = await service.anApplication();
  const { page } = await openDocs(1280);
  const call = await page.locator('pre').first().innerText();
  const [, url = '', body = ''] = /curl (\S+) [^]*-d '(.*)'/.exec(call) ?? [];
  const answer = await createJourney(service, token).call('POST', new URL(url).pathname, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
  expect(answer.status).toBe(201);
});
