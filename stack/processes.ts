import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically } from './files.ts';
import { type Identity, identify, isAlive, readIdentities } from './identity.ts';

const gentleMs = 2000;

/** Which processes are ours, on disk, so that a start after a kill -9 finds those that outlived it. */
export const createProcesses = (path: string) => {
  let ours: Identity[] = [];
  return {
    add: (pid: number): void => {
      ours = [...ours.filter(isAlive), identify(pid)];
      // Not flushed: no process outlives the machine, and one that is killed meanwhile would leave an
      // orphan that is not written down.
      writeAtomically(path, JSON.stringify(ours), { flush: false });
    },
    /** Without a chance to end by themselves. */
    kill: (): void => {
      for (const one of ours.filter(isAlive)) send(one, 'SIGKILL');
    },
    /** Ends what a former stack left, and nothing whose pid belongs to somebody else by now. */
    async stopOrphans(): Promise<number> {
      const orphans = (readIdentities(path) ?? []).filter(isAlive);
      for (const [signal, waitMs] of [
        // Which all of them know, and at which Postgres does not wait for its clients.
        ['SIGINT', gentleMs],
        ['SIGKILL', 1000],
      ] as const) {
        for (const orphan of orphans.filter(isAlive)) send(orphan, signal);
        for (const until = Date.now() + waitMs; Date.now() < until; await sleep(20))
          if (!orphans.some(isAlive)) return orphans.length;
      }
      return orphans.length;
    },
  };
};

const send = ({ pid }: Identity, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended just now, or is another user's; then its port is what stops this start.
  }
};
