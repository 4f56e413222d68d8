import { resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { runProgram } from '../../../tools/production/programs.ts';
import { createJourney, type Answer } from '../../support/service/journey.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { createProcess } from '../../support/service/processes.ts';
import { waitForFirstAttempt } from '../../support/service/first-attempt.ts';
import { forFile } from '../../support/for-file.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const root = resolve(import.meta.dirname, '../../..');
/** The test server creates `default` by itself. In production the operator creates the namespace. */
const namespace = 'payments';
const service = await forFile(startService({ ownTemporal: true }));

const aJourney = async () => (await service.anApplication()).journey;
const codeOf = ({ json }: Answer) => (json['error'] as { code: string }).code;

it('verify answers 503 after 10 seconds if no worker answers; reads still work', async () => {
  const journey = await aJourney();
  const id = await journey.atGateway();
  await service.worker.stop();
  const startedAt = performance.now();
  const answer = await journey.verify(id);
  expect([answer.status, codeOf(answer)]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(performance.now() - startedAt).toBeGreaterThan(8_000);
  expect(await journey.get(id)).toMatchObject({ status: 200 });
  await service.worker.start();
});

it('verify answers 503 while Temporal is down; creates, reads and lists work, and checkout shows a page', async () => {
  const journey = await aJourney();
  const id = await journey.atGateway();
  await service.engine.stop();
  const answer = await journey.verify(id);
  expect([answer.status, codeOf(answer)]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const created = await journey.create();
  expect(await journey.get(created)).toMatchObject({ status: 200, json: { status: 'pending' } });
  const list = await journey.request('GET', '/api/v1/payments');
  expect(list).toMatchObject({ status: 200, json: { data: [{ payment_id: created }, {}] } });
  expect(await journey.request('GET', '/api/v1/me')).toMatchObject({ status: 200 });
  const checkout = await journey.checkout(created);
  expect(checkout.status).toBe(503);
  expect(checkout.text).toMatch(/^<!doctype html>/);
  expect(checkout.headers.get('refresh')).toBe('3');
  await service.engine.start();
  const isBack = async () => (await journey.verify(id)).status === 200;
  await until('verify works again', isBack);
});

it('continues every open payment after Temporal came back empty, as docs/operating/restoring.md says', async () => {
  const env = { ...service.env, TEMPORAL_NAMESPACE: namespace };
  const createNamespace = () => runProgram('namespace', { root, env });
  await createNamespace();
  await service.worker.stop();
  const worker = createProcess('worker', 'worker/main.ts', {
    ...env,
    ALLOW_LOOPBACK_TARGETS: 'true',
    WORKFLOW_BUNDLE: inject('workflowBundle'),
    METRICS_PORT: '0',
  });
  onTestFinished(() => worker.stop());
  await worker.start();
  const api = await service.anotherApi({ TEMPORAL_NAMESPACE: namespace });
  const journey = createJourney(api, (await service.anApplication()).token);
  const client = new Client({ connection: service.client.connection, namespace });
  const operations = operationsOn(service.sql, {
    temporal: async () => createTemporalAdmin(client),
  });
  const reconcile = () =>
    operations.reconcile({ since: null, limit: 100, scan: 100, heal: true, reason: null });
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
