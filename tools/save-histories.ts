import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { version } from '../contract/version.ts';
import {
  type HistoryEvent,
  isOpen,
  kebab,
  stepsOf,
  toText,
  typeOf,
  waitsOf,
} from './history-file.ts';

const mostPerType = 20;
const longestName = 120;

interface SavedHistory {
  events: HistoryEvent[];
}

/**
 * Saves histories of workflows from a running server for the replay test, in the folder of this version, unless one of any
 * version shows the same: `npm run save-histories -- 127.0.0.1:7233`. The names list the steps; give them better ones.
 */
const [address] = process.argv.slice(2);
if (!address) {
  console.error('Usage: npm run save-histories -- ADDRESS');
  process.exit(1);
}
const all = join(import.meta.dirname, '../test/histories');
const folder = join(all, version);
mkdirSync(folder, { recursive: true });
const shapeOf = (events: readonly HistoryEvent[]) =>
  [typeOf(events), ...stepsOf(events), ...(isOpen(events) ? waitsOf(events).pending : [])].join();
const shapes = new Set(
  globSync('**/*.json', { cwd: all }).map((file) => {
    const { events } = JSON.parse(readFileSync(join(all, file), 'utf8')) as SavedHistory;
    return shapeOf(events);
  }),
);

const saved = new Map<string, number>();
const client = new Client({ connection: await Connection.connect({ address }) });
for await (const { type, workflowId, runId } of client.workflow.list()) {
  const count = saved.get(type) ?? 0;
  if (count === mostPerType) continue;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  // Worker identities and stack traces name a machine, and the replay needs neither.
  const text = historyToJSON(history)
    .replaceAll(/"\d+@[^"]*"/g, '"worker"')
    .replaceAll(/("stackTrace": ")(?:[^"\\]|\\.)*"/g, '$1"');
  const { events } = JSON.parse(text) as SavedHistory;
  const shape = shapeOf(events);
  if (shapes.has(shape)) continue;
  shapes.add(shape);
  saved.set(type, count + 1);
  const state = isOpen(events) ? 'open' : 'ended';
  const steps = [kebab(type), state, ...new Set(stepsOf(events))].join('_').slice(0, longestName);
  // `wx`: a saved history never changes.
  writeFileSync(join(folder, `${steps}_${runId}.json`), toText(events), { flag: 'wx' });
}
for (const [type, count] of saved) console.log(`${type}: ${count} new histories`);
await client.connection.close();
