import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { buildBundle } from '../../../worker/workflow-bundle.ts';
import { leanWorkflowThreads } from '../../../worker/workflow-thread.ts';

/** Runs the workflows beside this file. Says each level of a line of the SDK, `ready`, and `stuck` before it exits. */
const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
leanWorkflowThreads(() => {
  console.log('stuck');
  process.exit(1);
});
Runtime.install({ logger: new DefaultLogger('TRACE', ({ level }) => console.log(level)) });
const connection = await NativeConnection.connect({ address });
const workflowBundle = await buildBundle(`${import.meta.dirname}/workflows.ts`);
const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle });
const running = worker.run();
console.log('ready');
await running;
