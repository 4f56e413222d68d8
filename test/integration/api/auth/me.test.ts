import { describe, expect, it } from 'vitest';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());

describe('GET /api/v1/me', () => {
  it('returns the documented fields in order, and nothing else', async () => {
    const { application, token, secret, journey } = await service.anApplication();
    const answer = await journey.request('GET', '/api/v1/me');
    expect(answer.status).toBe(200);
    expect(Object.entries(answer.json)).toEqual([
      ['application', application],
      ['status', 'active'],
      ['default_gateway', { slug: 'sandbox', kind: 'sandbox' }],
      ['callback_urls', ['http://127.0.0.1:9/return', 'http://127.0.0.1:9/other?kept=1']],
      ['webhook_url', service.receiver.url],
      ['token_mode', 'test'],
    ]);
    for (const hidden of [token, secret]) expect(answer.text).not.toContain(hidden);
  });

  it('returns current settings, also for a live token and without a webhook URL', async () => {
    const shop = { mode: 'live', webhookUrl: null } as const;
    const { application, journey } = await service.anApplication(shop);
    await service.addGateway({ slug: 'account', driver: 'zarinpal', kind: 'live' });
    await service.sql`
      update applications set default_gateway = 'account' where slug = ${application}`;
    const { json } = await journey.request('GET', '/api/v1/me');
    expect(json).toMatchObject({
      default_gateway: { slug: 'account', kind: 'live' },
      webhook_url: null,
      token_mode: 'live',
    });
  });
});
