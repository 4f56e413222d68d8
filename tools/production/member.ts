import type { Running } from '../../stack/launch.ts';
import { until } from '../../test/support/until.ts';

/** What a process is of the whole. */
export type Part = 'api' | 'worker' | 'temporal' | 'postgres';

/** From one spawn to its end, in milliseconds since 1970. */
export interface Life {
  spawnedAt: number;
  /** Undefined where it could not be spawned. */
  pid?: number;
  /** Undefined where it ended before it was up. */
  readyAt?: number;
  endedAt?: number;
  /** How it ended, in words, where it had been up. */
  how?: string;
}

/** A process of the production shape, over all its lives. */
export interface Member {
  name: string;
  part: Part;
  lives: Life[];
  isUp(): boolean;
  /** SIGKILL, as a power cut would be; whoever keeps it starts it again. @returns whether it lived */
  kill(): boolean;
  /** SIGTERM, as a deploy does. @returns when it is gone and the next one is up */
  restart(): Promise<void>;
  /** For whoever keeps it. */
  begin(start: (onSpawn: (pid: number) => void) => Promise<Running>): Promise<Running>;
}

/** It may wait for its connections and calls, and then has to start. */
const restartMs = 60_000;

export const createMember = (name: string, part: Part): Member => {
  const lives: Life[] = [];
  let alive: number | undefined;
  const isUp = () => {
    const last = lives.at(-1);
    return last?.readyAt !== undefined && last.endedAt === undefined;
  };
  const send = (signal: NodeJS.Signals) => {
    if (alive === undefined) return false;
    try {
      return process.kill(alive, signal);
    } catch {
      return false; // It has just ended by itself.
    }
  };
  return {
    name,
    part,
    lives,
    isUp,
    kill: () => send('SIGKILL'),
    async restart() {
      const { length } = lives;
      send('SIGTERM');
      await until(`${name} is up again`, () => lives.length > length && isUp(), restartMs);
    },
    async begin(start) {
      const life: Life = { spawnedAt: Date.now() };
      lives.push(life);
      const end = (how?: string) => {
        life.endedAt ??= Date.now();
        if (how !== undefined) life.how = how;
        alive = undefined;
      };
      try {
        const running = await start((pid) => (life.pid = alive = pid));
        life.readyAt = Date.now();
        void running.exited.then(end);
        return running;
      } catch (error) {
        end();
        throw error;
      }
    },
  };
};
