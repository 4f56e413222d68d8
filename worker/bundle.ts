import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** Builds the workflow bundle ahead, in a process of its own: webpack would stay in the worker's memory. */
const [output] = process.argv.slice(2);
if (!output) {
  console.error('Say where the bundle goes: node worker/bundle.ts FILE');
  process.exit(1);
}
const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const { code } = await bundleWorkflowCode({
  workflowsPath,
  logger: { trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error, log() {} },
});
writeFileSync(`${output}.part`, code);
renameSync(`${output}.part`, output);
