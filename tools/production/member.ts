import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Launch, type RunningProcess } from '../../stack/processes.ts';
import { until } from '../../test/support/until.ts';

export type Part = 'api' | 'worker' | 'temporal' | 'postgres';

/** One process from its spawn to its end, in milliseconds since 1970. */
export interface Life {
  spawnedAt: number;
  /** Undefined if it could not be spawned. */
  pid?: number;
  /** Undefined if it ended before it was ready. */
  readyAt?: number;
  endedAt?: number;
  /** The end in words, if the process had been ready. */
  end?: string;
}

/** A process of the production shape, which is started again whenever it ends. */
export interface Member {
  name: string;
  part: Part;
  /** The name without its last number: `worker` of `worker-1` and `worker-2`. */
  role: string;
  lives: Life[];
  isUp(): boolean;
  /** Starts it for the first time, or after `stop`. Rejects when that fails. */
  start(): Promise<void>;
  /** Sends SIGKILL, as a power cut would. Returns whether the process was alive. */
  kill(): boolean;
  /** Sends SIGTERM, as a deployment does, and waits until the next process is ready. */
  restart(): Promise<void>;
  /** Stops it until `start`. */
  stop(): Promise<void>;
}

export interface MemberOptions {
  name: string;
  part: Part;
  /** Launches the process by the given function, and waits until it is ready. */
  start: (launch: Launch) => Promise<RunningProcess>;
  /** Must be up before it is started again. */
  needs?: readonly Member[];
  /** Called when the process cannot be started any more. */
  giveUp?: (reason: string) => void;
}

/** Undefined while the process is not running. */
export const pidOf = ({ lives }: Pick<Member, 'lives'>): number | undefined => {
  const { pid, endedAt } = lives.at(-1) ?? {};
  return endedAt === undefined ? pid : undefined;
};

const restartDelayMs = 250;
const maxFailedStarts = 20;
/** For its connections and calls to end, and for the next process to start on a busy machine. */
const restartTimeoutMs = 180_000;

export const createMember = (options: MemberOptions): Member => {
  const { name, part, needs = [] } = options;
  const lives: Life[] = [];
  let child: RunningProcess | undefined;
  let isStopping = false;
  let watching: Promise<void> | undefined;

  const isUp = () => {
    const last = lives.at(-1);
    return last?.readyAt !== undefined && last.endedAt === undefined;
  };
  const send = (signal: NodeJS.Signals) => {
    if (!child) return false;
    try {
      return process.kill(child.pid, signal);
    } catch {
      return false; // It has just ended.
    }
  };
  const live = async (): Promise<RunningProcess> => {
    const life: Life = { spawnedAt: Date.now() };
    lives.push(life);
    try {
      const running = await options.start((process) => {
        if (isStopping) throw new Error(`${name} is stopping`);
        const onSpawn = (spawned: RunningProcess) => {
          child = spawned;
          life.pid = spawned.pid;
        };
        return launch({ ...process, onSpawn });
      });
      life.readyAt = Date.now();
      void running.exited.then((end) => {
        life.endedAt = Date.now();
        life.end = end;
        child = undefined;
      });
      return running;
    } catch (error) {
      life.endedAt = Date.now();
      child = undefined;
      throw error;
    }
  };
  const startAgain = async (): Promise<RunningProcess | undefined> => {
    for (let failures = 0; !isStopping;) {
      await sleep(restartDelayMs);
      if (needs.some((other) => !other.isUp())) continue;
      try {
        return await live();
      } catch (error) {
        failures += 1;
        if (failures < maxFailedStarts || isStopping) continue;
        options.giveUp?.(`${name} could not be started ${failures} times: ${String(error)}`);
        return undefined;
      }
    }
    return undefined;
  };
  const watch = async (first: RunningProcess) => {
    for (let running: RunningProcess | undefined = first; running; running = await startAgain())
      await running.exited;
  };

  return {
    name,
    part,
    role: name.replace(/-\d+$/, ''),
    lives,
    isUp,
    async start() {
      isStopping = false;
      watching = watch(await live());
    },
    kill: () => send('SIGKILL'),
    async restart() {
      const { length } = lives;
      send('SIGTERM');
      await until(`${name} is up again`, () => lives.length > length && isUp(), restartTimeoutMs);
    },
    async stop() {
      isStopping = true;
      await child?.stop();
      await watching;
    },
  };
};
