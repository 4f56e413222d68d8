import { describe, expect, it } from 'vitest';
import { nextStep } from '../../../webhooks/schedule.ts';
import type { LedgerRow } from '../../../postgres/deliveries.ts';

const minuteMs = 60_000;
const start = Date.UTC(2030, 0, 1);
const at = (ms: number) => new Date(start + ms);

/** As many completed failures, each 2 s long, at the start of the time. */
const failures = (count: number, firstNumber = 1): LedgerRow[] =>
  Array.from({ length: count }, (_, index) => ({
    number: firstNumber + index,
    scheduledAt: at(0),
    startedAt: at(0),
    completed: true,
    durationMs: 2_000,
  }));
const cutShort = (number: number): LedgerRow => ({
  number,
  scheduledAt: at(0),
  startedAt: at(0),
  completed: false,
  durationMs: null,
});
/** By the engine's clock, from which the worker's differs. */
const after = (attempts: LedgerRow[], ms: number, aheadMs = 0) =>
  nextStep(
    { attempts, highestNumber: attempts.at(-1)?.number ?? 0 },
    { cameAt: at(ms), now: at(ms + aheadMs) },
  );

describe('nextStep', () => {
  it('begins at once', () => {
    expect(after([], 0)).toEqual({ kind: 'attempt', number: 1, indexInRound: 1 });
  });

  it.each([
    [1, 1],
    [2, 5],
    [3, 30],
    [4, 120],
    [5, 720],
  ])('after failure %i waits %i minutes from its end, no less', (count, minutes) => {
    const dueMs = 2_000 + minutes * minuteMs;
    const next = { kind: 'attempt', number: count + 1, indexInRound: count + 1 };
    expect(after(failures(count), dueMs)).toEqual(next);
    expect(after(failures(count), dueMs - 1_000)).toEqual({ kind: 'wait', ms: 1_000 });
    expect(after(failures(count), 2_000)).toEqual({ kind: 'wait', ms: minutes * minuteMs });
  });

  it('reckons from where the attempt began, however long it had waited in the queue', () => {
    const [failure] = failures(1);
    const late = [{ ...failure!, startedAt: at(59_000) }]; // There is one.
    expect(after(late, 60_000)).toEqual({ kind: 'wait', ms: minuteMs });
    expect(after(late, 59_000 + 2_000 + minuteMs)).toMatchObject({ kind: 'attempt' });
    // A test has skipped time: the engine's clock is ahead.
    const skipped = [{ ...failure!, startedAt: at(-3_600_000) }];
    expect(after(skipped, 2_000 + minuteMs, -3_600_000)).toMatchObject({ kind: 'attempt' });
  });

  it('waits as much longer as the attempt waited in the queue, and not as the clocks differ', () => {
    const [failure] = failures(1);
    const queued = [{ ...failure!, startedAt: at(10_000) }];
    expect(after(queued, 2_000 + minuteMs, -3_600_000)).toEqual({ kind: 'wait', ms: 10_000 });
  });

  it.each([-600_000, -2_000, 2_000, 600_000])(
    'keeps the delay where the worker’s clock is %i ms off',
    (aheadMs) => {
      const [failure] = failures(1);
      const attempts = [{ ...failure!, startedAt: at(aheadMs) }];
      expect(after(attempts, 2_000 + minuteMs, aheadMs)).toMatchObject({ kind: 'attempt' });
    },
  );

  it('does not come early by a clock that is ahead of the engine’s', () => {
    const hourMs = 60 * minuteMs;
    expect(after(failures(3), minuteMs, hourMs)).toMatchObject({ kind: 'wait' });
  });

  it('never waits longer than the documented delay, whatever the clocks say', () => {
    expect(after(failures(1), -3_600_000)).toEqual({ kind: 'wait', ms: minuteMs });
  });

  it.each([1, 3, 6])('repeats number %i when it was cut short, at once', (number) => {
    const attempts = [...failures(number - 1), cutShort(number)];
    expect(after(attempts, 0)).toEqual({ kind: 'attempt', number, indexInRound: number });
  });

  it('FS-25: is exhausted after six failures, and not before', () => {
    expect(after(failures(6), 99 * 24 * 60 * minuteMs)).toEqual({ kind: 'exhausted' });
    expect(after(failures(5), 99 * 24 * 60 * minuteMs)).toMatchObject({ kind: 'attempt' });
  });

  it('FS-27: numbers on in a new round, which begins at once and has six of its own', () => {
    const next = (attempts: LedgerRow[], highestNumber: number) =>
      nextStep({ attempts, highestNumber }, { cameAt: at(0), now: at(0) });
    expect(next([], 6)).toEqual({ kind: 'attempt', number: 7, indexInRound: 1 });
    expect(next([...failures(5, 7), cutShort(12)], 12)).toEqual({
      kind: 'attempt',
      number: 12,
      indexInRound: 6,
    });
    expect(next(failures(6, 7), 12)).toEqual({ kind: 'exhausted' });
  });
});
