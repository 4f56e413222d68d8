import { eventId } from '../../../contract/ids.ts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { holdLock } from '../../support/data/hold-lock.ts';
import type { Journey } from '../../support/service/journey.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { sweepNow } from '../../support/service/sweep-now.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService({ ownTemporal: true }));
beforeEach(() => service.receiver.behave(() => 204));

const aJourney = async () => (await service.anApplication()).journey;
const byWorker = { by: 'payments-worker' };

const ledgerOf = (id: string) => service.sql<
  { number: number; scheduled_at: Date; duration_ms: number | null; completed: boolean }[]
>`
  select number, scheduled_at, duration_ms, completed_at is not null as completed
  from attempts where event_id = ${eventId(id)} order by number`;

/** From the end of the first attempt to the second and last one, by Temporal's clock. */
const secondsBetween = async (id: string) => {
  const [first, second, ...more] = await ledgerOf(id);
  expect(more).toEqual([]);
  const ended = first!.scheduled_at.getTime() + (first!.duration_ms ?? 0);
  return (second!.scheduled_at.getTime() - ended) / 1000;
};

/** Waits for the event, and expects that the payment ended once. */
const expectOneEvent = async (id: string, status: string) => {
  await until('the webhook', () => service.receiver.of(id)[0]);
  await service.client.workflow.getHandle(id).result();
  const posts = service.receiver.of(id);
  expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
  expect(posts[0]?.json['status']).toBe(status);
  const events = await service.sql`select from events where payment_id = ${id}`;
  expect(events).toHaveLength(1);
};

/** One kill meets five payments, each at another stage. */
describe('kill -9 of the worker', () => {
  let journey: Journey;
  let payments: Record<'opening' | 'atGateway' | 'verifying' | 'sending' | 'storing', string>;
  let verified: ReturnType<Journey['comeBack']>;

  beforeAll(async () => {
    journey = await aJourney();
    const ids = [];
    for (let nth = 0; nth < 4; nth += 1) ids.push(await journey.atGateway());
    const [atGateway, verifying, sending, storing] = ids as [string, string, string, string];
    for (const id of ids) await journey.choose(id, 'pay');
    await until('the workflow waits in the cache of the worker', async () => {
      const { events } = await service.client.workflow.getHandle(atGateway).fetchHistory();
      return events?.at(-1)?.timerStartedEventAttributes;
    });

    const gatewayRow = await holdLock(
      service.sql,
      (tx) => tx`select from sandbox_payments where payment_id = ${verifying} for update`,
    );
    verified = journey.comeBack(verifying);
    await gatewayRow.blocked('the verification', byWorker);

    // The first POST of two deliveries hangs, for less than 10 seconds. One answers once its row is locked.
    let answer = () => {};
    service.receiver.behave((nth, res) => {
      if (nth > 1) return 204;
      answer = () => res.writeHead(500).end();
      return undefined;
    });
    for (const id of [sending, storing]) {
      await journey.comeBack(id);
      await until('the first POST', () => service.receiver.of(id)[0]);
    }

    const exchanges = await holdLock(
      service.sql,
      (tx) => tx`lock table gateway_exchanges in exclusive mode`,
    );
    const opening = await journey.create();
    await exchanges.blocked('the opening', { ...byWorker, count: 2 });

    const deliveryRow = await holdLock(
      service.sql,
      (tx) => tx`select from deliveries where payment_id = ${storing} for update`,
    );
    answer();
    await deliveryRow.blocked('the storing', { ...byWorker, count: 3 });
    // Postgres has the statement already, but the worker never gets its answer.
    service.worker.signal('SIGSTOP');
    await deliveryRow.release();
    await until('the attempt is stored', async () => (await ledgerOf(storing))[0]?.completed);

    await service.worker.kill();
    await gatewayRow.release();
    await exchanges.release();
    await service.worker.start();
    payments = { opening, atGateway, verifying, sending, storing };
  });

  it('while the payer is at the gateway: a payer who comes back at once gets the outcome', async () => {
    const { atGateway } = payments;
    const isPaid = async () =>
      (await journey.comeBack(atGateway)).headers.get('location')?.includes('status=paid');
    await until('the outcome', isPaid);
    expect((await journey.get(atGateway)).json['status']).toBe('paid');
    await expectOneEvent(atGateway, 'paid');
  });

  it('during the opening: the payment is opened and paid', async () => {
    const { opening } = payments;
    const isSent = async () => (await journey.checkout(opening)).status === 302;
    await until('the checkout redirects', isSent);
    await journey.choose(opening, 'pay');
    await journey.comeBack(opening);
    await expectOneEvent(opening, 'paid');
    expect((await journey.get(opening)).json['status']).toBe('paid');
  });

  it('during a verification: the payer does not wait for a worker, and the payment ends once', async () => {
    expect((await verified).headers.get('location')).toContain('status=processing');
    await expectOneEvent(payments.verifying, 'paid');
  });

  it('during an attempt: the same number is sent again, and no attempt is lost', async () => {
    const { sending } = payments;
    await until('the second POST', () => service.receiver.of(sending)[1]);
    await expectOneEvent(sending, 'paid');
    const numbers = service.receiver
      .of(sending)
      .map(({ headers }) => headers['x-service-delivery-attempt']);
    expect(numbers).toEqual(['1', '1']);
    expect(await ledgerOf(sending)).toMatchObject([{ number: 1, completed: true }]);
  });

  it('between storing an attempt and reporting it: the next one still waits for the whole delay', async () => {
    const { storing } = payments;
    await skipAllTime(service.client, storing);
    await expectOneEvent(storing, 'paid');
    expect(await secondsBetween(storing)).toBeGreaterThanOrEqual(59.4);
    expect(await secondsBetween(storing)).toBeLessThan(115);
  });
});

