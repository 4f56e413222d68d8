import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJourney } from '../../../support/journey.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe('metadata', () => {
  it.each([
    '{"10":1,"9":2,"b":3,"a":4}',
    '{"x":1.0,"y":1e2,"z":1E+2,"n":-0,"big":12345678901234567890,"f":0.1000}',
    '{"__proto__":{"a":1},"constructor":null,"toString":[]}',
    '{ "spaced" : [ 1 ,\t2 ] }',
    '{"escaped":"\\u00e9\\/\\n","plain":"é/","emoji":"😀","joined":"\\ud83d\\ude00"}',
    '{"":{"":""}}',
    '{}',
  ])(
    'FS-53: %s is kept as it was sent: in answers, in replays and in the webhook',
    async (metadata) => {
      const { token } = await service.anApplication();
      const journey = createJourney(service, token);
      const body = `{"metadata":${metadata},"order_id":"o","amount":5,"currency":"EUR"}`;
      const created = await journey.request('POST', '/api/v1/payments', body, {
        'idempotency-key': 'k',
      });
      expect(created.text).toContain(`"metadata":${metadata},"expires_at":`);
      const again = await journey.request('POST', '/api/v1/payments', body, {
        'idempotency-key': 'k',
      });
      expect(again.text).toBe(created.text);

      const id = String(created.json['payment_id']);
      await journey.checkout(id);
      await journey.choose(id, 'pay');
      await journey.comeBack(id);
      expect((await journey.get(id)).text).toContain(`"metadata":${metadata},"expires_at":`);
      expect((await journey.verify(id)).text).toContain(`"metadata":${metadata},"expires_at":`);
      const webhook = await until('the webhook arrives', () => service.receiver.of(id)[0]);
      expect(webhook.body.toString()).toMatch(/"status":"paid"/);
      expect(webhook.body.toString().endsWith(`"metadata":${metadata}}`)).toBe(true);
    },
  );

  it('is an empty object where none was sent', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    expect((await journey.get(await journey.create())).text).toContain('"metadata":{},');
  });
});
