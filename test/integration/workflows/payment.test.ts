import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import { recheckSignal, verifyUpdate } from '../../../temporal/messages.ts';
import type { Script, ScriptedWorker } from '../../support/scripted-worker.ts';
import { delivers, opens, startScriptedWorker } from '../../support/scripted-worker.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let worker: ScriptedWorker;
beforeAll(async () => {
  worker = await startScriptedWorker();
});
afterAll(() => worker.stop());

const minutes = (count: number) => count * 60_000;
const ended = { kind: 'ended', status: 'paid' } as const;

/** Gives the answers in turn, the last one for ever. */
const inTurn = <T>(...answers: T[]) => {
  let next = 0;
  return async () => answers[Math.min(next++, answers.length - 1)]!; // Never beyond the last.
};

/** When each activity of a name was scheduled, by the workflow's own clock. */
const timesOf = async (workflowId: string, name: string): Promise<number[]> => {
  const { events } = await worker.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)
    .map(({ eventTime }) => Number(eventTime?.seconds) * 1000 + (eventTime?.nanos ?? 0) / 1e6);
};
const gapsOf = (times: number[]) => times.slice(1).map((time, index) => time - times[index]!);
const roundedMinutes = (gaps: number[]) => gaps.map((gap) => Math.round(gap / 60_000));

describe('at the deadline', () => {
  it('a bank that still works is asked every minute, with 15 minutes of grace', async () => {
    const script: Script = {
      ...opens,
      ...delivers,
      expirePayment: async ({ grace }) => (grace ? { kind: 'processing' } : ended),
    };
    const { id, handle, callsOf } = await worker.play(script);
    await until('it waits', () => callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, id);
    await handle.result();
    const times = await timesOf(id, 'expirePayment');
    expect(new Set(roundedMinutes(gapsOf(times)))).toEqual(new Set([1]));
    expect(times).toHaveLength(16);
  });

  it('FS-07: a silent gateway is asked after 1, 2, 4 … at most 60 minutes until it answers', async () => {
    const silence = Array.from({ length: 8 }, (): VerificationResult => ({ kind: 'unknown' }));
    const script: Script = {
      ...opens,
      ...delivers,
      expirePayment: inTurn<VerificationResult>(...silence, { kind: 'processing' }, ended),
    };
    const { id, handle, callsOf } = await worker.play(script);
    await until('it waits', () => callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, id);
    await handle.result();
    const gaps = gapsOf(await timesOf(id, 'expirePayment'));
    expect(roundedMinutes(gaps)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 1]);
  });

  /** A payment that is never opened, until its end. */
  const neverOpened = async (failure: () => Error) => {
    const script: Script = {
      ...delivers,
      openPayment: async () => {
        throw failure();
      },
      expirePayment: async () => ended,
    };
    const played = await worker.play(script, { expiresInMs: minutes(2) });
    await until('it tries', () => played.callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, played.id);
    await played.handle.result();
    return played;
  };
  const away = (type: string) => ApplicationFailure.retryable('away', type);

  it('a gateway that hangs, and has its places taken, could not be reached either', async () => {
    let tries = 0;
    const { callsOf } = await neverOpened(() =>
      away(tries++ ? 'GATEWAY_BUSY' : 'GATEWAY_UNAVAILABLE'),
    );
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: true } }]);
  });

  it('a failure of ours is not the gateway’s: it was never asked', async () => {
    const { callsOf } = await neverOpened(() => new Error('Postgres is away'));
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });

  it('a gateway that could never be reached is told apart, and not before the deadline', async () => {
    const { id, callsOf } = await neverOpened(() => away('GATEWAY_UNAVAILABLE'));
    expect(callsOf('openPayment').length).toBeGreaterThan(5);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: true } }]);
    const [opening] = await timesOf(id, 'openPayment');
    const [expiring] = await timesOf(id, 'expirePayment');
    expect(expiring! - opening!).toBeGreaterThanOrEqual(minutes(2) - 1000);
  });

  it('a payment whose workflow starts too late is not opened any more', async () => {
    const script: Script = {
      ...delivers,
      openPayment: async ({ late }) => (late ? 'unopened' : 'open'),
      expirePayment: async () => ({ kind: 'ended', status: 'expired' }),
    };
    const { handle, callsOf } = await worker.play(script, { expiresInMs: -1000 });
    await handle.result();
    expect(callsOf('openPayment')).toMatchObject([{ request: { late: true } }]);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });

  it('and its gateway is not blamed where it is Postgres that is away then', async () => {
    const script: Script = {
      ...delivers,
      openPayment: async () => {
        throw new Error('Postgres is away');
      },
      expirePayment: async () => ({ kind: 'ended', status: 'expired' }),
    };
    const { id, handle, callsOf } = await worker.play(script, { expiresInMs: -1000 });
    await until('it tries', () => callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, id);
    await handle.result();
    expect(callsOf('openPayment').length).toBeGreaterThan(1);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });
});

describe('a workflow without a record', () => {
  it('fails, and does not wait for a deadline that nobody set', async () => {
    const { handle } = await worker.play({
      openPayment: async () => {
        throw ApplicationFailure.nonRetryable('There is no record', 'PAYMENT_NOT_FOUND');
      },
    });
    await expect(handle.result()).rejects.toThrow('Workflow execution failed');
  });
});

