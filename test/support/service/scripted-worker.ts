import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type { Activities } from '../../../activities/index.ts';
import type { VerificationResult } from '../../../contract/status.ts';
import { freePort } from '../../../stack/ports.ts';
import { startTemporal } from '../../../stack/temporal/server.ts';
import {
  paymentsQueue,
  paymentWorkflow,
  type VerifyRequest,
  verifyUpdate,
  webhooksQueue,
} from '../../../temporal/messages.ts';
import { paymentStartOptions } from '../../../temporal/start-options.ts';
import type { payment } from '../../../workflows/payment.ts';
import { aPayment } from '../data/payments.ts';
import { aNamespace } from '../runner/shared-temporal.ts';
import { timeSkipping } from '../../../temporal/skip-time.ts';
import '../runner/temporal-runtime.ts';

export type Script = Partial<Activities>;

/** The beginning and the end of most scripts. */
export const opens = { openPayment: async () => ({ stage: 'open' as const }) };
export const delivers = { deliverWebhook: async () => 'delivered' as const };

const paymentActivities = [
  'openPayment',
  'verifyPayment',
  'cancelPayment',
  'expirePayment',
  'deliverWebhook',
] as const;

/**
 * Runs the real workflows on a real Temporal server, with scripted activities: each payment has a script
 * of its own.
 * @param serverArgs arguments of the server; without them it is the shared one
 * @param others the activities of the other workflows
 */
export const startScriptedWorker = async (serverArgs: string[] = [], others: Script = {}) => {
  const own =
    serverArgs.length === 0
      ? undefined
      : await startTemporal({
          program: inject('temporalProgram'),
          port: await freePort(),
          extraArgs: [...timeSkipping, ...serverArgs],
        });
  const { address } = own ?? inject('sharedTemporal');
  const namespace = own?.namespace ?? aNamespace();
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: Connection.lazy({ address }), namespace });
  const scripts = new Map<string, Script>();
  const calls = new Map<string, { name: string; request: unknown }[]>();

  const scripted =
    (name: (typeof paymentActivities)[number]) =>
    async (request: { id: string }): Promise<unknown> => {
      calls.get(request.id)?.push({ name, request });
      const activity = scripts.get(request.id)?.[name];
      if (!activity) throw new Error(`${name} is not in the script`);
      return (activity as (request: { id: string }) => Promise<unknown>)(request);
    };
  const [openPayment, verifyPayment, cancelPayment, expirePayment, deliverWebhook] =
    paymentActivities.map(scripted);
  const workflowBundle = { code: readFileSync(inject('workflowBundle'), 'utf8') };
  const workers = await Promise.all([
    Worker.create({
      connection,
      namespace,
      workflowBundle,
      taskQueue: paymentsQueue,
      activities: { ...others, openPayment, verifyPayment, cancelPayment, expirePayment },
      shutdownForceTime: '5s',
    }),
    Worker.create({
      connection,
      namespace,
      taskQueue: webhooksQueue,
      activities: { deliverWebhook },
    }),
  ]);
  const runs = workers.map((worker) => worker.run());

  /** Prepares a payment with this script, whose workflow the test starts itself. */
  const prepare = (script: Script, { expiresInMs = 30 * 60_000 } = {}) => {
    const id = `PAY_${randomUUID()}`;
    scripts.set(id, script);
    calls.set(id, []);
    const start = aPayment({ id, expiresAt: new Date(Date.now() + expiresInMs) });
    /** The newest run. */
    const handle = client.workflow.getHandle<typeof payment>(id);
    return {
      id,
      start,
      handle,
      /** The activities that the workflow has called, all or those of one name. */
      callsOf: (name?: string) =>
        (calls.get(id) ?? []).filter((call) => name === undefined || call.name === name),
      /** Sends an update of its own, which Temporal does not merge with an equal one. */
      verify: (request: VerifyRequest = { returned: false }) =>
        handle.executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, {
          args: [request],
        }),
    };
  };

  return {
    client,
    prepare,
    /** Prepares a payment and starts its workflow. */
    async play(...args: Parameters<typeof prepare>) {
      const prepared = prepare(...args);
      const options = paymentStartOptions(prepared.start);
      await client.workflow.start<typeof payment>(paymentWorkflow, options);
      return prepared;
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await client.connection.close();
      await connection.close();
      await own?.stop();
    },
  };
};

type Handle = Pick<WorkflowHandle, 'fetchHistory'>;
type HistoryEvent = NonNullable<Awaited<ReturnType<Handle['fetchHistory']>>['events']>[number];

/** Counts the events in the history of the workflow that have these attributes. */
export const countEvents = async (handle: Handle, attributes: keyof HistoryEvent) => {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event[attributes]).length;
};
/** Counts the updates that the workflow has accepted. */
export const countUpdates = (handle: Handle): Promise<number> =>
  countEvents(handle, 'workflowExecutionUpdateAcceptedEventAttributes');
/** Counts the timers that the workflow has started. */
export const countTimers = (handle: Handle): Promise<number> =>
  countEvents(handle, 'timerStartedEventAttributes');

/** The current details, as the Temporal UI asks for them. */
export const detailsOf = async (handle: Pick<WorkflowHandle, 'query'>): Promise<string> =>
  (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
