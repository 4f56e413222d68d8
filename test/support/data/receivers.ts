import type { AttemptResult } from '../../../contract/attempt.ts';
import { eventId } from '../../../contract/ids.ts';
import { limits } from '../../../contract/limits.ts';
import { minuteMs } from '../../../contract/time.ts';
import { createDeliveries } from '../../../postgres/webhooks/deliveries.ts';
import type { Records } from './records.ts';

const acceptedAttempt: AttemptResult = {
  durationMs: 5,
  responseStatus: 204,
  errorClass: null,
  error: null,
  responseBody: null,
  responseTruncated: false,
};
const refused: AttemptResult = {
  ...acceptedAttempt,
  responseStatus: 500,
  errorClass: 'http_status',
  error: 'The receiver answered 500',
};

/** Events, and what a receiver answers to them, at times that a test chooses. */
export const aReceiver = (records: Records, application = 'shop') => {
  const deliveries = createDeliveries(records.sql);
  let clock = new Date(Date.now() - 60 * 24 * 60 * minuteMs);
  const now = () => clock;

  /** One attempt now. @returns how the delivery is then */
  const answer = async (event: string, result: AttemptResult) => {
    const delivery = await deliveries.get(event);
    if (!delivery) throw new Error(`No delivery ${event}`);
    const { round, attempts, highestNumber } = delivery;
    const number = highestNumber + 1;
    await deliveries.beginAttempt(event, { number, round, scheduledAt: clock, startedAt: clock });
    const delay = limits.attemptDelaysMinutes[attempts.length];
    const consequence =
      result.errorClass === null
        ? ({ status: 'delivered' } as const)
        : delay === undefined
          ? ({ status: 'exhausted', run: 'a run' } as const)
          : ({
              status: 'pending',
              nextAttemptAt: new Date(clock.getTime() + delay * minuteMs),
            } as const);
    await deliveries.completeAttempt(event, number, { result, consequence, completedAt: clock });
    return consequence.status;
  };

  return {
    now,
    skip(minutes: number) {
      clock = new Date(clock.getTime() + minutes * minuteMs);
    },
    /** @returns the event of a payment that ends now */
    async event({ test = false } = {}): Promise<string> {
      const { id } = await records.ended('paid', { application, test, createdAt: clock });
      await records.sql`update deliveries set recorded_at = ${clock} where payment_id = ${id}`;
      return eventId(id);
    },
    accept: (event: string) => answer(event, acceptedAttempt),
    refuse: (event: string, changes: Partial<AttemptResult> = {}) =>
      answer(event, { ...refused, ...changes }),
    /** The next attempts fail, at once. */
    async refuseTimes(event: string, times: number) {
      for (let time = 0; time < times; time += 1) await answer(event, refused);
    },
    replay: (event: string) =>
      deliveries.replay(event, {
        from: ['pending', 'exhausted', 'delivered'],
        trigger: 'admin',
        now: clock,
      }),
  };
};
