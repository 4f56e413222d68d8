import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ReconcileOptions } from '../../../admin/operations/reconciliation.ts';
import { eventId, newPaymentId } from '../../../contract/ids.ts';
import { paymentsQueue, paymentWorkflow } from '../../../temporal/messages.ts';
import { paymentStartOptions } from '../../../temporal/start-options.ts';
import { belongsTo } from '../../support/data/rows-of-payment.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { waitForFirstAttempt } from '../../support/service/first-attempt.ts';
import { terminate, untilListedAsClosed } from '../../support/service/terminate.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const postgres = await startOwnPostgres();
const service = await forFile(startService({ database: postgres }));
const { journey } = await service.anApplication();

const operations = operationsOf(service);

const usual = { since: null, limit: 1_000, scan: 100_000, heal: false, reason: null };
const reconcile = (options: Partial<ReconcileOptions> = {}) =>
  operations.reconcile({ ...usual, ...options });

const differencesOf = async (id: string, options = {}) =>
  (await reconcile(options)).differences
    .filter(({ paymentId }) => paymentId === id)
    .map(({ kind, healed }) => `${kind}${healed ? ', healed' : ''}`);

/** Described, because Temporal's list lags behind. */
const statusOfWorkflow = async (id: string) =>
  (await service.client.workflow.getHandle(id).describe()).status.name;

/** Reconciliation ignores payments of the last minute, whose start may be on its way. */
const makeOld = (id: string) => service.sql`
  update payments set created_at = now() - interval '61 seconds' where id = ${id}`;

/** A payment that has ended, with a failed first attempt; the next one is due in a minute. */
const undelivered = async () => {
  service.receiver.behave(() => 500);
  const id = await journey.finish('pay');
  await waitForFirstAttempt(service.sql, id);
  service.receiver.behave(() => 204);
  return id;
};

/** A workflow without a record of its payment. It fails once a worker takes it. */
const workflowWithoutRecord = async (taskQueue = paymentsQueue) => {
  const id = newPaymentId();
  const facts = { amount: 1250, currency: 'EUR', gateway: 'sandbox', orderId: 'order-lost' };
  const expiresAt = new Date(Date.now() + 60_000);
  const start = paymentStartOptions({ id, application: 'shop', ...facts, expiresAt });
  await service.client.workflow.start(paymentWorkflow, { ...start, taskQueue });
  return id;
};

