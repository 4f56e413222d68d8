import { readFileSync } from 'node:fs';
import type { ActivityInterceptorsFactory, NativeConnection } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import { paymentsQueue, webhooksQueue } from '../temporal/messages.ts';
import { buildBundle } from './workflow-bundle.ts';

export interface WorkersOptions {
  connection: NativeConnection;
  namespace: string;
  activities: Activities;
  activityInterceptors: ActivityInterceptorsFactory;
  queues: readonly ('payments' | 'webhooks')[];
  /** A bundle built ahead; without one the worker builds its own, and keeps webpack in memory. */
  bundlePath: string | undefined;
  graceSeconds: number;
}

/** A quarter of them at most is held by calls to one gateway, which may take many seconds. */
export const paymentSlots = 1000;
/** A quarter of them at most go to one application: contract, section 6. */
export const deliverySlots = 100;

/** How the two workers run; the benchmark measures the engine with the same options. */
export const paymentWorkerOptions = {
  reuseV8Context: true,
  // Payments mostly sleep: a small cache costs little and memory stays flat. With 500 a worker had 1.4
  // times the memory once 10,000 waited.
  maxCachedWorkflows: 200,
  // What comes for a workflow in the cache of a worker that was killed waits for that one this long, as
  // may happen for ten seconds after the kill. The default of 10 s is all that a payer waits.
  stickyQueueScheduleToStartTimeout: '4 seconds',
  maxConcurrentActivityTaskExecutions: paymentSlots,
} as const;
export const deliveryWorkerOptions = {
  maxConcurrentActivityTaskExecutions: deliverySlots,
} as const;

/** The workers of the process: payments, deliveries on a queue of their own, or both. */
export const createWorkers = async (options: WorkersOptions): Promise<Worker[]> => {
  const { connection, namespace, activities, activityInterceptors, queues, graceSeconds } = options;
  const { deliverWebhook, ...others } = activities;
  const shared = {
    connection,
    namespace,
    interceptors: { activity: [activityInterceptors] },
    shutdownGraceTime: graceSeconds * 1000,
    shutdownForceTime: (graceSeconds + 10) * 1000,
  };
  const create = {
    payments: async () =>
      Worker.create({
        ...shared,
        workflowBundle: await bundleOf(options),
        ...paymentWorkerOptions,
        taskQueue: paymentsQueue,
        activities: others,
      }),
    webhooks: () =>
      Worker.create({
        ...shared,
        ...deliveryWorkerOptions,
        taskQueue: webhooksQueue,
        activities: { deliverWebhook },
      }),
  };
  return Promise.all(queues.map((queue) => create[queue]()));
};

const bundleOf = ({ bundlePath }: Pick<WorkersOptions, 'bundlePath'>) =>
  bundlePath === undefined ? buildBundle() : { code: readFileSync(bundlePath, 'utf8') };
