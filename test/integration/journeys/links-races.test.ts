import { expect, it } from 'vitest';
import { dayMs } from '../../../contract/time.ts';
import { createApplications } from '../../../postgres/applications/applications.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { manyPayments, writePayments } from '../../support/data/payments.ts';
import { forFile } from '../../support/for-file.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { answered } from '../../support/service/journey.ts';
import { aLink, finishTry } from '../../support/service/links.ts';
import { startProviders, type ProviderName } from '../../support/service/providers.ts';
import { refund, refundBecomes } from '../../support/service/refunds.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const { sql, client } = service;
const byApi = { by: 'payments-api' };
const byWorker = { by: 'payments-worker' };
const rials = { amount: 150_000, currency: 'IRR' };

/** An application whose payments begin with these gateways, in this order. */
const anApplicationAt = async (...[defaultGateway, ...fallbackGateways]: ProviderName[]) => {
  const own = await service.anApplication();
  const applications = createApplications(sql);
  const settings = (await applications.get(own.application))!;
  await applications.update(own.application, {
    ...settings,
    ...(defaultGateway && { defaultGateway }),
    fallbackGateways,
  });
  return own;
};

const referenceAt = (name: ProviderName, id: string) =>
  until(`${name} knows it`, () => {
    const [reference] =
      [...providers.of(name).book].find(([, each]) => each.paymentId === id) ?? [];
    return reference;
  });

it('two browsers: who pays late, after another try was paid, gets the money back', async () => {
  const { journey } = await anApplicationAt('zarinpal');
  const link = await aLink(service, journey, rials);
  const late = (await link.begin()) ?? '';
  await answered(() => journey.checkout(late));
  const lateReference = await referenceAt('zarinpal', late);
  await skipAllTime(client, late);
  await until('the first try has expired', async () =>
    ['expired', 'cancelled'].includes(String((await journey.get(late)).json['status'])),
  );
  expect((await link.open()).text).toContain('Pay now');

  const second = (await link.begin()) ?? '';
  expect(second).not.toBe(late);
  await answered(() => journey.checkout(second));
  const reference = await referenceAt('zarinpal', second);
  await providers.of('zarinpal').pay(reference);
  await providers.of('zarinpal').pay(lateReference);
  await providers.comeBack(journey, 'zarinpal', lateReference);
  await until('it is verified', async () => {
    const back = await providers.comeBack(journey, 'zarinpal', reference);
    return back.headers.get('location')?.includes('status=paid');
  });
  expect(await link.becomes('paid')).toMatchObject({ payment_id: second });
  await providers.comeBack(journey, 'zarinpal', lateReference);
  await skipAllTime(client, `LATE_${late}`).catch(() => {});
  await client.workflow.getHandle(`LATE_${late}`).result();
  const [found] = await sql`select result from late_payments where payment_id = ${late}`;
  expect(found).toEqual({ result: 'returns' });
  expect(providers.entry('zarinpal', lateReference)).toMatchObject({ verified: 0 });
  expect(await link.read()).toMatchObject({ status: 'paid', payment_id: second });
  expect(await link.events()).toEqual(['link.paid']);
});

it.each([
  ['is disabled', { status: 'disabled', disabled_at: new Date() }],
  // By a sweep that began when its time was over, a moment after the form came.
  ['expires', { status: 'expired' }],
])('a link that %s while the form waits for it begins nothing', async (_, change) => {
  const { journey } = await service.anApplication();
  const link = await aLink(service, journey);
  const ending = await holdLock(
    sql,
    (tx) => tx`update links set ${tx(change)} where id = ${link.id}`,
  );
  const pressed = link.begin();
  await ending.blocked('the form', byApi);
  await ending.commit();
  expect(await pressed).toBeUndefined();
  expect(await link.tries()).toEqual([]);
});

it('a link whose application was disabled shows that nobody can pay, and begins nothing', async () => {
  const { journey, application } = await service.anApplication();
  const link = await aLink(service, journey);
  const setStatus = (status: string) =>
    sql`update applications set status = ${status} where slug = ${application}`;
  await setStatus('disabled');
  expect((await link.open()).text).toContain('Nobody can pay with this link any more');
  expect(await link.begin()).toBeUndefined();
  expect(await link.tries()).toEqual([]);
  await setStatus('active');
  expect(await link.begin()).toBeDefined();
});

it('a link whose first gateway is down is paid at the next one', async () => {
  const { journey } = await anApplicationAt('payping', 'zibal');
  const link = await aLink(service, journey, rials);
  providers.of('payping').failAll(/pay/, 'error');
  const id = (await link.begin()) ?? '';
  const { headers } = await answered(() => journey.checkout(id));
  expect(headers.get('location')).toContain(await referenceAt('zibal', id));
  providers.of('payping').failAll(/pay/, undefined);
});

it('where no gateway opens a try, the payer comes back to the page and may try again', async () => {
  const { journey } = await anApplicationAt('zibal');
  const link = await aLink(service, journey, rials);
  const refusal = { status: 200, body: { result: 104, message: 'disabled' } };
  providers.of('zibal').failAll(/request/, refusal);
  const id = (await link.begin()) ?? '';
  const sent = await answered(() => journey.checkout(id));
  expect(sent.headers.get('location')).toMatch(
    new RegExp(`${link.path}\\?payment_id=${id}&.*status=failed`),
  );
  const { text } = await link.open();
  expect(text).toContain('Pay now');
  providers.of('zibal').failAll(/request/, undefined);
  const second = (await link.begin()) ?? '';
  expect((await answered(() => journey.checkout(second))).status).toBe(302);
});

