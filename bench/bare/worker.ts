import { readFileSync } from 'node:fs';
import { Runtime, Worker } from '@temporalio/worker';
import { runProcess } from '../../process.ts';
import { connectNative } from '../../temporal/native-connection.ts';
import { deliveryWorkerOptions, paymentWorkerOptions } from '../../worker/workers.ts';
import { activities } from './activities.ts';
import { bareDeliveryQueue, bareQueue } from './queues.ts';
import { readSetup } from './setup.ts';

/** The bare workflow's workers: two queues and the options of the service's own, and nothing to do. */
await runProcess(async () => {
  const { temporal, bundlePath } = readSetup();
  Runtime.install({ shutdownSignals: [] });
  const connection = await connectNative({ address: temporal.address });
  const shared = { connection, namespace: temporal.namespace };
  const { deliver, post, ...others } = activities;
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      ...paymentWorkerOptions,
      taskQueue: bareQueue,
      activities: others,
      workflowBundle: { code: readFileSync(bundlePath, 'utf8') },
    }),
    Worker.create({
      ...shared,
      ...deliveryWorkerOptions,
      taskQueue: bareDeliveryQueue,
      activities: { deliver, post },
    }),
  ]);
  const runs = workers.map((worker) => worker.run());
  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.allSettled(runs);
    await connection.close();
  };
});
