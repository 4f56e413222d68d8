import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTerminal } from '../../../stack/terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('prints how long a slow step has taken, every 15 seconds until it is done', () => {
  const lines: string[] = [];
  const done = createTerminal((line) => lines.push(line)).progress('Compiling: it is slow.');
  vi.advanceTimersByTime(75_000);
  done();
  vi.advanceTimersByTime(60_000);
  const times = ['0:15', '0:30', '0:45', '1:00', '1:15'];
  expect(lines).toEqual(['Compiling: it is slow.', ...times.map((time) => `Compiling … ${time}`)]);
});
