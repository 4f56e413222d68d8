import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { runProgram } from '../../../tools/production/programs.ts';
import { createHead, rawConnection } from '../../support/servers/raw-http.ts';
import { refusalOf } from '../../support/service/answers.ts';
import { createJourney, type Answer, type Journey } from '../../support/service/journey.ts';
import { expectPage, expectRedirect } from '../../support/service/payer-page.ts';
import { operationsOf } from '../../support/service/admin-operations.ts';
import { waitForFirstAttempt } from '../../support/service/first-attempt.ts';
import { forFile } from '../../support/for-file.ts';
import { startService } from '../../support/service/service.ts';
import { addStripe, noticeOf } from '../../support/service/stripe-account.ts';
import { until } from '../../support/until.ts';

const root = resolve(import.meta.dirname, '../../..');
/** The test server creates `default` by itself. In production the operator creates the namespace. */
const namespace = 'payments';
const service = await forFile(startService({ ownTemporal: true }));
const stripe = await forFile(addStripe(service));

const callback = (id: string, status: string) =>
  `http://127.0.0.1:9/return?payment_id=${id}&order_id=order-1&status=${status}`;

describe('while no worker answers', () => {
  let token: string;
  let journey: Journey;
  /** Its payer has paid and is not back yet. */
  let paid: string;
  let unopened: string;
  beforeAll(async () => {
    ({ token, journey } = await service.anApplication());
    paid = await journey.atGateway();
    await journey.choose(paid, 'pay');
    await service.worker.stop();
    unopened = await journey.create();
  });

  it('verify answers 503, checkout a reloading page and a return status=processing after 10 seconds; reads still work', async () => {
    // All of them wait for the 10 seconds that the service interface names.
    const startedAt = performance.now();
    const timed = async (answering: Promise<Answer>) => {
      const answer = await answering;
      const seconds = (performance.now() - startedAt) / 1000;
      return { ...answer, seconds };
    };
    const [verified, page, back] = await Promise.all([
      timed(journey.verify(paid)),
      timed(journey.checkout(unopened)),
      timed(journey.comeBack(paid)),
    ]);
    expect(refusalOf(verified)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(verified.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(verified.seconds).toBeGreaterThan(8);
    expect(page.status).toBe(503);
    expectPage(page);
    expect(page.headers.get('refresh')).toBe('3');
    expect(page.headers.get('retry-after')).toBe('3');
    expect(page.seconds).toBeGreaterThan(9);
    expect(page.seconds).toBeLessThan(60);
    expect(back.status).toBe(303);
    expectRedirect(back, callback(paid, 'processing'));
    expect(back.seconds).toBeLessThan(60);
    expect(await journey.get(paid)).toMatchObject({ status: 200 });
  });

  it('a return changes nothing if the payment is not open at its gateway yet', async () => {
    expectRedirect(await journey.comeBack(unopened), callback(unopened, 'pending'));
    expect((await journey.get(unopened)).json['status']).toBe('pending');
  });

  it('a client that disconnects leaves no socket, wait or statement behind', async () => {
    const openFiles = () => readdirSync(`/proc/${service.api.pid()}/fd`).length;
    // A checkout waits for the opening, and a verify for the gateway's answer.
    const before = openFiles();
    const get = (path: string) =>
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const requests = [
      'GET /api/v1/pay',
      `${createHead(token, 60_000)}{"order_id":`,
      get(`/api/v1/payments/${unopened}/checkout`),
      get(`/api/v1/payments/${paid}`),
      get('/api/v1/payments'),
      get(`/api/v1/payments/${paid}/verify`).replace('GET', 'POST'),
    ];
    const linesBefore = service.api.lines.length;
    const newLines = () => service.api.lines.slice(linesBefore);
    for (let index = 0; index < 40 * requests.length; index += 1) {
      const { socket } = await rawConnection(service.url);
      socket.write(requests[index % requests.length] ?? '', () => socket.resetAndDestroy());
    }
    // The connection pool may have grown to its 20 connections and the probe.
    await until('all sockets are closed', () => openFiles() <= before + 21);
    const disconnects = (path: string) =>
      newLines().filter((line) => line.includes(path) && /"status":499.*"Request"/.test(line));
    await until('the waits have ended', () =>
      ['/checkout', '/verify'].every((path) => disconnects(path).length >= 20),
    );
    await until('no statement runs', async () => {
      const [row] = await service.sql<{ active: number }[]>`
        select count(*) as active from pg_stat_activity
        where application_name = 'payments-api' and state <> 'idle'
          and datname = current_database()`;
      return row?.active === 0;
    });
    expect(newLines().filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it('creates get 503 while more than 10,000 payments wait in the outbox', async () => {
    const post = (headers: Record<string, string> = {}) =>
      journey.request(
        'POST',
        '/api/v1/payments',
        { order_id: 'o', amount: 1, currency: 'EUR' },
        headers,
      );
    const keyed = () => post({ 'idempotency-key': 'before' });
    const first = await keyed();
    // Rows of payments that do not exist, which a superuser's replica role does not refuse.
    await service.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into workflow_outbox (payment_id, created_at)
        select 'filled-' || n, now() from generate_series(1, 10001) n`;
    });
    const rejected = await until('creates are rejected', async () => {
      const answer = await post();
      return answer.status === 503 && answer;
    });
    expect(rejected.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await journey.get(paid)).toMatchObject({ status: 200 });
    // A replay adds nothing to the outbox.
    expect(await keyed()).toMatchObject({ status: 201, text: first.text });

    await service.sql`delete from workflow_outbox where payment_id like 'filled-%'`;
    await until('creates are accepted again', async () => (await post()).status === 201);
  });

  it('a worker that starts opens the payment, whose return asked for nothing, and ends the other', async () => {
    await service.worker.start();
    await until('it is opened', async () => (await journey.checkout(unopened)).status === 302);
    const { events } = await service.client.workflow.getHandle(unopened).fetchHistory();
    expect(events?.filter((one) => one.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
    await until('it is paid', async () => (await journey.get(paid)).json['status'] === 'paid');
    expectRedirect(await journey.comeBack(paid), callback(paid, 'paid'));
  });
});

it('verify, notifications, reports and replays answer 503 while Temporal is down; creates, reads and lists work, and checkout shows a page', async () => {
  const { journey } = await service.anApplication();
  const id = await journey.atGateway({ gateway: 'stripe' });
  stripe.pay(stripe.referenceOf(id));
  const delivered = await journey.finish('pay');
  const stateOf = async () => {
    const [row] = await service.sql`
      select status, round from deliveries where payment_id = ${delivered}`;
    return row;
  };
  await until('it is delivered', async () => (await stateOf())?.['status'] === 'delivered');
  const date = new Date().toISOString().slice(0, 10);
  const notify = () =>
    journey.call('POST', '/api/v1/gateways/stripe/notifications', noticeOf(stripe.referenceOf(id)));

  const key = 'k'.repeat(32);
  await service.sql`
    update payments set report_key = ${key} where id = any(${[id, delivered]}::text[])`;
  const report = (of: string) => journey.call('POST', `/api/v1/payments/${of}/reports/${key}`);

  await service.engine.stop();
  // Each may wait for 10 seconds.
  for (const answer of await Promise.all([
    journey.verify(id),
    notify(),
    report(id),
    report(delivered),
    journey.request('POST', `/api/v1/events/${eventId(delivered)}/replay`),
    journey.request('POST', '/api/v1/replays', { from: date, to: date, delivery: 'delivered' }),
    journey.request('POST', '/api/v1/webhook/test', {}),
  ])) {
    expect(refusalOf(answer)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  const began = performance.now();
  const created = await journey.create();
  // No create waits for Temporal: the deadline of a start alone is 5,000 ms.
  expect(performance.now() - began).toBeLessThan(4_500);
  expect(await journey.get(created)).toMatchObject({ status: 200, json: { status: 'pending' } });
  const list = await journey.request('GET', '/api/v1/payments');
  expect(list).toMatchObject({ status: 200, json: { data: [{ payment_id: created }, {}, {}] } });
  expect(await journey.request('GET', '/api/v1/me')).toMatchObject({ status: 200 });
  const checkout = await journey.checkout(created);
  expect(checkout.status).toBe(503);
  expect(checkout.text).toMatch(/^<!doctype html>/);
  expect(checkout.headers.get('refresh')).toBe('3');
  await service.engine.start();
  await until('a notification is accepted', async () => (await notify()).status === 200);
  await until('the webhook', () => service.receiver.of(id)[0]);
  expect((await journey.get(id)).json['status']).toBe('paid');
  expect(await service.sql`select from events where payment_id = ${id}`).toHaveLength(1);
  expect(await stateOf()).toEqual({ status: 'delivered', round: 1 });
  expect(await service.sql`select from replays where status = 'running'`).toHaveLength(0);
});

it('continues every open payment after Temporal came back empty, as docs/operating/temporal-lost.md says', async () => {
  const env = { ...service.env, TEMPORAL_NAMESPACE: namespace };
  const createNamespace = () => runProgram('namespace', { root, env });
  await createNamespace();
  await service.worker.stop();
  const worker = await service.anotherWorker({ TEMPORAL_NAMESPACE: namespace });
  const api = await service.anotherApi({ TEMPORAL_NAMESPACE: namespace });
  const journey = createJourney(api, (await service.anApplication()).token);
  const client = new Client({ connection: service.client.connection, namespace });
  const operations = operationsOf(service, { client });
  const reconcile = () =>
    operations.reconcile({ since: null, limit: 1_000, scan: 1_000, heal: true, reason: null });
  const waiting = await journey.atGateway();
  service.receiver.behave(() => 500);
  const undelivered = await journey.finish('cancel');
  await waitForFirstAttempt(service.sql, undelivered);
  service.receiver.behave(() => 204);

  await service.engine.stop();
  service.engine.forget();
  await service.engine.start();
  await service.sql`update payments set created_at = now() - interval '2 minutes'`;
  // As if the minute before the second attempt had passed.
  await service.sql`
    update attempts set scheduled_at = scheduled_at - interval '1 minute',
      started_at = started_at - interval '1 minute'`;
  await service.sql`
    update deliveries set next_attempt_at = next_attempt_at - interval '1 minute'`;

  expect((await reconcile()).error).toHaveProperty('message', expect.stringMatching(/namespace/i));
  await createNamespace();
  await worker.stop();
  await worker.start();
  const { status } = await client.workflow.getHandle(sweeperWorkflowId).describe();
  expect(status.name).toBe('RUNNING');
  const { differences } = await reconcile();
  const own = differences.filter(({ paymentId }) => [waiting, undelivered].includes(paymentId));
  expect(own).toMatchObject([
    { kind: 'payment_without_workflow', paymentId: waiting, healed: true },
    { kind: 'delivery_without_workflow', paymentId: undelivered, healed: true },
  ]);
  const second = await until('the delivery continues', () => service.receiver.of(undelivered)[1]);
  expect(second.headers['x-service-delivery-attempt']).toBe('2');

  await journey.choose(waiting, 'pay');
  await journey.comeBack(waiting);
  await until('the webhook', () => service.receiver.of(waiting)[0]);
  expect((await journey.get(waiting)).json['status']).toBe('paid');
});
