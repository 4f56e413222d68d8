import { renameSync, writeFileSync } from 'node:fs';
import { buildBundle } from './workflow-bundle.ts';

/** Builds the workflow bundle ahead, in a process of its own: webpack would stay in the worker's memory. */
const [output] = process.argv.slice(2);
if (!output) {
  console.error('Say where the bundle goes: node worker/bundle.ts FILE');
  process.exit(1);
}
const { code } = await buildBundle();
// Onto the disk: a name that survives a power cut must not have an empty file behind it.
writeFileSync(`${output}.part`, code, { flush: true });
renameSync(`${output}.part`, output);
