import { describe, expect, it } from 'vitest';
import type { PastAttempt } from '../../../contract/attempt.ts';
import { dayMs, hourMs, minuteMs } from '../../../contract/time.ts';
import { nextStep } from '../../../webhooks/schedule.ts';

const start = Date.UTC(2030, 0, 1);
const at = (ms: number) => new Date(start + ms);
/** An attempt with the delay that follows it; none follows the last attempt of a round. */
const attempt = (number: number, minutesAfter?: number) => ({
  kind: 'attempt',
  number,
  delayMs: minutesAfter && minutesAfter * minuteMs,
});

/** Completed failures that took 2 s each. */
const failures = (count: number, firstNumber = 1): PastAttempt[] =>
  Array.from({ length: count }, (_, index) => ({
    number: firstNumber + index,
    scheduledAt: at(0),
    startedAt: at(0),
    completed: true,
    durationMs: 2_000,
  }));
const incomplete = (number: number): PastAttempt => ({
  number,
  scheduledAt: at(0),
  startedAt: at(0),
  completed: false,
  durationMs: null,
});
/** The step at `ms` by Temporal's clock. The worker's clock is `aheadMs` ahead of it. */
const stepAt = (attempts: PastAttempt[], ms: number, aheadMs = 0) =>
  nextStep(
    { attempts, highestNumber: attempts.at(-1)?.number ?? 0, atOnce: false },
    { dueAt: at(ms), now: at(ms + aheadMs) },
  );

describe('nextStep', () => {
  it('makes the first attempt at once', () => {
    expect(stepAt([], 0)).toEqual(attempt(1, 1));
  });

  it.each([
    [1, 1, 5],
    [2, 5, 30],
    [3, 30, 120],
    [4, 120, 720],
    [5, 720, undefined],
  ])('waits the documented delay after failure %i: %i minutes', (count, minutes, following) => {
    const dueMs = 2_000 + minutes * minuteMs;
    const next = attempt(count + 1, following);
    expect(stepAt(failures(count), dueMs)).toEqual(next);
    expect(stepAt(failures(count), dueMs - 1_000)).toEqual({ kind: 'wait', ms: 1_000 });
    expect(stepAt(failures(count), 2_000)).toEqual({ kind: 'wait', ms: minutes * minuteMs });
  });

  it('counts the delay from the start of the attempt, not from when it was queued', () => {
    const [failure] = failures(1);
    const late = [{ ...failure!, startedAt: at(59_000) }];
    expect(stepAt(late, 60_000)).toEqual({ kind: 'wait', ms: minuteMs });
    expect(stepAt(late, 59_000 + 2_000 + minuteMs)).toMatchObject({ kind: 'attempt' });
    // A test has skipped time: Temporal's clock is ahead.
    const skipped = [{ ...failure!, startedAt: at(-3_600_000) }];
    expect(stepAt(skipped, 2_000 + minuteMs, -3_600_000)).toMatchObject({ kind: 'attempt' });
  });

  it('waits longer by the time in the queue, not by the difference of the clocks', () => {
    const [failure] = failures(1);
    const queued = [{ ...failure!, startedAt: at(10_000) }];
    expect(stepAt(queued, 2_000 + minuteMs, -3_600_000)).toEqual({ kind: 'wait', ms: 10_000 });
  });

  it.each([-600_000, -2_000, 2_000, 600_000])(
    'keeps the delay when the worker’s clock is %i ms off',
    (aheadMs) => {
      const [failure] = failures(1);
      const attempts = [{ ...failure!, startedAt: at(aheadMs) }];
      expect(stepAt(attempts, 2_000 + minuteMs, aheadMs)).toMatchObject({ kind: 'attempt' });
    },
  );

  it('does not shorten the delay when the worker’s clock is ahead of Temporal’s', () => {
    expect(stepAt(failures(3), minuteMs, hourMs)).toMatchObject({ kind: 'wait' });
  });

  it('never waits longer than the documented delay', () => {
    expect(stepAt(failures(1), -3_600_000)).toEqual({ kind: 'wait', ms: minuteMs });
  });

  it.each([
    [1, 1],
    [3, 30],
    [6, undefined],
  ])('repeats number %i at once when it was not completed', (number, minutes) => {
    const attempts = [...failures(number - 1), incomplete(number)];
    expect(stepAt(attempts, 0)).toEqual(attempt(number, minutes));
  });

  it('makes the next attempt of the round now if somebody asked for it', () => {
    const now = { dueAt: at(3_000), now: at(3_000) };
    const asked = (count: number) =>
      nextStep({ attempts: failures(count), highestNumber: count, atOnce: true }, now);
    expect(asked(2)).toEqual(attempt(3, 30));
    expect(asked(6)).toEqual({ kind: 'exhausted' });
  });

  it('starts a new round at once, with rising numbers, and is exhausted after six failures', () => {
    const next = (attempts: PastAttempt[], highestNumber: number) =>
      nextStep({ attempts, highestNumber, atOnce: false }, { dueAt: at(0), now: at(0) });
    expect(next([], 6)).toEqual(attempt(7, 1));
    expect(next([...failures(5, 7), incomplete(12)], 12)).toEqual(attempt(12));
    expect(next(failures(6, 7), 12)).toEqual({ kind: 'exhausted' });
    expect(stepAt(failures(5), 99 * dayMs)).toMatchObject({ kind: 'attempt' });
  });
});
