import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';

export interface BesideEnd {
  /** The last line of its report. */
  lastLine: string;
  seconds: number;
  isRed: boolean;
}

/**
 * Runs the Compose tests beside the others, because they wait most of their time. Prints their output in one piece
 * when they have ended.
 */
export const runComposeBeside = () => {
  const root = resolve(import.meta.dirname, '../../..');
  const startedAt = performance.now();
  const args = [join(import.meta.dirname, 'main.ts'), '--config', 'test/compose/vitest.config.ts'];
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    cwd: root,
    // A session of its own: the kernel shares the cores between sessions first, so neither of the two starves.
    detached: true,
    // The channel tells it that this process has gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<BesideEnd>((resolveEnd) => {
    child.once('close', (code, signal) => {
      const isRed = code !== 0;
      const how = signal ?? `code ${code}`;
      process.stdout.write(`\n--- The Compose tests ended with ${how} ---\n${output}---\n`);
      const lastLine = output.trimEnd().split('\n').at(-1) ?? '';
      resolveEnd({ lastLine, seconds: (performance.now() - startedAt) / 1000, isRed });
    });
  });
  return { ended, stop: () => child.kill('SIGTERM') };
};
