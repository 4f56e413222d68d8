import type { Running } from '../../stack/launch.ts';

/** What a process is of the whole. */
export type Part = 'api' | 'worker' | 'temporal' | 'postgres';

/** From one spawn to its end, in milliseconds since 1970. */
export interface Life {
  spawnedAt: number;
  /** Undefined where it ended before it was up. */
  readyAt?: number;
  endedAt?: number;
}

/** A process of the production shape, over all its lives. */
export interface Member {
  name: string;
  part: Part;
  lives: Life[];
  isUp(): boolean;
  /** SIGKILL, as a power cut would be; whoever keeps it starts it again. @returns whether it lived */
  kill(): boolean;
  /** For whoever keeps it. */
  begin(start: (onSpawn: (pid: number) => void) => Promise<Running>): Promise<Running>;
}

export const createMember = (name: string, part: Part): Member => {
  const lives: Life[] = [];
  let alive: number | undefined;
  return {
    name,
    part,
    lives,
    isUp() {
      const last = lives.at(-1);
      return last?.readyAt !== undefined && last.endedAt === undefined;
    },
    kill() {
      if (alive === undefined) return false;
      try {
        return process.kill(alive, 'SIGKILL');
      } catch {
        return false; // It has just ended by itself.
      }
    },
    async begin(start) {
      const life: Life = { spawnedAt: Date.now() };
      lives.push(life);
      const end = () => {
        life.endedAt ??= Date.now();
        alive = undefined;
      };
      try {
        const running = await start((pid) => (alive = pid));
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