describe('reconcile', () => {
  it('finds no difference if there is none', async () => {
    const open = await journey.atGateway();
    await makeOld(open);
    const paid = await journey.finish('pay');
    await until('the webhook', () => service.receiver.of(paid)[0]);
    await until('it is closed', async () => (await statusOfWorkflow(paid)) === 'COMPLETED');
    await undelivered();
    expect(await reconcile({ since: new Date(0) })).toEqual({ differences: [], complete: true });
  });

  it('starts the lost workflow of an open payment again, and writes the audit log', async () => {
    const id = await journey.atGateway();
    await makeOld(id);
    await terminate(service.client, id);
    expect(await differencesOf(id)).toEqual(['payment_without_workflow']);
    expect(await statusOfWorkflow(id)).toBe('TERMINATED');
    expect(await differencesOf(id, { heal: true })).toEqual(['payment_without_workflow, healed']);
    expect(await statusOfWorkflow(id)).toBe('RUNNING');
    expect(await differencesOf(id)).toEqual([]);
    const filter = { subject: `payment:${id}`, limit: 1 };
    expect(await operations.auditLog(filter)).toMatchObject([
      { actor: 'ada', action: 'payment.heal' },
    ]);
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await until('the webhook', () => service.receiver.of(id)[0]);
  });

  it('reports a delivery that is 2 minutes overdue although its workflow runs', async () => {
    const id = await undelivered();
    const due = (ago: string) => service.sql`
      update deliveries set next_attempt_at = now() - ${ago}::interval where payment_id = ${id}`;
    await due('1 minute');
    expect(await differencesOf(id)).toEqual([]);
    await due('2 minutes 1 second');
    expect(await differencesOf(id, { heal: true })).toEqual(['delivery_overdue']);
    expect(await statusOfWorkflow(id)).toBe('RUNNING');
    await service.sql`delete from attempts where event_id = ${eventId(id)}`;
    await service.sql`delete from deliveries where payment_id = ${id}`;
    expect(await differencesOf(id, { heal: true })).toEqual(['end_without_delivery']);
    await terminate(service.client, id);
    await service.sql`
      insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at, recorded_at, status)
      select e.id, p.id, p.application, p.test, p.order_id, e.kind, e.created_at, now(), 'delivered'
      from events e join payments p on p.id = e.payment_id where p.id = ${id}`;
  });

  it('reports a workflow without a record and does not end it', async () => {
    await service.worker.stop();
    const id = await workflowWithoutRecord();
    await until('Temporal lists it', async () => (await differencesOf(id)).length > 0);
    const { differences } = await reconcile({ heal: true });
    expect(differences).toContainEqual({
      kind: 'workflow_without_payment',
      paymentId: id,
      application: 'shop',
      orderId: 'order-lost',
      status: 'running',
      at: expect.any(Date),
      healed: false,
    });
    expect(await statusOfWorkflow(id)).toBe('RUNNING');
    await service.worker.start();
    // It fails by itself, and is still found among the closed workflows.
    await until('it fails', async () => (await statusOfWorkflow(id)) === 'FAILED');
    await untilListedAsClosed(service.client, id);
    expect(await differencesOf(id)).toEqual([]);
    expect(await differencesOf(id, { since: new Date(0) })).toEqual(['workflow_without_payment']);
  });

  it('looks at every kind of difference if there are more payments than it may look at', async () => {
    const lost = await undelivered();
    await terminate(service.client, lost);
    const [row] = await service.sql<{ count: number }[]>`
      select count(*) from deliveries where status = 'pending'`;
    const look = row?.count ?? 0;
    for (let open = 0; open <= look; open += 1) await makeOld(await journey.atGateway());
    const unknown = await workflowWithoutRecord('a queue without workers');
    await until('Temporal lists it', async () => (await differencesOf(unknown)).length > 0);

    const { differences, complete } = await reconcile({ scan: look });
    expect(differences.map(({ kind, paymentId }) => [kind, paymentId])).toEqual([
      ['delivery_without_workflow', lost],
      ['workflow_without_payment', unknown],
    ]);
    expect(complete).toBe(false);

    await terminate(service.client, unknown);
    expect(await differencesOf(lost, { heal: true })).toEqual([
      'delivery_without_workflow, healed',
    ]);
    expect(await reconcile()).toEqual({ differences: [], complete: true });
  });
});

