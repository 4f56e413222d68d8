import { readFileSync } from 'node:fs';
import type { ActivityInterceptorsFactory, NativeConnection } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import { noticesQueue, paymentsQueue, webhooksQueue } from '../temporal/messages.ts';
import { buildBundle } from './workflow-bundle.ts';

export interface WorkersOptions {
  connection: NativeConnection;
  namespace: string;
  activities: Activities;
  activityInterceptors: ActivityInterceptorsFactory;
  queues: readonly ('payments' | 'webhooks' | 'notices')[];
  /** A bundle built before. Without it the worker builds its own, and keeps webpack in memory. */
  bundlePath: string | undefined;
  graceSeconds: number;
}

/** Calls to one gateway, which may take many seconds, hold at most a quarter of these slots. */
export const paymentSlots = 1000;
/** Deliveries of one application hold at most a quarter of these slots. */
export const deliverySlots = 100;

/** The benchmark measures Temporal with the same options. */
export const paymentWorkerOptions = {
  reuseV8Context: true,
  // Payments mostly sleep: a small cache costs little, and memory stays flat. With 500 a worker had 1.4
  // times the memory once 10,000 payments were waiting.
  maxCachedWorkflows: 200,
  // A task for a workflow in the cache of a killed worker waits this long for that worker, until ten
  // seconds after the kill. The default of 10 s is as long as a payer waits.
  stickyQueueScheduleToStartTimeout: '4 seconds',
  maxConcurrentActivityTaskExecutions: paymentSlots,
} as const;
export const deliveryWorkerOptions = {
  maxConcurrentActivityTaskExecutions: deliverySlots,
} as const;

/** The workers of this process: for payments, for deliveries on a queue of their own, or both. */
export const createWorkers = async (options: WorkersOptions): Promise<Worker[]> => {
  const { connection, namespace, activities, activityInterceptors, queues, graceSeconds } = options;
  const { deliverWebhook, sendTestWebhook, sendNotices, ...paymentActivities } = activities;
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
        workflowBundle: await loadBundle(options.bundlePath),
        ...paymentWorkerOptions,
        taskQueue: paymentsQueue,
        activities: paymentActivities,
      }),
    webhooks: () =>
      Worker.create({
        ...shared,
        ...deliveryWorkerOptions,
        taskQueue: webhooksQueue,
        activities: { deliverWebhook, sendTestWebhook },
      }),
    notices: () =>
      Worker.create({
        ...shared,
        maxConcurrentActivityTaskExecutions: 1,
        taskQueue: noticesQueue,
        activities: { sendNotices },
      }),
  };
  return Promise.all(queues.map((queue) => create[queue]()));
};

const loadBundle = (path: string | undefined) =>
  path === undefined ? buildBundle() : { code: readFileSync(path, 'utf8') };
