import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
import { type HistoryEvent, stepsOf, toText, typeOf } from './history-file.ts';

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
const longestName = 120;

interface SavedHistory {
  events: HistoryEvent[];
}

/**
 * Saves histories of workflows from a running server for the replay test, unless the folder has one that shows the
 * same: `npm run save-histories -- 127.0.0.1:7233 test/histories`. The names list the steps; give them better ones.
 */
const [address, folder] = process.argv.slice(2);
if (!address || !folder) {
  console.error('Usage: npm run save-histories -- ADDRESS FOLDER');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const shapeOf = (type: string, steps: readonly string[]) => [type, ...steps].join();
const shapes = new Set(
  globSync('**/*.json', { cwd: folder }).map((file) => {
    const { events } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as SavedHistory;
    return shapeOf(typeOf(events), stepsOf(events));
  }),
);
const freePath = (name: string) => {
  const path = (nth: number) => join(folder, `${name}${nth > 1 ? `_${nth}` : ''}.json`);
  let nth = 1;
  while (existsSync(path(nth))) nth += 1;
  return path(nth);
};

const client = new Client({ connection: await Connection.connect({ address }) });
for (const [type, name] of Object.entries(types)) {
  let saved = 0;
  for await (const { workflowId, runId } of client.workflow.list({
    query: `WorkflowType = '${type}'`,
  })) {
    if (saved === mostPerType) break;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // Worker identities and stack traces name a machine, and the replay needs neither.
    const text = historyToJSON(history)
      .replaceAll(/"\d+@[^"]*"/g, '"worker"')
      .replaceAll(/("stackTrace": ")(?:[^"\\]|\\.)*"/g, '$1"');
    const { events } = JSON.parse(text) as SavedHistory;
    const steps = stepsOf(events);
    const shape = shapeOf(type, steps);
    if (shapes.has(shape)) continue;
    shapes.add(shape);
    const shown = [name, ...new Set(steps)].join('_').slice(0, longestName);
    writeFileSync(freePath(shown), toText(events));
    saved += 1;
  }
  console.log(`${name}: ${saved} new histories`);
}
await client.connection.close();
