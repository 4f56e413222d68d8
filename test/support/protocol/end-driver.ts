import type { Deps } from '../../../activities/payment.ts';
import { mayHaveCaptured } from '../../../activities/gateway-calls.ts';
import type { VerificationResult } from '../../../contract/status.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import type { End } from '../../../protocol/end.ts';
import type { Records } from '../data/records.ts';
import { confirmed, silence, withGateway } from '../service/scripted-gateway.ts';
import type { Trace } from './traces.ts';

/** Faults that a test plants in the code. */
export type CodeFault = Partial<Deps> & {
  outcomes?: (outcomes: PaymentOutcomes, records: Records) => PaymentOutcomes;
};

/** One try of an activity. It stops at each call and each write until the trace goes on with it. */
interface RunningTry {
  /** Lets the activity go on until its next stop, or its end. */
  goOn: (mode?: 'crash') => Promise<void>;
  /** The step is what the try does at its next stop. */
  next: { step: string };
}

class Crash extends Error {}

const startTry = (
  run: (stop: (work: () => Promise<unknown>) => Promise<unknown>) => Promise<unknown>,
): RunningTry => {
  const next = { step: '' };
  let release: (mode?: 'crash') => void = () => {};
  let stopped: () => void = () => {};
  let untilStop = new Promise<void>((resolve) => (stopped = resolve));
  /** Does its work, e.g. a call to the gateway, and keeps the result until the trace goes on. */
  const stop = async (work: () => Promise<unknown>): Promise<unknown> => {
    const done = await work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const mode = new Promise<'crash' | undefined>((resolve) => (release = resolve));
    stopped();
    if ((await mode) === 'crash') throw new Crash();
    if ('error' in done) throw done.error;
    return done.value;
  };
  let failure: unknown;
  let progress: 'new' | 'begun' | 'over' = 'new';
  const begin = () =>
    run(stop)
      .catch((error: unknown) => {
        failure = error instanceof Crash ? undefined : error;
      })
      .finally(() => {
        progress = 'over';
        stopped();
      });
  return {
    next,
    async goOn(mode) {
      untilStop = new Promise<void>((resolve) => (stopped = resolve));
      if (progress === 'over') throw new Error(`The activity has ended before: ${next.step}`);
      if (progress === 'begun') release(mode);
      else {
        progress = 'begun';
        void begin();
      }
      await untilStop;
      if (failure) throw failure;
    },
  };
};

/** Carries out a trace of the part "end of a payment" on the real activities. @returns the first difference */
export const driveEnd = async (
  records: Records,
  trace: Trace<End>,
  { outcomes, ...fault }: CodeFault = {},
): Promise<string | undefined> => {
  const payment = await records.opened();
  const { id } = payment;
  const exchanges = createGatewayExchanges(records.sql);
  const late: string[] = [];
  const twoStep = trace[0]?.before.gateway === 'two_step';
  /** The gateway's own books, and what the trace says of the next answer. */
  const gateway = { money: 'none' as End['money'], closed: false };
  const tries: Record<'a' | 'b', RunningTry | undefined> = { a: undefined, b: undefined };

  const answer = (): GatewayStatus => {
    if (gateway.money === 'unverified') gateway.money = 'captured';
    if (gateway.money === 'captured') return confirmed();
    if (gateway.money === 'moving') return { state: 'processing' };
    return { state: gateway.closed || gateway.money === 'back' ? 'expired' : 'waiting' };
  };

  const begin = (before: End): RunningTry => {
    const running: RunningTry = startTry(async (stop) => {
      const isLost = () => running.next.step.startsWith('lost answer');
      const stopAt =
        <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
        async (...args: A) =>
          (await stop(() => write(...args))) as R;
      const real = outcomes ? outcomes(records.paymentOutcomes, records) : records.paymentOutcomes;
      const activities = withGateway(
        records,
        {
          verify: () =>
            stop(async () => {
              const said = answer();
              return isLost() ? silence() : said;
            }) as Promise<GatewayStatus>,
          ...(!twoStep && {
            expire: () =>
              stop(async () => {
                gateway.closed ||= gateway.money === 'none';
                return isLost() ? silence() : gateway.closed;
              }) as Promise<boolean>,
          }),
        },
        {
          paymentOutcomes: {
            ...real,
            finalize: stopAt(real.finalize),
            recordInquiry: async (...args) => {
              const isOpen = await real.recordInquiry(...args);
              return isOpen || ((await stop(async () => isOpen)) as boolean);
            },
          },
          workflows: { recheckLatePayment: async (each) => void late.push(each) },
          isRetry: () => before.retry,
          ...fault,
        },
      );
      const cancelled = before.payer === 'cancelled';
      const result: Promise<VerificationResult> =
        before.due === 'no'
          ? activities.verifyPayment({ id, returned: false, cancelled })
          : activities.expirePayment({ id, grace: before.due === 'grace', unreachable: false });
      return result;
    });
    return running;
  };

  const take = async (step: string, before: End, after: End): Promise<void> => {
    const x = /\((a|b)\)$/.exec(step)?.[1] as 'a' | 'b' | undefined;
    if (x) {
      const isCrash = step.startsWith('crash');
      if (!isCrash && before[`${x}_at`] === 'idle') tries[x] = begin(before);
      const running = tries[x];
      if (!running) throw new Error(`No try is running for: ${step}`);
      running.next.step = step;
      await running.goOn(isCrash ? 'crash' : undefined);
      if (after[`${x}_at`] === 'idle') tries[x] = undefined;
    } else if (step.startsWith('Temporal gives up')) {
      tries.b = tries.a;
      tries.a = undefined;
    } else if (step === 'payer: sendToGateway')
      await records.payments.sendToGateway(id, payment.createdAt);
    else if (step.startsWith('notification')) late.push(id);
    else gateway.money = after.money;
  };

  const observe = async () => {
    const row = await records.paymentOutcomes.get(id);
    return {
      status: row?.status === 'processing' ? 'pending' : row?.status,
      events: (await records.listEvents(id)).length,
      checkout: row?.sent,
      doubt: mayHaveCaptured(await exchanges.list(id)),
      late: late.length > 0,
      money: gateway.money,
      closed: gateway.closed,
    };
  };

  for (const [at, { step, before, after }] of trace.entries()) {
    const steps = trace.slice(0, at + 1).map((line) => line.step);
    try {
      await take(step, before, after);
    } catch (error) {
      return `${String(error)} after: ${steps.join(' > ')}`;
    }
    const { status, events, checkout, doubt, late: isLate, money, closed } = after;
    const said = { status, events, checkout, doubt, late: isLate, money, closed };
    const seen = await observe();
    const differences = Object.entries(said).flatMap(([name, value]) => {
      const real = seen[name as keyof typeof said];
      return real === value ? [] : [`${name} is ${real} and not ${value}`];
    });
    if (differences.length > 0) return `${differences.join(', ')} after: ${steps.join(' > ')}`;
  }
  // A try that the trace leaves in the middle ends as by a crash.
  for (const running of Object.values(tries)) await running?.goOn('crash').catch(() => {});
  return undefined;
};
