import type { Delivery } from '../postgres/deliveries.ts';

const minuteMs = 60_000;

/** What an attempt waits for after the end of the one before: source document, section 6.5. */
export const delaysMs = [
  1 * minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  120 * minuteMs,
  720 * minuteMs,
] as const;

export const attemptsPerRound = delaysMs.length + 1;

/** The engine's clock and ours tick apart by less than this within one attempt. */
export const toleranceMs = 500;

export type Step =
  | { kind: 'attempt'; number: number; indexInRound: number }
  | { kind: 'wait'; ms: number }
  | { kind: 'exhausted' };

/**
 * What a try of the delivery activity has to do. The ledger decides, not the engine's attempt count:
 * a crash repeats a number and never costs one of the six.
 * @param cameAt when this try was due, or came if that was before, by the engine's clock
 * @param now by the worker's
 */
export const nextStep = (
  { attempts, highestNumber }: Pick<Delivery, 'attempts' | 'highestNumber'>,
  { cameAt, now }: { cameAt: Date; now: Date },
): Step => {
  const last = attempts.at(-1);
  if (last && !last.completed)
    return { kind: 'attempt', number: last.number, indexInRound: attempts.length };
  if (attempts.length >= attemptsPerRound) return { kind: 'exhausted' };
  const delayMs = delaysMs[attempts.length - 1] ?? 0;
  if (last) {
    const spentMs = (last.durationMs ?? 0) + delayMs;
    const byEngineMs = last.scheduledAt.getTime() + spentMs - cameAt.getTime();
    // The last attempt may have waited in the queue, which the engine's clock does not tell: then the
    // delay ends that much later, but not later than the worker's clock says. That one may be ahead, or
    // behind where a test skips time.
    const queuedMs = Math.max(last.startedAt.getTime() - last.scheduledAt.getTime(), 0);
    const byWorkerMs = last.startedAt.getTime() + spentMs - now.getTime();
    const restMs = Math.max(byEngineMs, Math.min(byEngineMs + queuedMs, byWorkerMs));
    if (restMs > toleranceMs) return { kind: 'wait', ms: Math.min(restMs, delayMs) };
  }
  return { kind: 'attempt', number: highestNumber + 1, indexInRound: attempts.length + 1 };
};
