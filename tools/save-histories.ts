import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const [address, folder] = process.argv.slice(2);
const mostPerType = 8;

/**
 * Saves histories of closed workflows from a running server, one of each sequence of events, for
 * the replay test: `npm run save-histories -- 127.0.0.1:7233 test/histories/VERSION`
 */
if (import.meta.main) {
  if (!address || !folder) {
    console.error('Say where the server is and which folder to fill: ADDRESS FOLDER');
    process.exit(1);
  }
  const client = new Client({ connection: await Connection.connect({ address }) });
  mkdirSync(folder, { recursive: true });
  for (const type of ['payment', 'late', 'sweep']) {
    const shapes = new Set<string>();
    const query = `WorkflowType = '${type}' AND ExecutionStatus != 'Running'`;
    for await (const { workflowId, runId } of client.workflow.list({ query })) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const shape = (history.events ?? []).map(({ eventType }) => eventType).join();
      if (shapes.has(shape) || shapes.size === mostPerType) continue;
      shapes.add(shape);
      // Who worked on it and where its code lay name a machine, and the replay needs neither.
      const text = historyToJSON(history)
        .replaceAll(/"\d+@[^"]*"/g, '"worker"')
        .replaceAll(/("stackTrace": ")(?:[^"\\]|\\.)*"/g, '$1"');
      writeFileSync(join(folder, `${type}-${shapes.size}.json`), `${text}\n`);
    }
    console.log(`${type}: ${shapes.size} histories`);
  }
  await client.connection.close();
}