it('where the gateway is switched off, the page says that it does not work now, and begins nothing', async () => {
  const { journey } = await anApplicationAt('stripe');
  const link = await aLink(service, journey);
  await sql`update gateways set enabled = false where slug = 'stripe'`;
  const { status, text } = await journey.call('POST', link.path);
  await sql`update gateways set enabled = true where slug = 'stripe'`;
  expect(status, text).toBe(503);
  expect(await link.tries()).toEqual([]);
});

it('a link that was given back stays paid, and another one of its order can be paid', async () => {
  const { journey } = await service.anApplication();
  const link = await aLink(service, journey);
  const id = (await link.begin()) ?? '';
  await finishTry(journey, id, 'pay');
  await link.becomes('paid');
  const order = { order_id: link.json['order_id'] };
  const again = await aLink(service, journey, order);
  expect((await again.open()).text).toContain('This is paid');
  expect(await again.begin()).toBeUndefined();

  const { json } = await refund(journey, id);
  await refundBecomes(journey, String(json['refund_id']), 'succeeded');
  expect((await link.open()).text).toContain('This is paid');
  expect(await link.begin()).toBeUndefined();
  await finishTry(journey, (await again.begin()) ?? '', 'pay');
  await again.becomes('paid');
});

it('a worker that is killed between the end of a payment and that of its link leaves it to the sweeper', async () => {
  const { journey } = await service.anApplication();
  const link = await aLink(service, journey);
  const id = (await link.begin()) ?? '';
  await answered(() => journey.checkout(id));
  await journey.choose(id, 'pay');
  const row = await holdLock(sql, (tx) => tx`select from links where id = ${link.id} for update`);
  const back = journey.comeBack(id).catch(() => {});
  await row.blocked('the end of the link', byWorker);
  expect((await journey.get(id)).json['status']).toBe('paid');
  await service.worker.kill();
  await row.release();
  expect(await link.read()).toMatchObject({ status: 'open' });
  expect((await link.open()).text).toContain('This is paid');
  expect(await link.begin()).toBeUndefined();
  await service.worker.start();
  await sweepNow(client);
  await back;
  expect(await link.becomes('paid')).toMatchObject({ payment_id: id });
  expect(await link.events()).toEqual(['link.paid']);
});

it('after a hundred tries nobody can begin another one', async () => {
  const { journey, application } = await service.anApplication();
  const link = await aLink(service, journey);
  const ofLink = { application, orderId: String(link.json['order_id']), linkId: link.id };
  await writePayments(
    sql,
    manyPayments(100, () => ({ ...ofLink, status: 'failed' as const })),
  );
  expect((await link.open()).text).not.toContain('Pay now');
  expect(await link.begin()).toBeUndefined();
  expect(await link.tries()).toHaveLength(100);
});

it('previews of messengers and scanners of mails begin nothing', async () => {
  const { journey } = await service.anApplication();
  const link = await aLink(service, journey);
  const agents = [
    'WhatsApp/2.23.20.0',
    'TelegramBot (like TwitterBot)',
    'facebookexternalhit/1.1',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Discordbot/2.0)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) SafeLinks',
    '',
  ];
  for (const agent of agents)
    for (const method of ['GET', 'HEAD'])
      expect(
        (await journey.call(method, link.path, { headers: { 'user-agent': agent } })).status,
      ).toBe(200);
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    expect((await journey.call(method, link.path)).status).toBe(405);
  expect(await link.tries()).toEqual([]);
});

it('as many payers as there are connections begin to pay as many links at once', async () => {
  const { journey } = await anApplicationAt('zarinpal', 'zibal');
  const links = await Promise.all(Array.from({ length: 60 }, () => aLink(service, journey, rials)));
  const begun = await Promise.all(links.map((link) => link.begin()));
  expect(new Set(begun).size).toBe(60);
  expect(begun).not.toContain(undefined);
});

it('a purge deletes what a link has paid, then the link, and one that nobody has tried to pay', async () => {
  const { journey } = await service.anApplication();
  const paid = await aLink(service, journey);
  await finishTry(journey, (await paid.begin()) ?? '', 'pay');
  await paid.becomes('paid');
  const untried = await aLink(service, journey);
  await sql`update links set expires_at = now() where id in ${sql([paid.id, untried.id])}`;
  await sweepNow(client);
  await untried.becomes('expired');
  await until('all is delivered', async () => {
    const pending = await sql`
      select from deliveries where status = 'pending' and order_id in ${sql(
        [paid, untried].map(({ json }) => String(json['order_id'])),
      )}`;
    return pending.length === 0;
  });
  const purge = (days: number) =>
    operationsOn(sql, {
      retention: { attemptBodyDays: 90, paymentDays: 400 },
      now: () => new Date(Date.now() + days * dayMs),
    }).purge(1_000_000, null);
  await purge(399);
  expect((await paid.open()).status).toBe(200);
  await purge(401);
  for (const link of [paid, untried]) {
    expect((await link.open()).status).toBe(404);
    expect(await link.events()).toEqual([]);
  }
});
