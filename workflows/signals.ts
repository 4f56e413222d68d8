import { defineSignal, setHandler } from '@temporalio/workflow';
import { deliverSignal, type RecheckRequest, recheckSignal } from '../temporal/messages.ts';

/** The signals that have come since the listener last forgot them. */
export interface Heard {
  recheck: boolean;
  /** The gateway may hold money because of it, also after the end. */
  report: boolean;
  delivery: boolean;
}
const nothing: Heard = { recheck: false, report: false, delivery: false };

/** Handles the signals of a payment's or a refund's workflow. Every listener hears each signal. */
export const createSignals = () => {
  // Before the handlers, which get at once what has come before them.
  const heard = { ...nothing };
  const listeners = [heard];
  setHandler(defineSignal<[RecheckRequest?]>(recheckSignal), ({ unlessEnded = false } = {}) => {
    for (const each of listeners)
      Object.assign(each, { recheck: true, ...(!unlessEnded && { report: true }) });
  });
  setHandler(defineSignal(deliverSignal), () => {
    // A workflow that Temporal has restored from a backup may not know that there is an event.
    for (const each of listeners) Object.assign(each, { recheck: true, delivery: true });
  });
  return {
    /** The first listener. */
    heard,
    /** One more, for what happens at the same time. */
    listen(): Heard {
      const another = { ...nothing };
      listeners.push(another);
      return another;
    },
  };
};
