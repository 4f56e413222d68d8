import { readFileSync } from 'node:fs';
import { TestWorkflowEnvironment } from '@temporalio/testing';

/**
 * Leaves the Temporal CLI in the folder it is given. The SDK downloads only to start a server, so
 * one is started, in memory, and stopped.
 */
const [, , downloadDir = '.'] = process.argv;
const version = /temporalio\/cli (v\S+)/.exec(
  readFileSync(new URL('./go.mod', import.meta.url), 'utf8'),
)?.[1];
process.on('disconnect', () => process.exit(1));
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version: version ?? 'default' } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message.replaceAll('\n', ' ') : error);
  process.exit(1);
}
