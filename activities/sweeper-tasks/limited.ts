import type { Log } from '../log.ts';

/** Temporal gives a sweep 25 seconds. Its tasks stop taking work before that. */
export const taskTimeMs = 20_000;

export interface Limits {
  atOnce: number;
  /** Ms since 1970. */
  until: number;
  logger: Pick<Log, 'warn'>;
}

export interface Failure<T> {
  payment: T;
  error: unknown;
}

/**
 * Works on all payments, some at once, until the time is over. A failure is logged and does not stop the
 * others.
 * @returns the failures, and the payments for which the time did not suffice
 */
export const forEachLimited = async <T extends { id: string }>(
  payments: readonly T[],
  { atOnce, until, logger }: Limits,
  work: (payment: T) => Promise<void>,
): Promise<{ failures: Failure<T>[]; notTried: T[] }> => {
  const failures: Failure<T>[] = [];
  const notTried: T[] = [];
  const queue = payments.values();
  const lane = async () => {
    for (const payment of queue) {
      if (performance.now() > until) notTried.push(payment);
      else
        await work(payment).catch((error: unknown) => {
          logger.warn(
            { payment_id: payment.id, err: error },
            'The sweeper failed on a payment; a later sweep will retry',
          );
          failures.push({ payment, error });
        });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { failures, notTried };
};

/** The same, but throws if the work failed for every payment, so that operators see the task fail. */
export const forEachOrThrow = async <T extends { id: string }>(
  payments: readonly T[],
  limits: Limits,
  work: (payment: T) => Promise<void>,
): Promise<void> => {
  const { failures } = await forEachLimited(payments, limits, work);
  if (failures[0] && failures.length === payments.length) throw failures[0].error;
};
