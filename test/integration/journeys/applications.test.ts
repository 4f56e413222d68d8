import { beforeEach, expect, it } from 'vitest';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { useService } from '../../support/service/service.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
const operations = operationsOf(service);
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
