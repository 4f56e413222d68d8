import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isAlive, readIdentities } from './identity.ts';

/** Given back by whoever took it; what a killed process left is taken over by the next. */
export interface Lock {
  release(): void;
}

/** @returns the lock, or the pid of the process that has it. */
export const takeLock = (path: string): Lock | number => {
  const mine = `${path}.${process.pid}`;
  const aside = `${mine}.stale`;
  writeFileSync(mine, JSON.stringify([identify(process.pid)]), { mode: 0o600 });
  try {
    for (;;) {
      if (made(() => linkSync(mine, path))) return { release: () => rmSync(path, { force: true }) };
      const holder = livingHolder(path);
      if (holder) return holder;
      // Of two who find a dead holder's lock one moves it away. It may be the other's new one by now.
      if (!made(() => renameSync(path, aside))) continue;
      if (livingHolder(aside)) made(() => linkSync(aside, path));
    }
  } finally {
    rmSync(mine, { force: true });
    rmSync(aside, { force: true });
  }
};

const livingHolder = (path: string): number | undefined => readIdentities(path)?.find(isAlive)?.pid;

const made = (change: () => void): boolean => {
  try {
    change();
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
};
