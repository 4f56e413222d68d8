import { describe, expect, it } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
import { rawRequest, type RawRequest } from '../../../support/servers/raw-http.ts';
import { expectPage, expectRedirect } from '../../../support/service/payer-page.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
const { journey } = await service.anApplication();

const callback = (id: string, status: string) =>
  `http://127.0.0.1:9/return?payment_id=${id}&order_id=order-1&status=${status}`;

describe('a return from the gateway', () => {
  it.each(['GET', 'POST'])(
    'by %s verifies and redirects to the callback URL, whatever its parameters say',
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

  it.each(['GET', 'POST'])(
    'by %s shows a browser a page while the gateway is asked',
    async (method) => {
      const id = await journey.atGateway();
      const headers = { accept: 'text/html' };
      const path = `/api/v1/payments/${id}/return?waits_until=${Date.now() + 9_000}`;
      const answer = await journey.call(method, path, { headers });
      expect(answer.status).toBe(202);
      expectPage(answer);
      expect(answer.headers.get('refresh')).toBe('1');
    },
  );

  const isForm = { 'content-type': 'application/x-www-form-urlencoded' };
  it.each<[string, RawRequest]>([
    ['of 2,000 fields', { headers: isForm, body: 'a=1&'.repeat(2_000) }],
    ['of 1 MB', { headers: isForm, body: `a=${'x'.repeat(1_000_000)}` }],
    ['of bytes that are no UTF-8', { headers: isForm, body: Buffer.from('a=\xff\xfe', 'latin1') }],
    ['of an escape that is no UTF-8', { headers: isForm, body: 'a=%ff&status=%E0%A4%A' }],
    ['that is compressed', { headers: { ...isForm, 'content-encoding': 'gzip' }, body: 'a' }],
    ['of JSON', { headers: { 'content-type': 'application/json' }, body: '{"a":' }],
    [
      'of several parts',
      { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x\r\n' },
    ],
    ['of no type', { body: 'status=1' }],
    [
      'of another site',
      { headers: { ...isForm, origin: 'https://bank.example', 'sec-fetch-site': 'cross-site' } },
    ],
  ])('by a POST %s continues', async (_, request) => {
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    const answer = await rawRequest(`${service.url}/api/v1/payments/${id}/return`, request);
    expect(answer.status).toBe(303);
    expectRedirect(answer, callback(id, 'paid'));
  });
});
