import { expect, it } from 'vitest';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { startProviders, type ProviderName } from '../../support/service/providers.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const { journey } = await service.anApplication({ ordersPaidOnce: true });

let orders = 0;
const anOrder = () => ({ order_id: `order-${(orders += 1)}` });
type Sent = Awaited<ReturnType<typeof providers.sent>> & { name: ProviderName };
const send = async (name: ProviderName, order: { order_id: string }): Promise<Sent> => ({
  ...(await providers.sent(journey, name, order)),
  name,
});
const pay = async ({ name, reference }: Sent) => providers.of(name).pay(reference);
/** The payer comes back until the shop knows the outcome. */
const comeBack = ({ name, reference, id }: Sent, status: string) =>
  until(`${id} is ${status}`, async () => {
    const { headers } = await providers.comeBack(journey, name, reference);
    return headers.get('location')?.includes(`status=${status}`);
  });
const verified = ({ name, reference }: Sent) => providers.entry(name, reference).verified;
const isPaid = (id: string) =>
  until('it is paid', async () => (await journey.verify(id)).json['status'] === 'paid');
const eventsOf = (id: string) =>
  until('the webhook', () => {
    const posts = service.receiver.of(id);
    return posts.length > 0 && posts.map(({ json }) => [json['event'], json['failure_code']]);
  });
const lateOf = async ({ id }: Sent) => {
  await service.client.workflow.getHandle(`LATE_${id}`).result();
  const [row] = await service.sql`select result from late_payments where payment_id = ${id}`;
  return row?.['result'];
};
const lost = [['payment.failed', 'order_already_paid']];

it('two tabs, both paid at a two-step gateway: one is verified, the other goes home', async () => {
  const order = anOrder();
  const one = await send('zarinpal', order);
  const other = await send('zibal', order);
  await Promise.all([pay(one), pay(other)]);
  await comeBack(one, 'paid');
  // The winner has called it off, before its payer is back.
  expect(await eventsOf(other.id)).toEqual(lost);
  await comeBack(other, 'failed');
  expect([verified(one), verified(other)]).toEqual([1, 0]);
  expect(await lateOf(other)).toBe('returns');
  expect((await journey.get(other.id)).json).toMatchObject({
    status: 'failed',
    failure_code: 'order_already_paid',
  });
});

it('a create of a paid order is refused, the repeat of a stored one is not', async () => {
  const order = anOrder();
  const body = { ...order, amount: 1250, currency: 'EUR' };
  const key = { 'idempotency-key': `the first of ${order.order_id}` };
  const first = await journey.request('POST', '/api/v1/payments', body, key);
  const id = String(first.json['payment_id']);
  await until('it is sent', async () => (await journey.checkout(id)).status === 302);
  const open = await journey.create(order);
  await journey.choose(id, 'pay');
  await isPaid(id);

  const again = await journey.request('POST', '/api/v1/payments', body, key);
  expect([again.status, again.text]).toEqual([201, first.text]);
  for (const headers of [{}, { 'idempotency-key': `another of ${order.order_id}` }]) {
    const { status, json } = await journey.request('POST', '/api/v1/payments', body, headers);
    expect(status).toBe(409);
    expect(json).toMatchObject({
      error: { code: 'ORDER_ALREADY_PAID', details: { payment_id: id } },
    });
  }
  // Nobody was sent with the other one, and it ends without its gateway.
  expect(await eventsOf(open)).toEqual(lost);
});

it('Stripe has the money of both at once: the second is given back, and no person is needed', async () => {
  const order = anOrder();
  const one = await send('stripe', order);
  const other = await send('stripe', order);
  await Promise.all([pay(one), pay(other)]);
  await comeBack(one, 'paid');
  expect(await eventsOf(other.id)).toEqual(lost);
  expect(await lateOf(other)).toBe('reversed');
  expect(providers.entry('stripe', one.reference).reversed).toBe(0);
  expect(providers.entry('stripe', other.reference).reversed).toBe(1);
});

it('a silent gateway holds the order, until an admin takes it away', async () => {
  const order = anOrder();
  const one = await send('zarinpal', order);
  const other = await send('zibal', order);
  await Promise.all([pay(one), pay(other)]);
  providers.of('zarinpal').fail('cut', /verify/);
  expect((await journey.verify(one.id)).status).toBeOneOf([502, 503]);
  await comeBack(other, 'processing');
  const { payments } = operationsOn(service.sql);
  expect((await payments.get(other.id)).others).toMatchObject([
    { id: one.id, status: 'pending', orderClaimedAt: expect.any(Date) },
  ]);
  await expect(payments.releaseOrder(one.id, 'silent')).rejects.toThrow('two minutes');
  await expect(payments.releaseOrder(other.id, 'silent')).rejects.toThrow('does not hold');
  await service.sql`
    update payments set order_claimed_at = now() - interval '3 minutes' where id = ${one.id}`;
  await payments.releaseOrder(one.id, 'silent');
  await comeBack(other, 'paid');
  await expect(payments.releaseOrder(other.id, 'paid')).rejects.toThrow('give all of it back');
  expect(await eventsOf(one.id)).toEqual(lost);
});

it('an order that was given back can be paid again', async () => {
  const order = anOrder();
  const payOnce = async () => {
    const id = await journey.atGateway(order);
    await journey.choose(id, 'pay');
    await isPaid(id);
    return id;
  };
  const first = await payOnce();
  const { json } = await refund(journey, first);
  await refundBecomes(journey, String(json['refund_id']), 'succeeded');
  const second = await payOnce();
  const again = await journey.request('POST', '/api/v1/payments', {
    ...order,
    amount: 1250,
    currency: 'EUR',
  });
  expect(again.json).toMatchObject({ error: { details: { payment_id: second } } });
});

it('50 payments of an order are paid at once while the worker dies: one is verified', async () => {
  const order = anOrder();
  const sent: Sent[] = [];
  for (let nth = 0; nth < 25; nth += 1)
    sent.push(await send('zarinpal', order), await send('zibal', order));
  await Promise.all(sent.map(pay));
  const back = Promise.all(
    sent.map((each) => providers.comeBack(journey, each.name, each.reference)),
  );
  await service.worker.kill();
  await service.worker.start();
  await back;
  const statuses = await until(
    'all have ended',
    async () => {
      const rows = await service.sql<{ status: string }[]>`
      select status from payments where order_id = ${order.order_id}`;
      if (rows.some(({ status }) => status === 'pending' || status === 'processing')) {
        // A payer who waits loads the page again.
        await Promise.all(
          sent.map(({ name, reference }) => providers.comeBack(journey, name, reference)),
        );
        return false;
      }
      return rows.map(({ status }) => status).toSorted();
    },
    240_000,
  );
  expect(statuses).toEqual([...Array.from({ length: 49 }, () => 'failed'), 'paid']);
  const taken = sent.map(verified).filter((count) => count > 0);
  expect(taken).toEqual([1]);
});
