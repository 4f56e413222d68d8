import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { toGateway } from '../../../../api/payer/pages.ts';
import type { Answer, Journey } from '../../../support/journey.ts';
import { createJourney } from '../../../support/journey.ts';
import { rawRequest } from '../../../support/raw-http.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { addStripe } from '../../../support/stripe-account.ts';
import { until } from '../../../support/until.ts';

let service: Service;
let journey: Journey;
beforeAll(async () => {
  service = await startService();
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(() => service?.stop());

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const contents = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))].map(([, text = '']) => text);

/** What holds for every page of a payer. */
const expectPage = (
  { headers, text }: Pick<Answer, 'headers' | 'text'>,
  referrer = 'no-referrer',
) => {
  expect(text).toMatch(/^<!doctype html>/);
  expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe(referrer);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const policy = headers.get('content-security-policy') ?? '';
  for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(rule);
  expect(policy).not.toMatch(/unsafe|\*|https?:\/\/(?!127\.0\.0\.1)/);
  expect(contents(text, 'style')).toHaveLength(1);
  for (const tag of ['style', 'script'])
    for (const inner of contents(text, tag)) expect(policy).toContain(hashOf(inner));
  expect(text).not.toMatch(/ style=| on\w+=|<link|<img|<iframe|src=/);
  // For a phone and a screen reader.
  expect(text).toContain('<html lang="en">');
  expect(text).toContain('name="viewport" content="width=device-width, initial-scale=1"');
  expect(contents(text, 'title')).toEqual([expect.stringMatching(/\w/)]);
  expect(contents(text, 'h1')).toHaveLength(1);
};
/** Providers refuse payers who come from nowhere. */
const toGatewayAlone = 'strict-origin-when-cross-origin';
const expectRedirect = ({ headers, text }: Answer, to: string, referrer = 'no-referrer') => {
  expect(text).toBe('');
  expect(headers.get('location')).toBe(to);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe(referrer);
};
const callback = (id: string, status: string) =>
  `http://127.0.0.1:9/return?payment_id=${id}&order_id=order-1&status=${status}`;

