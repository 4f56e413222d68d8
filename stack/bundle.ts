import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../process.ts';
import { launch, onAbort } from './launch.ts';
import { type Log, reasonOf } from './logs.ts';
import type { Terminal } from './terminal.ts';

export interface BundleOptions {
  /** The checkout. */
  root: string;
  /** Where bundles are kept; only the newest one is. */
  folder: string;
  entry: string;
  env: Record<string, string>;
  log: Log;
  terminal: Terminal;
  onSpawn: (pid: number) => void;
  signal: AbortSignal;
}

/**
 * The workflow bundle, built ahead in a process of its own: webpack's memory would stay with the
 * worker. Built again only when a source changed.
 * @returns its path
 */
export const bundleWorkflows = async (options: BundleOptions): Promise<string> => {
  const { root, folder, log, terminal, signal } = options;
  mkdirSync(folder, { recursive: true });
  const name = `workflows-${hashOfSources(root)}.js`;
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const done = terminal.progress('Bundling the workflows: their code is new. This happens once.');
  const said: string[] = [];
  const bundler = await launch({
    command: process.execPath,
    args: [join(root, options.entry), path],
    env: options.env,
    ipc: true,
    onSpawn: options.onSpawn,
    onLine: (line, from) => {
      log.write(line, from);
      if (from === 'stderr') said.push(line);
    },
  });
  const stop = () => void bundler.end([['SIGKILL', 1000]]);
  const forget = onAbort(signal, stop);
  const how = await bundler.exited;
  forget();
  done();
  if (how !== 'ended with code 0')
    throw new SetupError(
      `The workflows could not be bundled, the bundler ${how}${reasonOf(said)}. Its log is ${log.path}.`,
    );
  for (const other of readdirSync(folder)) if (other !== name) rmSync(join(folder, other));
  return path;
};

const hashOfSources = (root: string): string => {
  const hash = createHash('sha256');
  const files = ['workflows', 'contract'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  for (const name of [...files, 'package-lock.json', 'worker/workflow-bundle.ts'].sort())
    if (existsSync(join(root, name)))
      hash.update(`${name}\0`).update(readFileSync(join(root, name)));
  return hash.digest('hex').slice(0, 16);
};
