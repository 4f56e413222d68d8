import { beforeEach, describe, expect, it } from 'vitest';
import { createJourney } from '../../support/service/journey.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { useService } from '../../support/service/service.ts';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { skipAllTime, skipTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const operations = operationsOn(service.sql, {
  webhookKeyRing: service.webhookKeyRing,
  temporal: async () => createTemporalAdmin(service.client),
});
beforeEach(() => service.receiver.behave(() => 204));

const deliveryOf = async (id: string) => {
  const [row] = await service.sql<{ status: string }[]>`
    select status from deliveries where payment_id = ${id}`;
  return row?.status;
};

it('an application without a webhook URL has payments without a delivery, also after a URL is added', async () => {
  const { application, journey } = await service.anApplication({ webhookUrl: null });
  const before = await journey.finish('pay');
  await service.client.workflow.getHandle(before).result();
  expect(await deliveryOf(before)).toBe('none');

  const webhookUrl = service.receiver.url;
  await operations.applications.update(application, { webhookUrl }, null);
  const after = await journey.finish('pay');
  await until('the webhook', () => service.receiver.of(after)[0]);
  await service.client.workflow.getHandle(after).result();
  expect(await deliveryOf(after)).toBe('delivered');
  await sweepNow(service.client);
  expect(await deliveryOf(before)).toBe('none');
  expect(service.receiver.of(before)).toEqual([]);
});

it('a webhook URL that is removed during a delivery makes the next attempt fail as no_url, and a URL that is added is used by the one after', async () => {
  const { application, token } = await service.anApplication();
  service.receiver.behave((nth) => (nth === 1 ? 500 : 204));
  const journey = createJourney(service, token);
  const id = await journey.finish('pay');
  await until('the first attempt', () => service.receiver.of(id)[0]);
  const { webhookUrl } = await operations.applications.get(application);
  await operations.applications.update(application, { webhookUrl: null }, null);
  // The second attempt follows after a minute, the third 5 minutes later.
  await skipTime(service.client, id, '2m');
  await until('an attempt without a URL', async () => {
    const { payment } = await operations.payments.get(id);
    return payment.attempts.some(({ errorClass }) => errorClass === 'no_url');
  });
  await operations.applications.update(application, { webhookUrl }, null);
  await skipAllTime(service.client, id);
  await service.client.workflow.getHandle(id).result();
  const { payment } = await operations.payments.get(id);
  expect(payment.delivery).toBe('delivered');
  expect(payment.attempts).toMatchObject([
    { number: 1, errorClass: 'http_status', responseStatus: 500 },
    { number: 2, errorClass: 'no_url', responseStatus: null },
    { number: 3, errorClass: null, responseStatus: 204 },
  ]);
  const sent = service.receiver.of(id).map(({ headers }) => headers['x-service-delivery-attempt']);
  expect(sent).toEqual(['1', '3']);
});

it('a disabled application is refused at the API, and its outcomes are still delivered', async () => {
  const { application, journey } = await service.anApplication();
  const id = await journey.atGateway();
  await operations.applications.setStatus(application, 'disabled', 'unpaid');
  expect((await journey.get(id)).status).toBe(403);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  const post = await until('the webhook', () => service.receiver.of(id)[0]);
  expect(post.json['status']).toBe('paid');
});

describe('npm run admin -- webhook test', () => {
  it('reports why the sample cannot be sent or is not accepted', async () => {
    const { application } = await service.anApplication({ webhookUrl: null });
    await expect(operations.testWebhook(application, null)).rejects.toThrow('has no webhook URL');
    await expect(operations.testWebhook('nobody', null)).rejects.toThrow('There is no application');
    const other = await service.anApplication({ webhookUrl: 'http://127.0.0.1:9/' });
    expect(await operations.testWebhook(other.application, null)).toMatchObject({
      errorClass: 'connect',
    });
  });
});
