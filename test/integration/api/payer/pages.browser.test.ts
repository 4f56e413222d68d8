import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../../../support/runner/use-browser.ts';
import { forFile } from '../../../support/for-file.ts';
import { listenForTest } from '../../../support/servers/listen.ts';
import { useService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';

const browser = useBrowser();
const service = await forFile(useService());

/** A gateway page that needs POST, and the bodies it received. */
const startGateway = async () => {
  const received: string[] = [];
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      if (req.method === 'POST') received.push(body);
      res.setHeader('content-type', 'text/html');
      res.end('<!doctype html><title>Gateway</title><h1>Pay here</h1>');
    });
  });
  const port = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}/pay`, received };
};

it.each([
  ['by itself', true],
  ['by its button, without JavaScript', false],
])('the form for a gateway that needs POST is submitted %s', async (_, javaScriptEnabled) => {
  const { journey } = await service.anApplication();
  const gateway = await startGateway();
  const id = await journey.create();
  await until('the payment is opened', async () => (await journey.checkout(id)).status === 302);
  const redirect = { method: 'POST', url: gateway.url, fields: { token: '"T&1"' } };
  await service.sql`
    update payments set gateway_redirect = ${service.sql.json(redirect)} where id = ${id}`;

  const context = await browser().newContext({ javaScriptEnabled });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${service.url}/api/v1/payments/${id}/checkout`);
  if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Pay here' }).waitFor();
  expect(gateway.received).toEqual([String(new URLSearchParams({ token: '"T&1"' }))]);
});
