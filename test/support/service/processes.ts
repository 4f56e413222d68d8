import { join } from 'node:path';
import { type RunningProcess, startProgram } from '../../../stack/processes.ts';
import { serviceCompileCache } from '../../../tools/production/compile-cache.ts';
import { onFewCores } from '../runner/on-few-cores.ts';

/** A process of the service that a test can kill and restart. */
export interface TestProcess {
  pid(): number;
  /** All log lines, over all restarts. */
  lines: string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Sends SIGKILL, which is like a power cut. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

export const createProcess = (
  name: string,
  entry: string,
  env: Record<string, string>,
): TestProcess => {
  let running: RunningProcess | undefined;
  const lines: string[] = [];
  const alive = () => {
    if (!running) throw new Error(`${name} is not running`);
    return running;
  };
  return {
    lines,
    pid: () => alive().pid,
    async start() {
      running = await startProgram({
        name,
        args: [...onFewCores, join(import.meta.dirname, '../../..', entry)],
        env: { ...env, NODE_COMPILE_CACHE: serviceCompileCache },
        stopMs: 15_000,
        log: { path: '(in the test)', write: (line) => lines.push(line) },
      });
    },
    async stop() {
      await running?.stop();
      running = undefined;
    },
    async kill() {
      const { pid, exited } = alive();
      process.kill(pid, 'SIGKILL');
      await exited;
      running = undefined;
    },
    signal: (signal) => process.kill(alive().pid, signal),
  };
};
