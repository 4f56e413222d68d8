import { readFileSync } from 'node:fs';
import { killGroup } from '../launch.ts';

// Who started this has gone, and nobody waits for the program any more: with the server it has started.
const giveUp = () => killGroup(process.pid);
process.on('disconnect', giveUp);
if (!process.connected) giveUp();

const goMod = readFileSync(new URL('./go.mod', import.meta.url), 'utf8');
const [, version = 'default'] = /temporalio\/cli (v\S+)/.exec(goMod) ?? [];
const [, , downloadDir = '.'] = process.argv;
/**
 * Leaves the Temporal CLI in the folder it is given. The SDK downloads only to start a server, so
 * one is started, in memory, and stopped.
 */
try {
  // Loaded only now: it takes a while, and who started this may have gone meanwhile.
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message.replaceAll('\n', ' ') : error);
  process.exit(1);
}
