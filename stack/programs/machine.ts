import { execFile, type ExecFileException } from 'node:child_process';
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
  /** A download that gets nothing for this long is given up: the next way may work. Default: 15,000. */
  patienceMs?: number;
  /** A program that has not answered by then is stopped. Default: 180,000. */
  answerMs?: number;
}

/** This machine lacks a program, and cannot get it. */
export class MissingProgram extends SetupError {}

export const thisMachine = () => ({ ...readStackConfig(), terminal: createTerminal() });

export const defaultPatienceMs = 15_000;
const defaultAnswerMs = 180_000;
const sayAfterMs = 5_000;

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

/**
 * The output of a command; undefined when it fails.
 * @throws SetupError when it does not answer: a busy machine says nothing about the program
 */
export const outputOf = async (
  command: string,
  args: string[],
  { inherited, terminal, answerMs = defaultAnswerMs }: Machine,
): Promise<string | undefined> => {
  const options = {
    env: inherited,
    // In `/` Go says its own version, not the one that it would fetch for a module.
    cwd: '/',
    timeout: answerMs,
    killSignal: 'SIGKILL',
  } as const;
  const isLate = setTimeout(() => terminal.say(`Waiting for ${command} …`), sayAfterMs);
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    if (!isNoAnswer(error as ExecFileException)) return undefined;
    throw new SetupError(
      `${command} did not answer within ${answerMs / 1000} s: try again when this machine is less busy.`,
      { cause: error },
    );
  } finally {
    clearTimeout(isLate);
  }
};

/** SIGKILL is the end of the time, or the system's when it has no memory. */
const isNoAnswer = ({ signal, code }: ExecFileException): boolean =>
  signal === 'SIGKILL' || ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'].includes(String(code));

/** Compares the numbers of two dotted versions. */
export const isAtLeast = (version: string, needed: string): boolean =>
  version.localeCompare(needed, 'en', { numeric: true }) >= 0;

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
