import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startTimeOf } from '../../../stack/processes.ts';

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
