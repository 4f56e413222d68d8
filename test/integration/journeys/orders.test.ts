import { expect, it, onTestFinished } from 'vitest';
import { findDriver } from '../../../gateways/registry.ts';
import { accountDayWorkflowId } from '../../../temporal/messages.ts';
import { startMollie } from '../../fakes/mollie.ts';
import { entryIn } from '../../fakes/server.ts';
import { startStripe } from '../../fakes/stripe.ts';
import { runLine } from '../../support/service/admin-line.ts';
import { operationsOf, operationsOn } from '../../support/service/admin-operations.ts';
import {
  providerNames,
  startProviders,
  type ProviderName,
} from '../../support/service/providers.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const { journey } = await service.anApplication({ ordersPaidOnce: true });

const isTwoStep = (name: ProviderName) => findDriver(name)?.capabilities.twoStepVerify;
/** Live, because nobody is called about a test. */
const oneStep = {
  stripe: { start: startStripe, credentials: { secretKey: 'sk_live_0123456789abcdef' } },
  mollie: {
    start: startMollie,
    credentials: { apiKey: 'live_0123456789abcdef', accessToken: 'access_0123456789abcdef' },
  },
} as const;

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

it.each([
  ['before it has taken the money, which goes home', 'cut', 'returns'],
  ['after it has taken the money, which is given back', 'lost', 'reversed'],
] as const)(
  'a gateway that falls silent holds the order until an admin takes it away: %s',
  async (_, fault, goesTo) => {
    const order = anOrder();
    const one = await send('zarinpal', order);
    const other = await send('zibal', order);
    await Promise.all([pay(one), pay(other)]);
    providers.of('zarinpal').fail(fault, /verify/);
    expect((await journey.verify(one.id)).status).toBeOneOf([502, 503]);
    await comeBack(other, 'processing');
    // As the runbook says.
    const admin = (...line: string[]) => runLine(() => operationsOn(service.sql), line);
    const shown = await admin('payments', 'show', other.id);
    expect(shown.out).toMatch(
      new RegExp(`SINCE\\n${one.id} +pending +150,000 IRR(?: +\\S+\\+00:00){2}`),
    );
    const release = ({ id }: Sent) =>
      admin('payments', 'release-order', id, '--reason', 'its gateway is down');
    expect((await release(one)).notes).toContain('two minutes');
    expect((await release(other)).notes).toContain('does not hold');
    await service.sql`
      update payments set order_claimed_at = now() - interval '3 minutes' where id = ${one.id}`;
    expect(await release(one)).toMatchObject({ code: 0 });
    await comeBack(other, 'paid');
    expect((await release(other)).notes).toContain('refunds and lost chargebacks');
    expect(await eventsOf(one.id)).toEqual(lost);
    expect(await lateOf(one)).toBe(goesTo);
  },
);

/** Its payers come back, and load the page again, until all payments of the order have ended. */
const allEnd = (order: { order_id: string }, back: () => Promise<unknown>) =>
  until('all payments of the order have ended', async () => {
    await back();
    const rows = await service.sql<{ status: string; code: string | null }[]>`
        select status, failure_code as code from payments where order_id = ${order.order_id}`;
    const isOpen = rows.some(({ status }) => status === 'pending' || status === 'processing');
    return !isOpen && rows.map(({ status, code }) => code ?? status).toSorted();
  });
const tried = 20;
const oneOfAll = [...Array.from({ length: tried - 1 }, () => 'order_already_paid'), 'paid'];
/** The ends of the money of the order's late payments, once all of it is there. */
const lateResults = (order: { order_id: string }) =>
  until('the money of the others goes home', async () => {
    const rows = await service.sql<{ result: string | null }[]>`
        select l.result from late_payments l join payments p on p.id = l.payment_id
        where p.order_id = ${order.order_id}`;
    return rows.length === tried - 1 && rows.every(({ result }) => result) && rows;
  });
const movementsOf = async (order: { order_id: string }) => {
  const rows = await service.sql<{ kind: string; count: number }[]>`
    select kind, count(*)::int from movements where order_id = ${order.order_id} group by kind`;
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
};
/** Compares today's movements with the gateways' own books. */
const differencesAt = async (...gateways: string[]) => {
  const { accounts } = operationsOf(service);
  const days = await service.sql<{ gateway: string; day: string }[]>`
    select distinct gateway, day::text from movements where gateway = any(${gateways})`;
  for (const { gateway, day } of days) {
    await accounts.compare({ gateway, day });
    await service.client.workflow.getHandle(accountDayWorkflowId({ gateway, day })).result();
  }
  return service.sql`
    select kind, subject from account_differences where gateway = any(${gateways}) and state = 'open'`;
};

it('20 payments of an order are paid at once while two workers die: one is verified', async () => {
  const order = anOrder();
  const other = await service.anotherWorker();
  const sent: Sent[] = [];
  const twoStep = providerNames.filter(isTwoStep);
  for (let nth = 0; nth < tried; nth += 1)
    sent.push(await send(twoStep[nth % twoStep.length]!, order));
  await Promise.all(sent.map(pay));
  const back = () =>
    Promise.all(sent.map(({ name, reference }) => providers.comeBack(journey, name, reference)));
  const first = back();
  for (const worker of [service.worker, other]) {
    await worker.kill();
    await worker.start();
  }
  await first;
  expect(await allEnd(order, back)).toEqual(oneOfAll);
  expect(sent.map(verified).filter((count) => count > 0)).toEqual([1]);
  const results = await lateResults(order);
  expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['returns']));
  // Money that nobody has verified is in no book.
  expect(await movementsOf(order)).toEqual({ payment: 1 });
  expect(await differencesAt(...twoStep)).toEqual([]);
});

it('knows every provider that takes money in one step', () => {
  expect(Object.keys(oneStep)).toEqual(providerNames.filter((name) => !isTwoStep(name)));
});

it.each(Object.entries(oneStep))(
  '20 payments of an order are paid at once at %s: 19 are given back, and nobody is called',
  async (driver, { start, credentials }) => {
    const provider = await start({ mode: 'live' });
    onTestFinished(() => provider.stop());
    const slug = `${driver}-live`;
    const whole = { ...credentials, baseUrl: provider.url };
    await service.addGateway({ slug, driver, kind: 'live', credentials: whole });
    const order = anOrder();
    const shop = await service.anApplication({ mode: 'live', ordersPaidOnce: true });
    for (let nth = 0; nth < tried; nth += 1) {
      const id = await shop.journey.create({ ...order, gateway: slug });
      expect((await shop.journey.checkout(id)).status).toBe(302);
    }
    const references = [...provider.book.keys()];
    references.forEach(provider.pay);
    const back = () =>
      Promise.all(references.map((each) => shop.journey.call('GET', provider.back(each).url)));
    expect(await allEnd(order, back)).toEqual(oneOfAll);
    const results = await lateResults(order);
    expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['reversed']));
    const reversals = references.map((each) => entryIn(provider.book, each).reversed);
    expect(reversals.filter((count) => count === 1)).toHaveLength(tried - 1);
    expect(provider.refunds).toHaveLength(tried - 1);
    expect(await movementsOf(order)).toEqual({
      payment: 1,
      late_payment: tried - 1,
      late_reversal: tried - 1,
    });
    expect(await differencesAt(slug)).toEqual([]);
    const lines = service.workers.flatMap((worker) => worker.lines);
    expect(lines.filter((line) => line.includes('"alert"'))).toEqual([]);
  },
);
