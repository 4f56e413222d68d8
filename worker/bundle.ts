import '../node-version.mjs';
import { renameSync, writeFileSync } from 'node:fs';

/** Builds the workflow bundle in a process of its own: webpack would stay in the worker's memory. */
const [output, workflowsPath] = process.argv.slice(2);
if (!output) {
  console.error('Usage: node worker/bundle.ts FILE [WORKFLOWS]');
  process.exit(1);
}
const { buildBundle } = await import('./workflow-bundle.ts');
const { code } = await buildBundle(workflowsPath);
// Flushed to the disk first: after a power cut the name must not belong to an empty file.
writeFileSync(`${output}.part`, code, { flush: true });
renameSync(`${output}.part`, output);
