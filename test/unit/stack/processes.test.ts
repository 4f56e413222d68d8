import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLog } from '../../../stack/logs.ts';
import { startProgram } from '../../../stack/processes.ts';
import { startTimeOf } from '../../../stack/system-processes.ts';
import { aFolder } from '../../support/stack/support.ts';

it('knows when a process started from its fork on, and that it has ended', async () => {
  const starts: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    starts.push(startTimeOf(child.pid ?? 0));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(startTimeOf(child.pid ?? 0)).toBe('');
  }
  expect(starts).not.toContain('');
  expect(Number(starts.at(-1))).toBeGreaterThan(Number(starts[0]));
});

it('tells two processes apart', () => {
  expect(startTimeOf(process.pid)).toBe(startTimeOf(process.pid));
  expect(startTimeOf(process.pid)).not.toBe(startTimeOf(process.ppid));
});

describe('startProgram', () => {
  /** Starts a program with this code, and stops it once it is ready. */
  const start = async (code: string, wholeMs = 600_000) => {
    const folder = aFolder();
    const file = join(folder, 'program.mjs');
    const head =
      "import { spawn } from 'node:child_process';\nconst ready = () => process.send('ready');";
    writeFileSync(file, `${head}\n${code}`);
    const running = await startProgram({
      ...{ name: 'worker', args: [file], env: {}, stopMs: 1_000 },
      log: openLog(folder, 'worker'),
      startLimits: { idleMs: 1_000, wholeMs },
    });
    await running.stop();
  };
  // Over 2 s by the clock: a limit of idle time must pass, and each program must outlast it.
  const compute = 'for (const until = Date.now() + 2_500; Date.now() < until;);';
  const forEver = 'setInterval(() => {}, 1_000_000);';

  it.each([
    ['computes', `${compute} ready();`],
    ['writes to its log', `setInterval(() => console.log('on'), 300); setTimeout(ready, 2_500);`],
    [
      'has started one that computes',
      `spawn(process.execPath, ['--eval', '${compute}']).once('exit', ready);`,
    ],
  ])('waits for a program that %s, however long it takes', async (_, code) => {
    await expect(start(code)).resolves.toBeUndefined();
  });

  it('ends one that hangs, and says so', async () => {
    await expect(start(`console.error('Error: no key'); ${forEver}`)).rejects.toThrow(
      /^worker has done nothing for 1 s: Error: no key\. Its log is .*worker\.log\.$/,
    );
  });

  it('ends one that is busy for too long', async () => {
    await expect(start('for (;;);', 3_000)).rejects.toThrow('was not ready within 0.05 minutes');
  });
});
