import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { Activities } from '../../activities/index.ts';
import type { WorkflowStart } from '../../contract/payment.ts';
import { freePort } from '../../stack/ports.ts';
import { startTemporal } from '../../stack/temporal/server.ts';
import type { payment } from '../../workflows/payment.ts';
import {
  paymentsQueue,
  paymentWorkflow,
  paymentStartOptions,
  webhooksQueue,
} from '../../temporal/messages.ts';
import { timeSkipping } from './skip-time.ts';

export type Script = Partial<Activities>;

/** What most scripts begin and end with. */
export const opens = { openPayment: async () => 'open' as const };
export const delivers = { deliverWebhook: async () => 'delivered' as const };

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });

/**
 * The real engine and the real workflows; only the activities are scripted, payment by payment.
 * @param others those of the other workflows
 */
export const startScriptedWorker = async (extraArgs: string[] = [], others: Script = {}) => {
  const temporal = await startTemporal({
    program: inject('temporalProgram'),
    port: await freePort(),
    extraArgs: [...timeSkipping, ...extraArgs],
  });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const client = new Client({ connection: Connection.lazy({ address: temporal.address }) });
  const scripts = new Map<string, Script>();
  const calls = new Map<string, { name: string; request: unknown }[]>();

  const scripted =
    (name: 'openPayment' | 'verifyPayment' | 'expirePayment' | 'deliverWebhook') =>
    async (request: { id: string }): Promise<unknown> => {
      calls.get(request.id)?.push({ name, request });
      const activity = scripts.get(request.id)?.[name];
      if (!activity) throw new Error(`${name} is not in the script`);
      return (activity as (given: { id: string }) => Promise<unknown>)(request);
    };
  const [openPayment, verifyPayment, expirePayment, deliverWebhook] = (
    ['openPayment', 'verifyPayment', 'expirePayment', 'deliverWebhook'] as const
  ).map(scripted);
  const workflowBundle = { code: readFileSync(inject('workflowBundle'), 'utf8') };
  const workers = await Promise.all([
    Worker.create({
      connection,
      workflowBundle,
      taskQueue: paymentsQueue,
      activities: { ...others, openPayment, verifyPayment, expirePayment },
      shutdownForceTime: '5s',
    }),
    Worker.create({ connection, taskQueue: webhooksQueue, activities: { deliverWebhook } }),
  ]);
  const runs = workers.map((worker) => worker.run());

  /** A payment that is to live by this script. */
  const enter = (script: Script, { expiresInMs = 30 * 60_000 } = {}) => {
    const id = `PAY_${randomUUID()}`;
    scripts.set(id, script);
    calls.set(id, []);
    const facts: WorkflowStart = {
      ...{ id, application: 'a', orderId: 'o', amount: 1, currency: 'EUR', gateway: 'g' },
      expiresAt: new Date(Date.now() + expiresInMs),
    };
    const callsOf = (name?: string) =>
      (calls.get(id) ?? []).filter((call) => name === undefined || call.name === name);
    return { id, facts, callsOf };
  };

  return {
    client,
    enter,
    /** Starts such a payment. */
    async play(...given: Parameters<typeof enter>) {
      const { facts, ...entered } = enter(...given);
      const start = paymentStartOptions(facts);
      const handle = await client.workflow.start<typeof payment>(paymentWorkflow, start);
      return { ...entered, handle };
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await client.connection.close();
      await connection.close();
      await temporal.stop();
    },
  };
};
export type ScriptedWorker = Awaited<ReturnType<typeof startScriptedWorker>>;