it('kill -9 of the API between the create and the start of the workflow: the sweeper starts it', async () => {
  const journey = await aJourney();
  await service.engine.stop();
  const headers = { 'idempotency-key': 'killed' };
  const body = { order_id: 'killed', amount: 5, currency: 'JPY' };
  const first = await journey.request('POST', '/api/v1/payments', body, headers);
  expect(first.status).toBe(201);
  await service.api.kill();
  await Promise.all([service.engine.start(), service.api.start()]);

  const again = await journey.request('POST', '/api/v1/payments', body, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(first.text);
  const id = String(first.json['payment_id']);
  await until('the sweeper starts the workflow', async () => {
    await sweepNow(service.client);
    const rows = await service.sql`select from workflow_outbox where payment_id = ${id}`;
    return rows.length === 0;
  });
  await until('it is opened', async () => (await journey.checkout(id)).status === 302);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await expectOneEvent(id, 'paid');
});

it('kill -9 of Temporal makes it hand out a waiting attempt too early, which is not sent before its time', async () => {
  const journey = await aJourney();
  service.receiver.behave((nth) => (nth === 1 ? 500 : 204));
  const id = await journey.finish('pay');
  const tries = async () => {
    const { raw } = await service.client.workflow.getHandle(id).describe();
    return raw.pendingActivities?.[0]?.attempt;
  };
  await until('it waits for its next attempt', async () => (await tries()) === 2);
  await service.engine.kill();
  await service.engine.start();
  await until('the early attempt is over', async () => (await tries()) === 3, 240_000);
  expect(service.receiver.of(id)).toHaveLength(1);

  await skipAllTime(service.client, id);
  await expectOneEvent(id, 'paid');
  expect(await secondsBetween(id)).toBeGreaterThanOrEqual(59.4);
  expect(await secondsBetween(id)).toBeLessThan(115);
});

it('a kill -9 of the API and of the worker, between the opening and the return, loses no plan of a sandbox payment', async () => {
  const journey = await aJourney();
  const create = (after_seconds?: number) =>
    journey.create({ sandbox: { outcome: 'paid', after_seconds } });
  const ids = await Promise.all(Array.from({ length: 6 }, (_, nth) => create(nth % 2 ? 5 : 2)));
  await until('every payer is at the gateway', async () => {
    const rows = await service.sql`
      select from payments where id = any(${ids}) and checkout_at is not null`;
    return rows.length === ids.length;
  });
  ids.push(await create());
  const [row] = await service.sql<{ paid: number }[]>`
    select count(*) as paid from payments where id = any(${ids}) and status = 'paid'`;
  expect(row?.paid).toBeLessThan(ids.length);
  await Promise.all([service.api.kill(), service.worker.kill()]);
  await Promise.all([service.api.start(), service.worker.start()]);
  for (const id of ids) await expectOneEvent(id, 'paid');
});