describe('a restore of Postgres from an older backup', () => {
  it('is seen through: what is healed ends as it did, what is lost is named', async () => {
    const isOpened = async (id: string) => {
      const [row] = await service.sql`select gateway_reference from payments where id = ${id}`;
      return row?.['gateway_reference'] !== null;
    };
    // Opened at the gateway, and their payers have not been sent there yet.
    const [paidSince, closedSince] = [await journey.create(), await journey.create()];
    for (const id of [paidSince, closedSince]) await until('it is open', () => isOpened(id));
    const waiting = await journey.atGateway();
    await postgres.stop();
    postgres.save();
    await postgres.start();
    const backupAt = new Date();

    // After the backup two are paid, one of them is delivered, and one more is created and paid.
    await until('the API is back', async () => (await journey.checkout(paidSince)).status === 302);
    await journey.choose(paidSince, 'pay');
    await journey.comeBack(paidSince);
    await journey.checkout(closedSince);
    await journey.choose(closedSince, 'pay_and_close');
    const before = await until('the webhook', () => service.receiver.of(paidSince)[0]);
    const lost = await journey.finish('pay', {});
    await until('the webhook', () => service.receiver.of(lost)[0]);
    for (const id of [paidSince, lost]) {
      await service.client.workflow.getHandle(id).result();
      await untilListedAsClosed(service.client, id);
    }

    await postgres.stop();
    postgres.restore();
    await postgres.start();
    await until('the API is back', async () => (await journey.get(waiting)).status === 200);
    // The sandbox gateway keeps its books in the same Postgres. A real gateway has lost nothing.
    await service.sql`
      update sandbox_payments set state = 'paid'
      where payment_id in (${paidSince}, ${closedSince}) and state = 'open'`;
    for (const id of [paidSince, closedSince, waiting]) await makeOld(id);

    const found = await reconcile({ since: backupAt, heal: true });
    expect(found.differences.map(({ kind, paymentId }) => [kind, paymentId])).toEqual([
      ['payment_without_workflow', paidSince],
      ['workflow_without_payment', lost],
    ]);
    // Its payer's money is at the gateway: asked again it says so, and the event is the same one.
    await until('it is paid', async () => {
      await journey.verify(paidSince);
      return (await journey.get(paidSince)).json['status'] === 'paid';
    });
    const after = await until('the webhook again', () => service.receiver.of(paidSince)[1]);
    expect(after.json['event_id']).toBe(before.json['event_id']);
    // The workflow of the other one has waited all the time, and asks at its deadline.
    await skipAllTime(service.client, closedSince);
    const atDeadline = await until('its webhook', () => service.receiver.of(closedSince)[0]);
    expect(atDeadline.json['event']).toBe('payment.paid');
    expect(service.receiver.of(closedSince)).toHaveLength(1);
    expect(await statusOfWorkflow(waiting)).toBe('RUNNING');
    expect((await reconcile()).differences).toEqual([]);
  });

  it('finds what waits for its next webhook and is open again, and a reset ends it', async () => {
    const id = await undelivered();
    const before = service.receiver.of(id)[0];
    for (const table of ['attempts', 'deliveries', 'events'])
      await service.sql`delete from ${service.sql(table)} where ${belongsTo(service.sql, table, id)}`;
    await service.sql`
      update payments set status = 'pending', paid_at = null, tracking_code = null,
        expires_at = now() - interval '19 minutes', inquired_at = null
      where id = ${id}`;
    await makeOld(id);
    expect(await differencesOf(id)).toEqual([]);
    await service.sql`
      update payments set expires_at = now() - interval '21 minutes' where id = ${id}`;
    expect(await differencesOf(id, { heal: true })).toEqual(['payment_overdue']);
    expect(await statusOfWorkflow(id)).toBe('RUNNING');

    const handle = service.client.workflow.getHandle(id);
    const { runId } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const first = events?.find(({ workflowTaskCompletedEventAttributes: task }) => task);
    await service.client.workflowService.resetWorkflowExecution({
      namespace: service.client.options.namespace,
      workflowExecution: { workflowId: id, runId },
      workflowTaskFinishEventId: first!.eventId!,
      requestId: randomUUID(),
      reason: 'a test',
    });
    const after = await until('the webhook again', () => service.receiver.of(id)[1]);
    expect(after.json).toMatchObject({ event: 'payment.paid', event_id: before?.json['event_id'] });
    expect(await differencesOf(id)).toEqual([]);
  });

  it('leaves alone what a silent gateway is asked about', async () => {
    const id = await journey.atGateway();
    await makeOld(id);
    const asked = (ago: string) => service.sql`
      update payments set expires_at = now() - interval '3 hours', inquired_at = now() - ${ago}::interval
      where id = ${id}`;
    await asked('69 minutes');
    expect(await differencesOf(id)).toEqual([]);
    await asked('71 minutes');
    expect(await differencesOf(id)).toEqual(['payment_overdue']);
  });
});