describe('checkout', () => {
  it('302: to the gateway while pending, again and again', async () => {
    const id = await journey.create();
    for (let time = 0; time < 2; time += 1) {
      const answer = await journey.checkout(id);
      expect(answer.status).toBe(302);
      expectRedirect(answer, `${service.url}/api/v1/sandbox/${id}`, toGatewayAlone);
    }
  });

  it('303: to the callback URL once it has ended, with what the callback has to have', async () => {
    const id = await journey.create({
      callback_url: 'http://127.0.0.1:9/other?kept=1',
      order_id: 'a b&status=paid#ü',
    });
    await journey.checkout(id);
    await journey.choose(id, 'cancel');
    await journey.comeBack(id);
    const answer = await journey.checkout(id);
    expect(answer.status).toBe(303);
    const url = new URL(answer.headers.get('location') ?? '');
    expect(`${url.origin}${url.pathname}`).toBe('http://127.0.0.1:9/other');
    expect([...url.searchParams]).toEqual([
      ['kept', '1'],
      ['payment_id', id],
      ['order_id', 'a b&status=paid#ü'],
      ['status', 'cancelled'],
    ]);
  });

  it("303: with its own words for what the callback URL had of the application's", async () => {
    const id = await journey.create();
    await service.sql`
      update payments set callback_url = 'http://127.0.0.1:9/return?status=paid&payment_id=x'
      where id = ${id}`;
    await journey.checkout(id);
    await journey.choose(id, 'cancel');
    const { headers } = await journey.comeBack(id);
    const { searchParams } = new URL(headers.get('location') ?? '');
    expect(searchParams.getAll('status')).toEqual(['cancelled']);
    expect(searchParams.getAll('payment_id')).toEqual([id]);
  });

  it('503: a page that tries again by itself while the payment is not opened', async () => {
    await service.worker.stop();
    const id = await journey.create();
    const began = performance.now();
    const answer = await journey.checkout(id);
    // It waits for 10 s, in which nearly every payment is opened.
    expect(performance.now() - began).toBeGreaterThan(9_000);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(answer.status).toBe(503);
    expectPage(answer);
    expect(answer.headers.get('refresh')).toBe('3');
    expect(answer.headers.get('retry-after')).toBe('3');
    await service.worker.start();
    await until('it is opened', async () => (await journey.checkout(id)).status === 302);
  });

  it('503: the same page while the gateway is away', async () => {
    const stripe = await addStripe(service);
    onTestFinished(() => stripe.stop());
    for (let time = 0; time < 20; time += 1) stripe.fail('error', /sessions$/);
    const answer = await journey.checkout(await journey.create({ gateway: 'stripe' }));
    expect(answer.status).toBe(503);
    expectPage(answer);
    expect(answer.headers.get('refresh')).toBe('3');
  });

  it('a gateway that wants POST: a form that submits itself, and has a button without JavaScript', async () => {
    const page = await toGateway({
      method: 'POST',
      url: 'http://127.0.0.1:9/pay?x="><script>',
      fields: { token: '"><script>alert(1)</script>' },
    });
    const headers = new Headers({
      // What the server adds to every answer.
      ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      ...{ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' },
      ...page.headers,
    });
    const text = String(page.body);
    expectPage({ headers, text: text.replaceAll('&quot;', '') }, toGatewayAlone);
    expect(contents(text, 'script')).toHaveLength(1);
    expect(text).toMatch(/<button[^>]*>\s*Continue/);
    expect(headers.get('content-security-policy')).toContain(
      'form-action http://127.0.0.1:9 https:;',
    );
  });

  it('200: that form, for a payment that was opened at such a gateway', async () => {
    const id = await journey.create();
    await until('it is opened', async () => (await journey.checkout(id)).status === 302);
    const redirect = { method: 'POST', url: 'http://127.0.0.1:9/pay', fields: { token: 'T1' } };
    await service.sql`
      update payments set gateway_redirect = ${service.sql.json(redirect)} where id = ${id}`;
    const answer = await journey.checkout(id);
    expect(answer.status).toBe(200);
    expectPage(answer, toGatewayAlone);
    expect(answer.text).toContain('<input type="hidden" name="token" value="T1" />');
  });
});

describe('return', () => {
  it.each(['GET', 'POST'])(
    '303: by %s, settles and goes on to the callback URL',
    async (method) => {
      const id = await journey.atGateway();
      await journey.choose(id, 'pay');
      const path = `/api/v1/payments/${id}/return?status=failed&callback_url=https://attacker.example`;
      const body = new URLSearchParams({
        status: 'failed',
        callback_url: 'https://attacker.example',
      });
      const answer = await journey.call(method, path, method === 'POST' ? { body } : {});
      expect(answer.status).toBe(303);
      expectRedirect(answer, callback(id, 'paid'));
      expectRedirect(await journey.call(method, path), callback(id, 'paid'));
    },
  );

  it('303: of a payer who was never sent to the gateway changes nothing, and the way there stays open', async () => {
    const id = await journey.create();
    expectRedirect(await journey.comeBack(id), callback(id, 'pending'));
    expect((await journey.get(id)).json['status']).toBe('pending');
    expect((await journey.checkout(id)).status).toBe(302);
    const { events } = await service.client.workflow.getHandle(id).fetchHistory();
    expect(events?.filter((one) => one.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
  });

  it('303: status=processing where no worker answers, within about 10 seconds', async () => {
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    await service.worker.stop();
    const began = performance.now();
    const answer = await journey.comeBack(id);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(answer.status).toBe(303);
    expectRedirect(answer, callback(id, 'processing'));
    await service.worker.start();
    expectRedirect(await journey.comeBack(id), callback(id, 'paid'));
  });
});

describe('the sandbox page', () => {
  it('200: shows the amount and buttons that work without JavaScript', async () => {
    const id = await journey.atGateway({ amount: 125_050 });
    const answer = await journey.call('GET', `/api/v1/sandbox/${id}`);
    expect(answer.status).toBe(200);
    expectPage(answer);
    expect(answer.text).toContain('1,250.50 EUR');
    expect(contents(answer.text, 'script')).toEqual([]);
    for (const action of ['pay', 'pay_and_close', 'cancel', 'refuse'])
      expect(answer.text).toContain(`name="action" value="${action}"`);
    expect(answer.text).toMatch(/<label>[^]*<select name="failure_code">/);
  });

  it('303: a choice leads back to the service, whatever the request says of its host', async () => {
    const id = await journey.atGateway();
    const answer = await rawRequest(`${service.url}/api/v1/sandbox/${id}`, {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        host: 'attacker.example',
        'x-forwarded-host': 'attacker.example',
      },
      body: 'action=pay&return_url=https://attacker.example',
    });
    expect(answer.status).toBe(303);
    expectRedirect(answer, `${service.url}/api/v1/payments/${id}/return`);
    const again = await journey.choose(id, 'cancel');
    expectRedirect(again, `${service.url}/api/v1/payments/${id}/return`);
    await journey.comeBack(id);
    expect((await journey.get(id)).json['status']).toBe('paid');
  });

  it('200: pages for who pays and closes, and for who comes late', async () => {
    const id = await journey.atGateway();
    for (const answer of [
      await journey.choose(id, 'pay_and_close'),
      await journey.call('GET', `/api/v1/sandbox/${id}`),
    ]) {
      expect(answer.status).toBe(200);
      expectPage(answer);
    }
  });
});

describe('a page and never raw JSON', () => {
  const paths = ['payments/:id/checkout', 'payments/:id/return', 'sandbox/:id'];

  it.each(paths)('404: %s, of a payment that does not exist', async (path) => {
    for (const id of ['PAY_01J00000000000000000000000', 'x', '%00', '%ff', "'", '<script>']) {
      const answer = await journey.call('GET', `/api/v1/${path.replace(':id', id)}`);
      expect(answer.status).toBe(404);
      expectPage(answer);
    }
  });

  it.each(paths)('405: %s, by a method it does not have', async (path) => {
    const id = await journey.create();
    for (const method of ['PUT', 'DELETE']) {
      const answer = await journey.call(method, `/api/v1/${path.replace(':id', id)}`);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toContain('GET, HEAD');
      expectPage(answer);
    }
  });

  it('413, 415, 400, 422: a form that cannot be read, or says nothing', async () => {
    const id = await journey.atGateway();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const [status, request] of [
      [413, { headers: type, body: 'a'.repeat(70_000) }],
      [415, { headers: { ...type, 'content-encoding': 'gzip' }, body: 'action=pay' }],
      [400, { headers: type, body: Buffer.from([0xff, 0xfe]) }],
      [422, { headers: type, body: 'action=steal' }],
      [422, { headers: type, body: '' }],
    ] as const) {
      const answer = await rawRequest(`${service.url}/api/v1/sandbox/${id}`, request);
      expect(answer.status).toBe(status);
      expectPage(answer);
    }
    expect((await journey.get(id)).json['status']).toBe('pending');
  });
});
