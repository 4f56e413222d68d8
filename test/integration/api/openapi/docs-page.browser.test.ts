import { expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { forFile } from '../../../support/for-file.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';

const browser = useBrowser();
const service = await forFile(useService());

/** Opens the page; `complaints` lists console errors and requests to other origins. */
const openDocs = async (origin: string) => {
  const context = await browser().newContext({ viewport: { width: 1280, height: 1000 } });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`requests ${url.href}`);
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${origin}/api/v1/docs`);
  await page.locator('#operations-Payments-createPayment').waitFor();
  return { page, complaints };
};

it('the docs page shows every operation without a request to another origin or a policy error', async () => {
  const { page, complaints } = await openDocs(service.url);
  const document = await createJourney(service, '').call('GET', '/api/v1/openapi.json');
  const paths = Object.values(document.json['paths'] as Record<string, Record<string, object>>);
  const operations = paths.flatMap((methods) => Object.keys(methods));
  expect(await page.locator('.opblock[id^="operations-"]').count()).toBe(
    // And the two webhooks.
    operations.length + 2,
  );
  expect(await page.getByRole('main').count()).toBe(1);
  expect(complaints).toEqual([]);
});

it('the policy of the docs page allows its own origin only', async () => {
  const { headers } = await createJourney(service, '').call('GET', '/api/v1/docs');
  const policy = headers.get('content-security-policy') ?? '';
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]));
  expect(rules.get('default-src')).toBe("default-src 'none'");
  expect(rules.get('script-src')).toBe("script-src 'self'");
  expect(rules.get('connect-src')).toBe("connect-src 'self'");
  for (const name of ['base-uri', 'form-action', 'frame-ancestors'])
    expect(rules.get(name)).toBe(`${name} 'none'`);
  expect(policy).not.toMatch(/\*|unsafe-eval|https?:/);
});

it.each(['127.0.0.1', 'localhost'])('"Try it out" creates a payment at %s', async (host) => {
  const { token } = await service.anApplication();
  const { page, complaints } = await openDocs(service.url.replace('127.0.0.1', host));
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.locator('.auth-container input').fill(token);
  await page.locator('.auth-btn-wrapper button[type=submit]').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();

  const operation = page.locator('#operations-Payments-createPayment');
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table tbody');
  await answer.locator('.response-col_status').first().waitFor();
  expect(await answer.innerText()).toMatch(/^201\b[^]*"payment_id": "PAY_/);
  expect(complaints).toEqual([]);
});
