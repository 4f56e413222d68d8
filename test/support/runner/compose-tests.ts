import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

export interface ComposeEnd {
  /** The last line of its report. */
  lastLine: string;
  seconds: number;
  isRed: boolean;
}

/** Runs the Compose tests, after all others: beside them they take so much of two cores that tests of time fail. */
export const runComposeTests = async (env: NodeJS.ProcessEnv): Promise<ComposeEnd> => {
  const root = resolve(import.meta.dirname, '../../..');
  const startedAt = performance.now();
  const args = [join(import.meta.dirname, 'main.ts'), '--config', 'test/compose/vitest.config.ts'];
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    cwd: root,
    env,
    // The channel tells it that this process has gone.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return {
    lastLine: output.trimEnd().split('\n').at(-1) ?? '',
    seconds: (performance.now() - startedAt) / 1000,
    isRed: code !== 0,
  };
};
