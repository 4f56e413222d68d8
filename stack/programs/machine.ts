import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readStackConfig } from '../../config.ts';
import { SetupError } from '../../process.ts';
import { type Lock, takeLock } from '../lock.ts';
import type { Launch } from '../processes.ts';
import { createTerminal, type Terminal } from '../terminal.ts';

/** The places in which programs are found, and the cache of those that are fetched or built. */
export interface Machine {
  CACHE_DIR?: string | undefined;
  /** The environment: its PATH is searched, and the tools that fetch and build get all of it. */
  inherited: Record<string, string>;
  terminal: Terminal;
  /** Replaces `launch`, to keep track of what was started. */
  start?: Launch;
  /** A download that gets nothing for this long is given up: the next way may work. Default: 5,000. */
  patienceMs?: number;
}

/** This machine lacks a program, and cannot get it. */
export class MissingProgram extends SetupError {}

export const thisMachine = () => ({ ...readStackConfig(), terminal: createTerminal() });

export const defaultPatienceMs = 5_000;

/**
 * A path in the cache folder, which checkouts share. It names what its content is made from, so it is
 * never stale.
 */
export const cachePath = (
  { CACHE_DIR = join(homedir(), '.cache', 'payments') }: Machine,
  name: string,
  madeFrom: (string | Buffer)[],
): string => {
  const hash = createHash('sha256');
  for (const part of madeFrom) hash.update(part);
  const key = hash.digest('hex').slice(0, 16);
  return join(CACHE_DIR, `${name}-${key}-${process.platform}-${process.arch}`);
};

/** One process at a time makes the file or folder; others that need it wait. */
export const withLock = async <T>(
  target: string,
  { terminal }: Machine,
  work: () => Promise<T>,
): Promise<T> => {
  mkdirSync(dirname(target), { recursive: true });
  const take = async (): Promise<Lock> => {
    for (;;) {
      const lock = takeLock(`${target}.lock`);
      if (lock) return lock;
      await sleep(200);
    }
  };
  const lock = await terminal.step(`Waiting for ${target}: another process is making it.`, take);
  return work().finally(lock.release);
};

export const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

export const findOnPath = (name: string, { inherited: { PATH = '' } }: Machine): string[] =>
  PATH.split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .filter(isProgram);

/** The output of a command; undefined when it fails. */
export const outputOf = async (
  command: string,
  args: string[],
  env: Record<string, string>,
): Promise<string | undefined> => {
  // In `/` Go says its own version, not the one that it would fetch for a module.
  const run = promisify(execFile)(command, args, { env, cwd: '/', timeout: 15_000 });
  return run.then(({ stdout }) => stdout).catch(() => undefined);
};

/** Compares the numbers of two dotted versions. */
export const isAtLeast = (version: string, needed: string): boolean =>
  version.localeCompare(needed, 'en', { numeric: true }) >= 0;

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
