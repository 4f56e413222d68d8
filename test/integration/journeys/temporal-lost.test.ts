import { resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { sweeperWorkflowId } from '../../../temporal/sweeper.ts';
import { runProgram } from '../../../tools/production/programs.ts';
import { createJourney } from '../../support/service/journey.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import type { TestProcess } from '../../support/service/processes.ts';
import { createProcess } from '../../support/service/processes.ts';
import { waitForFirstAttempt } from '../../support/service/first-attempt.ts';
import type { Service } from '../../support/service/service.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const root = resolve(import.meta.dirname, '../../..');
/** The test server creates `default` by itself. In production the operator creates the namespace. */
const namespace = 'payments';
let service: Service;
let worker: TestProcess;
beforeAll(async () => {
  service = await startService({ ownTemporal: true });
  await service.worker.stop();
  worker = createProcess('worker', 'worker/main.ts', {
    ...service.env,
    TEMPORAL_NAMESPACE: namespace,
    ALLOW_LOOPBACK_TARGETS: 'true',
    WORKFLOW_BUNDLE: inject('workflowBundle'),
    METRICS_PORT: '0',
  });
});
afterAll(async () => {
  await worker?.stop();
  await service?.stop();
});

it('continues every open payment after Temporal came back empty, as docs/operating/restoring.md says', async () => {
  const env = { ...service.env, TEMPORAL_NAMESPACE: namespace };
  const createNamespace = () => runProgram('namespace', { root, env });
  await createNamespace();
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

  await expect(reconcile()).rejects.toHaveProperty(
    'cause.message',
    expect.stringMatching(/namespace/i),
  );
  await createNamespace();
  await worker.stop();
  await worker.start();
  const { status } = await client.workflow.getHandle(sweeperWorkflowId).describe();
  expect(status.name).toBe('RUNNING');
  const { differences } = await reconcile();
  expect(differences).toMatchObject([
    { kind: 'payment_without_workflow', paymentId: waiting, healed: true },
    { kind: 'delivery_without_workflow', paymentId: undelivered, healed: true },
  ]);
  const running = await createTemporalAdmin(client).running([undelivered]);
  expect([...running]).toEqual([undelivered]);

  await journey.choose(waiting, 'pay');
  await journey.comeBack(waiting);
  await until('the webhook', () => service.receiver.of(waiting)[0]);
  expect((await journey.get(waiting)).json['status']).toBe('paid');
});
