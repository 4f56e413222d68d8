import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import {
  compareAccountDayWorkflow,
  compareAccountsWorkflow,
  latePaymentWorkflow,
  paymentWorkflow,
  refundWorkflow,
  sweeperWorkflow,
} from '../temporal/messages.ts';

/** The name of a workflow's files. */
const types = {
  [paymentWorkflow]: 'payment',
  [latePaymentWorkflow]: 'late-payment',
  [refundWorkflow]: 'refund',
  [sweeperWorkflow]: 'sweeper',
  [compareAccountsWorkflow]: 'compare-accounts',
  [compareAccountDayWorkflow]: 'compare-account-day',
};
const mostPerType = 20;

/**
 * Saves histories of workflows from a running server for the replay test, one for each sequence of
 * events: `npm run save-histories -- 127.0.0.1:7233 test/histories`
 */
const [address, folder] = process.argv.slice(2);
if (!address || !folder) {
  console.error('Usage: npm run save-histories -- ADDRESS FOLDER');
  process.exit(1);
}
const client = new Client({ connection: await Connection.connect({ address }) });
mkdirSync(folder, { recursive: true });
for (const [type, name] of Object.entries(types)) {
  const shapes = new Set<string>();
  for await (const { workflowId, runId } of client.workflow.list({
    query: `WorkflowType = '${type}'`,
  })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const shape = (history.events ?? []).map(({ eventType }) => eventType).join();
    if (shapes.has(shape) || shapes.size === mostPerType) continue;
    shapes.add(shape);
    // Worker identities and stack traces name a machine, and the replay needs neither.
    const text = historyToJSON(history)
      .replaceAll(/"\d+@[^"]*"/g, '"worker"')
      .replaceAll(/("stackTrace": ")(?:[^"\\]|\\.)*"/g, '$1"');
    writeFileSync(join(folder, `${name}-${shapes.size}.json`), `${text}\n`);
  }
  console.log(`${name}: ${shapes.size} histories`);
}
await client.connection.close();
