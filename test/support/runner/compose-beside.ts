import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
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
    // A session of its own, which the kernel may give a share of the cores of its own.
    detached: true,
    // The channel tells it that this process has gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  if (child.pid !== undefined) prefer(child.pid);
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

/** Its share of a core is three times that of a process with the usual 0. With less all others would starve. */
const preferred = -5;

/**
 * Its upgrade without a failed request needs a machine that answers, while the other tests only take longer. The
 * system may refuse: it lets only root do this.
 */
const prefer = (pid: number) => {
  const attempts = [
    () => setPriority(pid, preferred),
    () => writeFileSync(`/proc/${pid}/autogroup`, String(preferred)),
  ];
  for (const attempt of attempts)
    try {
      attempt();
    } catch {}
};
