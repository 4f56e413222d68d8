import { describe, expect, it } from 'vitest';
import { languages } from '../../../../contract/languages.ts';
import { elementTexts, expectPage, expectRedirect } from '../../../support/service/payer-page.ts';
import { rawRequest } from '../../../support/servers/raw-http.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());
const { journey } = await service.anApplication();

describe('the sandbox page', () => {
  it('shows the amount, and buttons that work without JavaScript', async () => {
    const id = await journey.atGateway({ amount: 125_050 });
    const answer = await journey.call('GET', `/api/v1/sandbox/${id}`);
    expect(answer.status).toBe(200);
    expectPage(answer);
    expect(answer.text).toContain('1,250.50 EUR');
    expect(elementTexts(answer.text, 'script')).toEqual([]);
    for (const action of ['pay', 'pay_and_close', 'cancel', 'refuse'])
      expect(answer.text).toContain(`name="action" value="${action}"`);
    expect(answer.text).toMatch(/<label>[^]*<select name="failure_code">/);
  });

  it('shows what a gateway would get of the payer, until the payment ends', async () => {
    const payer = { mobile: '09121234567', email: 'ada@shop.example', name: '<Ada> & علی' };
    const id = await journey.atGateway({ payer: { ...payer, locale: 'fa-IR' } });
    const { text } = await journey.call('GET', `/api/v1/sandbox/${id}`);
    for (const shown of [payer.mobile, payer.email, '&lt;Ada&gt; &amp; علی', 'fa-IR'])
      expect(elementTexts(text, 'bdi')).toContain(shown);
    const kept = () =>
      service.sql`select from sandbox_payments where payment_id = ${id} and payer is not null`;
    expect(await kept()).toHaveLength(1);
    await journey.choose(id, 'cancel');
    await journey.comeBack(id);
    expect((await journey.get(id)).json['status']).toBe('cancelled');
    expect(await kept()).toEqual([]);
  });

  it('redirects a choice to the service, ignoring the Host header and the form', async () => {
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

  it('answers a form that it cannot use with a page and 413, 415, 400 or 422', async () => {
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

describe("a payer's path", () => {
  it.each([
    ['GET', 'payments/:id/checkout'],
    ['GET', 'payments/:id/return'],
    ['POST', 'payments/:id/return'],
    ['GET', 'payments/:id/outcome'],
    ['GET', 'sandbox/:id'],
    ['POST', 'sandbox/:id'],
  ])('answers 404 with a page for an unknown payment: %s %s', async (method, path) => {
    const form = method === 'POST' ? { body: new URLSearchParams({ action: 'pay' }) } : {};
    for (const id of ['PAY_01J00000000000000000000000', 'x', '%00', '%ff', "'", '<script>']) {
      const answer = await journey.call(method, `/api/v1/${path.replace(':id', id)}`, form);
      expect(answer.status).toBe(404);
      expectPage(answer);
    }
  });

  it('says whom the payer pays and for what, in the language of the application', async () => {
    const shop = await service.anApplication();
    const id = await shop.journey.atGateway({ description: 'دو بلیت' });
    const pageOf = async () => (await shop.journey.call('GET', `/api/v1/sandbox/${id}`)).text;
    expect(await pageOf()).toContain(`Payment to <bdi>${shop.application}</bdi>`);
    await service.sql`
      update applications set display_name = 'کتاب‌خانه', locale = 'fa' where slug = ${shop.application}`;
    const text = await pageOf();
    expect(text).toContain('پرداخت به <bdi>کتاب‌خانه</bdi>');
    expect(text).toContain('دو بلیت');
    const english = { headers: { 'accept-language': 'en' } };
    const answer = await shop.journey.call('GET', `/api/v1/sandbox/${id}`, english);
    expect(answer.text).toContain('Payment to <bdi>کتاب‌خانه</bdi>');
    const left = await shop.journey.choose(id, 'pay_and_close');
    expect(left.headers.get('content-language')).toBe('fa');
  });

  it.each(languages)(
    'answers with pages in %s, errors too, and English to others',
    async (language) => {
      const id = await journey.atGateway();
      const headers = { 'accept-language': `${language}-XX,xx;q=0.9` };
      const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
      const sandbox = `/api/v1/sandbox/${id}`;
      const unknown = '/api/v1/payments/PAY_01J00000000000000000000000/checkout';
      for (const answer of [
        await journey.call('GET', sandbox, { headers }),
        await journey.call('GET', `${sandbox}?lang=${language}`, {
          headers: { 'accept-language': 'xx' },
        }),
        await journey.call('GET', unknown, { headers }),
        await journey.call('PUT', unknown, { headers }),
        await journey.call('GET', unknown, { headers: { ...headers, purpose: 'prefetch' } }),
        await journey.call('POST', sandbox, { headers: form, body: '' }),
        await journey.call('POST', sandbox, { headers: form, body: 'a'.repeat(70_000) }),
        await journey.call('POST', sandbox, { headers: form, body: 'action=pay_and_close' }),
        await journey.call('GET', sandbox, { headers }),
      ]) {
        expectPage(answer);
        expect(answer.headers.get('content-language')).toBe(language);
      }
      const other = await journey.call('GET', sandbox, { headers: { 'accept-language': '*' } });
      expect(other.headers.get('content-language')).toBe('en');
    },
  );
});
