import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTerminal } from '../../../stack/terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('prints what a step does once it takes longer than 2 seconds, and how far it is until it is done', async () => {
  const lines: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const { step } = createTerminal((line) => lines.push(line));
  const done = step(
    'Downloading: it is slow.',
    () => promise,
    () => '3 MB',
  );
  vi.advanceTimersByTime(1_900);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(9_000);
  resolve('all');
  expect(await done).toBe('all');
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([
    'Downloading: it is slow.',
    'Downloading … 0:05, 3 MB',
    'Downloading … 0:10, 3 MB',
  ]);
});
