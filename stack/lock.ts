import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export interface Lock {
  release(): void;
}

const busy = 5; // https://www.sqlite.org/rescode.html#busy

/**
 * SQLite's lock on a file: the kernel releases it when the process ends, by kill -9 too. Lock files with
 * a time or a process id would have to be judged stale.
 * @returns undefined when another process has it
 */
export const takeLock = (path: string): Lock | undefined => {
  closeSync(openSync(path, 'a', 0o600)); // SQLite would let everybody read it.
  const database = new DatabaseSync(path);
  try {
    database.exec('begin immediate');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined;
    throw error;
  }
};
