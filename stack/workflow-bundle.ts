import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../process.ts';
import { type Log, reasonIn } from './logs.ts';
import { type Launch, launch } from './processes.ts';
import { createTerminal, type Terminal } from './terminal.ts';

export interface BundleOptions {
  /** The checkout. */
  root: string;
  /** Holds the newest bundle. */
  folder: string;
  /** The program that writes the bundle, relative to the checkout. */
  entry: string;
  env: Record<string, string>;
  log: Log;
  terminal?: Terminal;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
}

/**
 * Builds the workflow bundle when a source has changed. Another process does it, because webpack's
 * memory would stay with the worker.
 * @returns its path
 */
export const bundleWorkflows = async (options: BundleOptions): Promise<string> => {
  const { root, folder, env, log, terminal = createTerminal(), start = launch } = options;
  mkdirSync(folder, { recursive: true });
  const name = `workflows-${hashSources(root)}.js`;
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const errors: string[] = [];
  const bundle = async () => {
    const bundler = await start({
      name: 'bundler',
      command: process.execPath,
      args: [join(root, options.entry), path],
      env,
      onLine: (line, from) => {
        log.write(line, from);
        if (from === 'stderr') errors.push(line);
      },
    });
    return bundler.exited;
  };
  const line = 'Bundling the workflows: their code is new. This happens once.';
  const end = await terminal.step(line, bundle);
  if (end !== 'ended with code 0')
    throw new SetupError(
      `The workflows could not be bundled, the bundler ${end}${reasonIn(errors)}. Its log is ${log.path}.`,
    );
  for (const other of readdirSync(folder)) if (other !== name) rmSync(join(folder, other));
  return path;
};

const hashSources = (root: string): string => {
  const hash = createHash('sha256');
  const files = ['workflows', 'contract', 'temporal'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  for (const name of [...files, 'package-lock.json', 'worker/workflow-bundle.ts'].sort())
    if (existsSync(join(root, name)))
      hash.update(`${name}\0`).update(readFileSync(join(root, name)));
  return hash.digest('hex').slice(0, 16);
};
