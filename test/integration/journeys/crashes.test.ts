import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { holdLock } from '../../support/hold-lock.ts';
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

/** From the end of the first attempt to the second, by the engine's clock; there are no more. */
const secondsBetween = async (id: string) => {
  const [first, second, ...more] = await ledgerOf(id);
  expect([first?.number, second?.number, ...more]).toEqual([1, 2]);
  expect(service.receiver.of(id)).toHaveLength(2);
  const ended = first!.scheduled_at.getTime() + first!.duration_ms!;
  return (second!.scheduled_at.getTime() - ended) / 1000;
};

/** The event arrived, and the ledger and the receiver agree that it ended once. */
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
  it('in the middle of opening: the payment is opened and paid', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const lock = await holdLock(
      service.sql,
      (tx) => tx`lock table sandbox_payments in exclusive mode`,
    );
    const id = await journey.create();
    await lock.blocked('opening', byWorker);
    await service.worker.kill();
    await lock.release();
    await service.worker.start();

    await until(
      'the payer can go',
      async () => (await journey.checkout(id)).status === 302,
      60_000,
    );
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await expectOneEvent(id, 'paid');
    expect((await journey.get(id)).json['status']).toBe('paid');
  });

  it('in the middle of settling: the payment ends once', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    const lock = await holdLock(
      service.sql,
      (tx) => tx`select from sandbox_payments where payment_id = ${id} for update`,
    );
    const back = journey.comeBack(id);
    await lock.blocked('processing', byWorker);
    await service.worker.kill();
    await lock.release();
    // The payer is not kept waiting for a worker: processing, and the webhook tells the rest.
    expect((await back).headers.get('location')).toContain('status=processing');
    await service.worker.start();
    await expectOneEvent(id, 'paid');
  });

  it('while a payer is at the gateway: who comes back right after it has the outcome', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await journey.choose(id, 'pay');
    await until('the worker that is killed has it in its cache', async () => {
      const { events } = await service.client.workflow.getHandle(id).fetchHistory();
      return events?.at(-1)?.timerStartedEventAttributes;
    });
    await service.worker.kill();
    await service.worker.start();
    expect((await journey.comeBack(id)).headers.get('location')).toContain('status=paid');
    await expectOneEvent(id, 'paid');
  });

  it('in the middle of delivering: the same number is sent again, and it costs no attempt', async () => {
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

  it('between recording an attempt and reporting it: the next one still comes after the full delay', async () => {
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
    const lock = await holdLock(
      service.sql,
      (tx) => tx`select from deliveries where payment_id = ${id} for update`,
    );
    hang();
    await lock.blocked('recording', byWorker);
    // The statement is with Postgres already; the worker never hears that it was done.
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
  it('between the record and the start of the workflow: nothing is lost', async () => {
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
      'the sweep starts the workflow',
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

describe('kill -9 of the engine', () => {
  it('hands out at once what waits for its next attempt, which is not sent before its time', async () => {
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
    await until('it has come and gone', async () => (await tries()) === 3, 30_000);
    expect(service.receiver.of(id)).toHaveLength(1);

    await skipAllTime(service.client, id);
    await expectOneEvent(id, 'paid');
    expect(await secondsBetween(id)).toBeGreaterThanOrEqual(59.4);
    expect(await secondsBetween(id)).toBeLessThan(65);
  });
});
