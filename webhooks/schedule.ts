import type { PastAttempt } from '../contract/attempt.ts';
import { limits } from '../contract/limits.ts';

/** The delay from the end of one attempt to the next. */
export const delaysMs: readonly number[] = limits.attemptDelaysMinutes.map(
  (minutes) => minutes * 60_000,
);

/** Temporal's clock and ours drift apart by less than this within one attempt. */
export const toleranceMs = 500;

export interface DeliveryProgress {
  /** The attempts of the current round, in order. */
  attempts: readonly PastAttempt[];
  /** Over all rounds; 0 before the first attempt. */
  highestNumber: number;
  /** The next attempt was asked for: it does not wait for the delay. */
  atOnce: boolean;
}

export type Step =
  /** If the attempt fails, the next one of the round follows after `delayMs`; undefined: it is the last. */
  | { kind: 'attempt'; number: number; delayMs: number | undefined }
  | { kind: 'wait'; ms: number }
  | { kind: 'exhausted' };

/**
 * Decides what a try of the delivery activity does. The ledger counts the attempts, not Temporal: after a
 * crash the number is repeated, so a crash never uses up one of the six attempts.
 * @param dueAt when this try was due, or started if that was earlier, by Temporal's clock
 * @param now by the worker's clock
 */
export const nextStep = (
  { attempts, highestNumber, atOnce }: DeliveryProgress,
  { dueAt, now }: { dueAt: Date; now: Date },
): Step => {
  const last = attempts.at(-1);
  const delayMs = delaysMs[attempts.length - 1];
  if (last && !last.completed) return { kind: 'attempt', number: last.number, delayMs };
  if (attempts.length >= limits.attemptsPerRound) return { kind: 'exhausted' };
  if (last && !atOnce && delayMs !== undefined) {
    const restMs = remainingMs(last, delayMs, { dueAt, now });
    if (restMs > toleranceMs) return { kind: 'wait', ms: Math.min(restMs, delayMs) };
  }
  return { kind: 'attempt', number: highestNumber + 1, delayMs: delaysMs[attempts.length] };
};

const remainingMs = (
  { scheduledAt, startedAt, durationMs }: PastAttempt,
  delayMs: number,
  { dueAt, now }: { dueAt: Date; now: Date },
): number => {
  const spentMs = (durationMs ?? 0) + delayMs;
  const byTemporalMs = scheduledAt.getTime() + spentMs - dueAt.getTime();
  // The last attempt may have waited in the task queue, which Temporal's time does not show. The delay
  // ends that much later, but not later than the worker's clock says: the two clocks may differ, and a
  // test may have skipped Temporal's time.
  const queuedMs = Math.max(startedAt.getTime() - scheduledAt.getTime(), 0);
  const byWorkerMs = startedAt.getTime() + spentMs - now.getTime();
  return Math.max(byTemporalMs, Math.min(byTemporalMs + queuedMs, byWorkerMs));
};