describe('a run that begins late', () => {
  it('goes straight to the delivery when the payment had ended', async () => {
    const { handle, callsOf } = await worker.play({
      ...delivers,
      openPayment: async () => ({ ended: 'failed' }),
    });
    await handle.result();
    expect(callsOf().map(({ name }) => name)).toEqual(['openPayment', 'deliverWebhook']);
  });

  it('does nothing when the event was delivered', async () => {
    const { handle, callsOf } = await worker.play({ openPayment: async () => 'delivered' });
    await handle.result();
    expect(callsOf().map(({ name }) => name)).toEqual(['openPayment']);
  });
});

describe('FS-10: who asks while a try runs', () => {
  it('gets its answer; returns that the try did not know of are told to the gateway in one more', async () => {
    let answer: (standing: VerificationResult) => void = () => {};
    const script: Script = {
      ...opens,
      ...delivers,
      verifyPayment: ({ returned }) =>
        returned
          ? Promise.resolve(ended)
          : new Promise<VerificationResult>((resolve) => {
              answer = resolve;
            }),
    };
    const { handle, callsOf } = await worker.play(script);
    const ask = (returned: boolean) =>
      handle.executeUpdate<VerificationResult, [{ returned: boolean }]>(verifyUpdate, {
        args: [{ returned }],
      });
    const first = ask(false);
    await until('the first try', () => callsOf('verifyPayment').length === 1);
    const others = [ask(false), ask(false), ask(true), ask(true)];
    await until('they are there', async () => {
      const { events } = await handle.fetchHistory();
      const accepted = events?.filter(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes,
      );
      return accepted?.length === 5;
    });
    answer({ kind: 'waiting' });
    expect(await first).toEqual({ kind: 'waiting' });
    const waiting = { kind: 'waiting' };
    expect(await Promise.all(others)).toEqual([waiting, waiting, ended, ended]);
    expect(callsOf('verifyPayment')).toHaveLength(2);
    await handle.result();
  });

  it('and the deadline does not ask twice', async () => {
    let answer: (standing: VerificationResult) => void = () => {};
    const script: Script = {
      ...opens,
      ...delivers,
      verifyPayment: () =>
        new Promise<VerificationResult>((resolve) => {
          answer = resolve;
        }),
    };
    const { handle, callsOf } = await worker.play(script, { expiresInMs: 15_000 });
    await until('it is open', () => callsOf('openPayment').length === 1);
    const asking = handle.executeUpdate<VerificationResult, [{ returned: boolean }]>(verifyUpdate, {
      args: [{ returned: false }],
    });
    await until('the try', () => callsOf('verifyPayment').length === 1);
    await until('the deadline has passed', async () => {
      const { events } = await handle.fetchHistory();
      return events?.some((event) => event.timerFiredEventAttributes);
    });
    answer(ended);
    expect(await asking).toEqual(ended);
    await handle.result();
    expect(callsOf('expirePayment')).toHaveLength(0);
  });

  it('and the deadline lets a return go first that waits for the same try', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const script: Script = {
      ...opens,
      ...delivers,
      verifyPayment: ({ returned }) => (returned ? Promise.resolve(ended) : promise),
    };
    const { handle, callsOf } = await worker.play(script, { expiresInMs: 15_000 });
    await until('it is open', () => callsOf('openPayment').length === 1);
    const ask = (returned: boolean) =>
      handle.executeUpdate<VerificationResult, [{ returned: boolean }]>(verifyUpdate, {
        args: [{ returned }],
      });
    const first = ask(false);
    await until('the try', () => callsOf('verifyPayment').length === 1);
    const back = ask(true);
    await until('the return is there, and the deadline has passed', async () => {
      const { events = [] } = await handle.fetchHistory();
      const accepted = events?.filter(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes,
      );
      return accepted?.length === 2 && events?.some((event) => event.timerFiredEventAttributes);
    });
    answer({ kind: 'waiting' });
    expect(await Promise.all([first, back])).toEqual([{ kind: 'waiting' }, ended]);
    await handle.result();
    expect(callsOf('verifyPayment')).toHaveLength(2);
    expect(callsOf('expirePayment')).toHaveLength(0);
  });

  it('and who asks while the event is delivered learns how it ended, without a try', async () => {
    const { promise, resolve: deliver } = Promise.withResolvers<'delivered'>();
    const { handle, callsOf } = await worker.play({
      openPayment: async () => ({ ended: 'failed' }),
      deliverWebhook: () => promise,
    });
    await until('it is delivering', () => callsOf('deliverWebhook').length === 1);
    const standing = await handle.executeUpdate<VerificationResult, [{ returned: boolean }]>(
      verifyUpdate,
      {
        args: [{ returned: true }],
      },
    );
    expect(standing).toEqual({ kind: 'ended', status: 'failed' });
    deliver('delivered');
    await handle.result();
    expect(callsOf('verifyPayment')).toHaveLength(0);
  });

  it('news from the sweep are a reason to ask', async () => {
    const { handle, callsOf } = await worker.play({
      ...opens,
      ...delivers,
      verifyPayment: async () => ended,
    });
    await until('it is open', () => callsOf('openPayment').length === 1);
    await handle.signal(recheckSignal);
    await handle.result();
    expect(callsOf('verifyPayment')).toMatchObject([{ request: { returned: false } }]);
  });
});
