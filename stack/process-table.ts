import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeAtomically } from './data-folder.ts';
import { launch, type Launch, type RunningProcess, signalGroup } from './processes.ts';
import { startTimeOf } from './system-processes.ts';

/** The start tells a process from a later one with the same id. */
const Entry = z.object({ name: z.string(), pid: z.int(), startedAt: z.string() });
type Entry = z.infer<typeof Entry>;

/** The processes in the file that still run; none where the file is missing or torn. */
export const readProcessTable = (path: string): Entry[] => {
  try {
    return z
      .array(Entry)
      .parse(JSON.parse(readFileSync(path, 'utf8')))
      .filter(isAlive);
  } catch {
    return [];
  }
};

const isAlive = ({ pid, startedAt }: Entry) => startedAt !== '' && startTimeOf(pid) === startedAt;

/** The processes of one stack, on disk: after a kill -9 the next start finds those that outlived it. */
export const createProcessTable = (path: string) => {
  const running = new Map<RunningProcess, Entry>();
  let isClosed = false;

  const add = (child: RunningProcess) => {
    const { name, pid, exited } = child;
    running.set(child, { name, pid, startedAt: startTimeOf(pid) });
    void exited.then(() => running.delete(child));
    try {
      // Not flushed: no process outlives the machine.
      writeAtomically(path, JSON.stringify([...running.values()]), { flush: false });
    } catch (error) {
      signalGroup(pid, 'SIGKILL'); // The next start could not find it.
      throw error;
    }
  };
  const start: Launch = (options) => {
    if (isClosed) throw new Error('The stack is stopping.');
    return launch({ ...options, onSpawn: add });
  };

  return {
    start,
    /** From now on nothing starts. */
    close: () => void (isClosed = true),
    stop: async (isChosen: (name: string) => boolean): Promise<void> => {
      const chosen = [...running.keys()].filter(({ name }) => isChosen(name));
      await Promise.all(chosen.map((child) => child.stop()));
    },
    kill: () => {
      for (const { pid } of running.keys()) signalGroup(pid, 'SIGKILL');
    },
    /** Ends the processes that an earlier stack left. Returns how many there were. */
    async stopOrphans(): Promise<number> {
      const orphans = readProcessTable(path);
      const send = async (signal: NodeJS.Signals, waitMs: number) => {
        for (const { pid } of orphans) signalGroup(pid, signal);
        for (const end = Date.now() + waitMs; orphans.some(isAlive) && Date.now() < end;)
          await sleep(50);
      };
      // Every program ends on SIGINT; on SIGTERM Postgres would wait for its clients.
      await send('SIGINT', 2000);
      await send('SIGKILL', 1000);
      return orphans.length;
    },
  };
};
export type ProcessTable = ReturnType<typeof createProcessTable>;
