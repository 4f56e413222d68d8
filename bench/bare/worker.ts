import { readFileSync } from 'node:fs';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { runProcess } from '../../process.ts';
import { paymentWorkerOptions } from '../../worker/workers.ts';
import { activities } from './activities.ts';
import { bareQueue, readSetup } from './setup.ts';

/** The bare workflow's worker: the options of the service's own, and nothing to do. */
await runProcess(async () => {
  const { temporal, bundlePath } = readSetup();
  Runtime.install({ shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address: temporal.address });
  const worker = await Worker.create({
    ...paymentWorkerOptions,
    connection,
    namespace: temporal.namespace,
    taskQueue: bareQueue,
    activities,
    workflowBundle: { code: readFileSync(bundlePath, 'utf8') },
  });
  const run = worker.run();
  return async () => {
    worker.shutdown();
    await run;
    await connection.close();
  };
});
