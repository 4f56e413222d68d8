import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hold } from '../../support/hold.ts';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());
beforeEach(() => service.receiver.behave(() => 204));

const byWorker = { by: 'payments-worker' };

const ledgerOf = (id: string) => service.sql<
  { number: number; scheduled_at: Date; duration_ms: number | null; completed: boolean }[]
>`
  select number, scheduled_at, duration_ms, completed_at is not null as completed
  from attempts where payment_id = ${id} order by number`;

/** From the end of the first attempt to the second and last one, by Temporal's clock. */
const secondsBetween = async (id: string) => {
  const [first, second, ...more] = await ledgerOf(id);
  expect([first?.number, second?.number, ...more]).toEqual([1, 2]);
  expect(service.receiver.of(id)).toHaveLength(2);
  const ended = first!.scheduled_at.getTime() + first!.duration_ms!;
  return (second!.scheduled_at.getTime() - ended) / 1000;
};

/** Waits for the event, and expects that the payment ended once. */
const expectOneEvent = async (id: string, status: string) => {
  await until('the webhook', () => service.receiver.of(id)[0], 90_000);
  await service.client.workflow.getHandle(id).result();
  const posts = service.receiver.of(id);
  expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
  expect(posts[0]?.json['status']).toBe(status);
  const events = await service.sql`select from events where payment_id = ${id}`;
  expect(events).toHaveLength(1);
};

describe('kill -9 of the worker', () => {
  it('during the opening: the payment is opened and paid', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const lock = await hold(service.sql, (tx) => tx`lock table sandbox_payments in exclusive mode`);
    const id = await journey.create();
    await lock.blocked('opening', byWorker);
    await service.worker.kill();
    await lock.release();
    await service.worker.start();

    await until(
      'the checkout redirects',
      async () => (await journey.checkout(id)).status === 302,
      60_000,
    );
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await expectOneEvent(id, 'paid');
    expect((await journey.get(id)).json['status']).toBe('paid');
  });

  it('during a verification: the payment ends once', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    const lock = await hold(
      service.sql,
      (tx) => tx`select from sandbox_payments where payment_id = ${id} for update`,
    );
    const back = journey.comeBack(id);
    await lock.blocked('the verification', byWorker);
    await service.worker.kill();
    await lock.release();
    // The payer does not wait for a worker. The webhook reports the outcome.
    expect((await back).headers.get('location')).toContain('status=processing');
    await service.worker.start();
    await expectOneEvent(id, 'paid');
  });

  it('while the payer is at the gateway: a payer who comes back at once gets the outcome', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    await until('the workflow waits in the cache of the worker', async () => {
      const { events } = await service.client.workflow.getHandle(id).fetchHistory();
      return events?.at(-1)?.timerStartedEventAttributes;
    });
    await service.worker.kill();
    await service.worker.start();
    expect((await journey.comeBack(id)).headers.get('location')).toContain('status=paid');
    await expectOneEvent(id, 'paid');
  });

  it('during an attempt: the same number is sent again, and no attempt is lost', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    service.receiver.behave((nth) => (nth === 1 ? undefined : 204));
    const id = await journey.finish('pay');
    await until('the first POST', () => service.receiver.of(id)[0]);
    await service.worker.kill();
    await service.worker.start();
    await until('the second POST', () => service.receiver.of(id)[1], 60_000);
    await expectOneEvent(id, 'paid');
    const numbers = service.receiver
      .of(id)
      .map(({ headers }) => headers['x-service-delivery-attempt']);
    expect(numbers).toEqual(['1', '1']);
    expect(await ledgerOf(id)).toMatchObject([{ number: 1, completed: true }]);
  });

  it('between storing an attempt and reporting it: the next one still waits for the whole delay', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    let hang = () => {};
    service.receiver.behave((nth, res) => {
      if (nth > 1) return 204;
      hang = () => res.writeHead(500).end();
      return undefined;
    });
    const id = await journey.finish('pay');
    await until('the first POST', () => service.receiver.of(id)[0]);
    const lock = await hold(
      service.sql,
      (tx) => tx`select from deliveries where payment_id = ${id} for update`,
    );
    hang();
    await lock.blocked('recording', byWorker);
    // Postgres has the statement already, but the worker never gets its answer.
    service.worker.signal('SIGSTOP');
    await lock.release();
    await until('the attempt is recorded', async () => (await ledgerOf(id))[0]?.completed);
    await service.worker.kill();
    await service.worker.start();
    await skipAllTime(service.client, id);

    await expectOneEvent(id, 'paid');
    expect(await secondsBetween(id)).toBeGreaterThanOrEqual(59.4);
    expect(await secondsBetween(id)).toBeLessThan(65);
  });
});

describe('kill -9 of the API', () => {
  it('between the create and the start of the workflow: the sweeper starts it', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
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
    await until(
      'the sweeper starts the workflow',
      async () => {
        const rows = await service.sql`select from workflow_outbox where payment_id = ${id}`;
        return rows.length === 0;
      },
      60_000,
    );
    await journey.checkout(id);
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await expectOneEvent(id, 'paid');
  });
});

describe('kill -9 of Temporal', () => {
  it('makes it hand out a waiting attempt too early, which is not sent before its time', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    service.receiver.behave((nth) => (nth === 1 ? 500 : 204));
    const id = await journey.finish('pay');
    const tries = async () => {
      const { raw } = await service.client.workflow.getHandle(id).describe();
      return raw.pendingActivities?.[0]?.attempt;
    };
    await until('it waits for its next attempt', async () => (await tries()) === 2);
    await service.engine.kill();
    await service.engine.start();
    await until('the early attempt is over', async () => (await tries()) === 3, 30_000);
    expect(service.receiver.of(id)).toHaveLength(1);

    await skipAllTime(service.client, id);
    await expectOneEvent(id, 'paid');
    expect(await secondsBetween(id)).toBeGreaterThanOrEqual(59.4);
    expect(await secondsBetween(id)).toBeLessThan(65);
  });
});
