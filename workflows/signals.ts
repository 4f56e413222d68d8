import { defineSignal, setHandler } from '@temporalio/workflow';
import {
  callOffSignal,
  deliverSignal,
  type RecheckRequest,
  recheckSignal,
} from '../temporal/messages.ts';

/** The signals that have come since the subscriber last forgot them. */
export interface PendingSignals {
  recheck: boolean;
  /** A recheck that matters after the end, too: the gateway may have money then. */
  reported: boolean;
  delivery: boolean;
  /** Another payment has paid the order. */
  callOff: boolean;
}
const nothing: PendingSignals = {
  recheck: false,
  reported: false,
  delivery: false,
  callOff: false,
};

/** Handles the signals of a workflow that delivers. Every subscriber gets each signal. */
export const createSignals = () => {
  // Before the handlers, which get at once what has come before them.
  const pending = { ...nothing };
  const subscribers = [pending];
  setHandler(defineSignal<[RecheckRequest?]>(recheckSignal), ({ unlessEnded = false } = {}) => {
    for (const each of subscribers)
      Object.assign(each, { recheck: true, ...(!unlessEnded && { reported: true }) });
  });
  setHandler(defineSignal(callOffSignal), () => {
    pending.callOff = true;
  });
  setHandler(defineSignal(deliverSignal), () => {
    // A workflow that Temporal has restored from a backup may not know that there is an event.
    for (const each of subscribers) Object.assign(each, { recheck: true, delivery: true });
  });
  return {
    /** The first subscriber's. */
    pending,
    /** Adds a subscriber, for what happens at the same time. */
    subscribe(): PendingSignals {
      const another = { ...nothing };
      subscribers.push(another);
      return another;
    },
  };
};
export type Signals = ReturnType<typeof createSignals>;
