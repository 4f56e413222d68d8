import { readFileSync } from 'node:fs';
import { Runtime, Worker } from '@temporalio/worker';
import { runProcess } from '../../process.ts';
import { connectNative } from '../../temporal/native-connection.ts';
import { leanWorkflowThreads } from '../../worker/workflow-thread.ts';
import { deliveryWorkerOptions, paymentWorkerOptions } from '../../worker/workers.ts';
import type { Setup } from '../bare.ts';
import { activities, deliveryQueueOf } from './activities.ts';

/** The workers of the bare workflow, with the queues and options of the service's own. */
await runProcess(async () => {
  const { temporal, bundlePath, queue, isLean } = JSON.parse(process.argv[2] ?? '') as Setup;
  if (isLean) leanWorkflowThreads(() => process.exit(1));
  Runtime.install({ shutdownSignals: [] });
  const connection = await connectNative({ address: temporal.address });
  const shared = { connection, namespace: temporal.namespace };
  const { deliver, ...others } = activities;
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      ...paymentWorkerOptions,
      taskQueue: queue,
      activities: others,
      workflowBundle: { code: readFileSync(bundlePath, 'utf8') },
    }),
    Worker.create({
      ...shared,
      ...deliveryWorkerOptions,
      taskQueue: deliveryQueueOf(queue),
      activities: { deliver },
    }),
  ]);
  const runs = workers.map((worker) => worker.run());
  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.allSettled(runs);
    await connection.close();
  };
});
