import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium, launchLimitMs } from '../../../support/demo/chromium.ts';
import { createJourney } from '../../../support/journey.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let browser: Browser;
let service: Service;
beforeAll(async () => {
  [browser, service] = await Promise.all([launchChromium(), startService()]);
}, launchLimitMs);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** The page, opened by a browser that may complain of nothing and ask nobody but the service. */
const openDocs = async (origin: string) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  context.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) complaints.push(`asks ${url.href}`);
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${origin}/api/v1/docs`);
  await page.locator('#operations-Payments-createPayment').waitFor();
  return { page, complaints };
};

it('the docs page shows every operation, asks nobody else and breaks no rule of its policy', async () => {
  const { page, complaints } = await openDocs(service.url);
  const document = await createJourney(service, '').call('GET', '/api/v1/openapi.json');
  const paths = Object.values(document.json['paths'] as Record<string, Record<string, object>>);
  const operations = paths.flatMap((methods) => Object.keys(methods));
  expect(await page.locator('.opblock[id^="operations-"]').count()).toBe(
    // The webhook is shown as well.
    operations.length + 1,
  );
  expect(await page.getByRole('main').count()).toBe(1);
  expect(complaints).toEqual([]);
});

it('the docs page may load and ask nothing but what is its own', async () => {
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

it.each(['127.0.0.1', 'localhost'])('"try it" makes a payment at %s', async (host) => {
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

/** A gateway that wants to be POSTed to, and what it was sent. */
const startGateway = async () => {
  const received: string[] = [];
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      if (req.method === 'POST') received.push(body);
      res.setHeader('content-type', 'text/html');
      res.end('<!doctype html><title>Gateway</title><h1>Pay here</h1>');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // No pipe.
  return { url: `http://127.0.0.1:${port}/pay`, received };
};

it.each([
  ['by itself', true],
  ['by its button, without JavaScript', false],
])('the form of a gateway that wants POST goes there %s', async (_, javaScriptEnabled) => {
  const { token } = await service.anApplication();
  const journey = createJourney(service, token);
  const gateway = await startGateway();
  const id = await journey.create();
  await until('it is opened', async () => (await journey.checkout(id)).status === 302);
  const redirect = { method: 'POST', url: gateway.url, fields: { token: '"T&1"' } };
  await service.sql`
    update payments set gateway_redirect = ${service.sql.json(redirect)} where id = ${id}`;

  const context = await browser.newContext({ javaScriptEnabled });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${service.url}/api/v1/payments/${id}/checkout`);
  if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Pay here' }).waitFor();
  expect(gateway.received).toEqual([String(new URLSearchParams({ token: '"T&1"' }))]);
});
