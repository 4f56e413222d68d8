import { describe, expect, it } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
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
});
