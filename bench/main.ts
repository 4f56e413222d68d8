import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import { runBench } from './bench.ts';
import type { Figure } from './figure.ts';
import { groupsNamed, usage } from './groups.ts';
import { tableOf } from './table.ts';

const output = join(import.meta.dirname, 'latest.json');

const cleanup = new AsyncDisposableStack();
const interrupted = new AbortController();

const leave = async (code: number) => {
  await cleanup.disposeAsync().catch((error: unknown) => console.error(error));
  process.exit(code);
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interrupted.abort();
    void leave(1);
  });

const report = (figures: readonly Figure[], tookSeconds: number) => {
  const text = JSON.stringify({ at: new Date().toISOString(), tookSeconds, figures }, undefined, 2);
  writeFileSync(output, `${text}\n`);
  console.log(`\n${tableOf(figures)}\n\nTook ${tookSeconds} s; the same is in bench/latest.json.`);
};

try {
  const began = performance.now();
  const config = readStackConfig();
  const wanted = groupsNamed(process.argv.slice(2));
  if (!wanted) throw new SetupError(`Usage: ${usage}`);
  const { signal } = interrupted;
  const figures = await runBench({ config, wanted, cleanup, signal, say: console.log });
  await cleanup.disposeAsync();
  report(figures, Math.round((performance.now() - began) / 1000));
  process.exitCode = figures.some(({ holds }) => holds === false) ? 1 : 0;
} catch (error) {
  // What was interrupted fails for that reason alone, and is being cleaned up already.
  if (!interrupted.signal.aborted) {
    console.error(error instanceof SetupError ? error.message : error);
    await leave(1);
  }
}
