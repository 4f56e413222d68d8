import { describe, expect, it } from 'vitest';
import type { Stage } from '../../../activities/open-payment.ts';
import type { VerificationResult } from '../../../contract/status.ts';
import { hourMs, minuteMs } from '../../../contract/time.ts';
import {
  gatewayBusy,
  gatewayUnavailable,
  paymentNotFound,
  webhookAttemptFailed,
  webhookExhausted,
} from '../../../temporal/failures.ts';
import { deliverSignal, recheckSignal } from '../../../temporal/messages.ts';
import {
  countEvents,
  countTimers,
  countUpdates,
  delivers,
  detailsOf,
  opens,
  startScriptedWorker,
  type Script,
} from '../../support/service/scripted-worker.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const worker = await forFile(startScriptedWorker());

const minutes = (count: number) => count * minuteMs;
const ended = { kind: 'ended', status: 'paid' } as const;

/** Gives the answers in turn, and the last one to all further calls. */
const inTurn = <T>(...answers: T[]) => {
  let next = 0;
  return async () => answers[Math.min(next++, answers.length - 1)]!; // Never after the last one.
};

/** When the workflow scheduled the activities of this name, by its own clock. */
const timesOf = async (workflowId: string, name: string): Promise<number[]> => {
  const { events } = await worker.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)
    .map(({ eventTime }) => Number(eventTime?.seconds) * 1000 + (eventTime?.nanos ?? 0) / 1e6);
};
const gapsInMinutes = (times: number[]) =>
  times.slice(1).map((time, index) => Math.round((time - times[index]!) / minuteMs));

type Played = Awaited<ReturnType<typeof worker.play>>;

/** Skips all time once the payment has been opened, and returns when the workflow has ended. */
const playToTheEnd = async (script: Script) => {
  const played = await worker.play(script);
  await until('it waits', () => played.callsOf('openPayment').length > 0);
  await skipAllTime(worker.client, played.id);
  await played.handle.result();
  return played;
};

const hasPassed = (handle: Parameters<typeof countEvents>[0]) =>
  countEvents(handle, 'timerFiredEventAttributes');
/** The delivery is postponed, after so many tries of it. */
const isAsleep = async ({ handle, callsOf }: Played, tries: number) => {
  const { raw } = await handle.describe();
  return callsOf('deliverWebhook').length === tries && raw.pendingActivities?.length === 0;
};

describe.concurrent('at the deadline, the payment workflow', () => {
  it('asks a gateway that is still processing every minute, for 15 minutes of grace', async () => {
    const { id } = await playToTheEnd({
      ...opens,
      ...delivers,
      expirePayment: async ({ grace }) => (grace ? { kind: 'processing' } : ended),
    });
    const times = await timesOf(id, 'expirePayment');
    expect(new Set(gapsInMinutes(times))).toEqual(new Set([1]));
    expect(times).toHaveLength(16);
  });

  it('asks a gateway that does not answer after 1, 2, 4 … at most 60 minutes', async () => {
    const unknown = Array.from({ length: 8 }, (): VerificationResult => ({ kind: 'unknown' }));
    const { id } = await playToTheEnd({
      ...opens,
      ...delivers,
      expirePayment: inTurn<VerificationResult>(...unknown, { kind: 'processing' }, ended),
    });
    const times = await timesOf(id, 'expirePayment');
    expect(gapsInMinutes(times)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 1]);
  });

  it('rechecks at once and once when a signal arrives during a pause', async () => {
    let isOver = false;
    const { handle, callsOf } = await worker.play(
      {
        ...opens,
        ...delivers,
        expirePayment: async () => (isOver ? ended : { kind: 'processing' }),
      },
      { expiresInMs: -1000 },
    );
    await until('it pauses', () => countTimers(handle));
    const began = Date.now();
    await handle.signal(recheckSignal);
    await until('it pauses again', async () => (await countTimers(handle)) === 2);
    expect(callsOf('expirePayment')).toHaveLength(2);
    isOver = true;
    await handle.signal(recheckSignal);
    await handle.result();
    // The pause itself takes a minute.
    expect(Date.now() - began).toBeLessThan(55_000);
    expect(callsOf('expirePayment')).toHaveLength(3);
  });

  it('ends the pause when a verification shows that the gateway answers again', async () => {
    let isBack = false;
    const { handle, verify, callsOf } = await worker.play(
      {
        ...opens,
        ...delivers,
        verifyPayment: async () => ({ kind: isBack ? 'waiting' : 'unknown' }),
        expirePayment: async () => (isBack ? ended : { kind: 'unknown' }),
      },
      { expiresInMs: minutes(-16) },
    );
    await until('it pauses', () => callsOf('expirePayment').length === 1);
    expect(await verify()).toEqual({ kind: 'unknown' });
    isBack = true;
    expect(await verify()).toEqual({ kind: 'waiting' });
    // The pause itself takes a minute.
    await until('it asks again', () => callsOf('expirePayment').length === 2, 55_000);
    await handle.result();
  });

  it('does not ask again when a running verification ends the payment', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const { handle, verify, callsOf } = await worker.play(
      { ...opens, ...delivers, verifyPayment: () => promise },
      // No time can be skipped while an activity runs, and a busy machine needs some until it does.
      { expiresInMs: 15_000 },
    );
    await until('it is open', () => callsOf('openPayment').length === 1);
    const verifying = verify();
    await until('the verification runs', () => callsOf('verifyPayment').length === 1);
    await until('the deadline has passed', () => hasPassed(handle));
    answer(ended);
    expect(await verifying).toEqual(ended);
    await handle.result();
    expect(callsOf('expirePayment')).toHaveLength(0);
  });

  it('lets a return verify first that waits for a running verification', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const { handle, verify, callsOf } = await worker.play(
      {
        ...opens,
        ...delivers,
        verifyPayment: ({ returned }) => (returned ? Promise.resolve(ended) : promise),
      },
      // As above.
      { expiresInMs: 15_000 },
    );
    await until('it is open', () => callsOf('openPayment').length === 1);
    const first = verify();
    await until('the verification runs', () => callsOf('verifyPayment').length === 1);
    const second = verify({ returned: true });
    await until('the return waits', async () => (await countUpdates(handle)) === 2);
    await until('the deadline has passed', () => hasPassed(handle));
    answer({ kind: 'waiting' });
    expect(await Promise.all([first, second])).toEqual([{ kind: 'waiting' }, ended]);
    await handle.result();
    expect(callsOf('verifyPayment')).toHaveLength(2);
    expect(callsOf('expirePayment')).toHaveLength(0);
  });
});

describe.concurrent('a payment that cannot be opened before its deadline', () => {
  const neverOpened = async (failure: () => Error | Promise<Stage>, expiresInMs = minutes(2)) => {
    const played = await worker.play(
      {
        ...delivers,
        openPayment: async () => {
          const result = failure();
          if (result instanceof Error) throw result;
          return result;
        },
        expirePayment: async () => ended,
      },
      { expiresInMs },
    );
    await until('it tries', () => played.callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, played.id);
    await played.handle.result();
    return played;
  };

  it('expires as unreachable if its gateway was never available, and not before the deadline', async () => {
    const { id, callsOf } = await neverOpened(() => gatewayUnavailable('away'));
    expect(callsOf('openPayment').length).toBeGreaterThan(5);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: true } }]);
    const [opening] = await timesOf(id, 'openPayment');
    const [expiring] = await timesOf(id, 'expirePayment');
    expect(expiring! - opening!).toBeGreaterThanOrEqual(minutes(2) - 1000);
  });

  it('expires as unreachable if its gateway was unavailable, and hangs at the deadline', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<Stage>();
    let tries = 0;
    const { callsOf } = await neverOpened(() => {
      tries += 1;
      // The eighth try begins within 15 seconds of the end, and time passes at its own pace while it runs.
      return tries < 8 ? gatewayUnavailable('away') : promise;
    }, minutes(1));
    answer({ stage: 'open' });
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: true } }]);
  });

  it('expires as unreachable if its gateway hangs and has no free slot at the end', async () => {
    let tries = 0;
    const { callsOf } = await neverOpened(() =>
      tries++ ? gatewayBusy('g', 10_000) : gatewayUnavailable('away'),
    );
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: true } }]);
  });

  it('does not expire as unreachable if the failures were ours', async () => {
    const { callsOf } = await neverOpened(() => new Error('Postgres is away'));
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });
});

describe.concurrent('a workflow that starts after the deadline', () => {
  const expired = { expiresInMs: -1000 };

  it('does not open the payment', async () => {
    const script: Script = {
      ...delivers,
      openPayment: async ({ afterDeadline }) => ({ stage: afterDeadline ? 'unopened' : 'open' }),
      expirePayment: async () => ({ kind: 'ended', status: 'expired' }),
    };
    const { handle, callsOf } = await worker.play(script, expired);
    await handle.result();
    expect(callsOf('openPayment')).toMatchObject([{ request: { afterDeadline: true } }]);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });

  it('does not report the gateway as unreachable when Postgres is unavailable', async () => {
    const script: Script = {
      ...delivers,
      openPayment: async () => {
        throw new Error('Postgres is away');
      },
      expirePayment: async () => ({ kind: 'ended', status: 'expired' }),
    };
    const { id, handle, callsOf } = await worker.play(script, expired);
    await until('it tries', () => callsOf('openPayment').length > 0);
    await skipAllTime(worker.client, id);
    await handle.result();
    expect(callsOf('openPayment').length).toBeGreaterThan(1);
    expect(callsOf('expirePayment')).toMatchObject([{ request: { unreachable: false } }]);
  });
});

describe.concurrent('a workflow whose delivery is postponed', () => {
  it('sleeps without a timer until a recheck comes, each time', async () => {
    let isBusy = true;
    const played = await worker.play({
      openPayment: async () => ({ stage: 'ended', status: 'paid' }),
      deliverWebhook: async () => (isBusy ? 'postponed' : 'delivered'),
    });
    const { handle, callsOf } = played;
    for (let tries = 1; tries <= 3; tries += 1) {
      await until('it sleeps', () => isAsleep(played, tries));
      isBusy = tries < 3;
      await handle.signal(recheckSignal);
    }
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(4);
    expect(await countTimers(handle)).toBe(0);
  });

  it('forgets rechecks from before the delivery', async () => {
    const { promise, resolve: open } = Promise.withResolvers<{ stage: 'ended'; status: 'paid' }>();
    const played = await worker.play({
      openPayment: () => promise,
      deliverWebhook: async () =>
        callsOf('deliverWebhook').length === 1 ? 'postponed' : 'delivered',
    });
    const { handle, callsOf } = played;
    await handle.signal(recheckSignal);
    open({ stage: 'ended', status: 'paid' });
    await until('it sleeps', () => isAsleep(played, 1));
    await handle.signal(recheckSignal);
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(2);
  });
});

describe.concurrent('a replay', () => {
  const failsAt = (retryAfter: number) =>
    Promise.reject(webhookAttemptFailed('Attempt', retryAfter));

  it('ends the wait for the next attempt, each time', async () => {
    const { handle, callsOf } = await worker.play({
      openPayment: async () => ({ stage: 'ended', status: 'paid' }),
      deliverWebhook: async () =>
        callsOf('deliverWebhook').length === 3 ? 'delivered' : failsAt(hourMs),
    });
    for (const attempts of [1, 2]) {
      await until('it waits', async () => {
        const { raw } = await handle.describe();
        const [delivery] = raw.pendingActivities ?? [];
        return callsOf('deliverWebhook').length === attempts && Boolean(delivery?.lastFailure);
      });
      await handle.signal(deliverSignal);
    }
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(3);
  });

  it('lets an attempt that is running end, and then goes on', async () => {
    const sending = Promise.withResolvers<void>();
    let atOnce = 0;
    let mostAtOnce = 0;
    const { handle, callsOf } = await worker.play({
      openPayment: async () => ({ stage: 'ended', status: 'paid' }),
      async deliverWebhook() {
        mostAtOnce = Math.max(mostAtOnce, (atOnce += 1));
        if (callsOf('deliverWebhook').length === 1) await sending.promise;
        atOnce -= 1;
        return callsOf('deliverWebhook').length === 1 ? failsAt(hourMs) : 'delivered';
      },
    });
    await until('it sends', () => callsOf('deliverWebhook').length === 1);
    await handle.signal(deliverSignal);
    await until('Temporal has asked it to end', () =>
      countEvents(handle, 'activityTaskCancelRequestedEventAttributes'),
    );
    sending.resolve();
    await handle.result();
    expect([callsOf('deliverWebhook').length, mostAtOnce]).toEqual([2, 1]);
  });

  it('that comes while a round ends begins the next one in the same run', async () => {
    const ending = Promise.withResolvers<void>();
    const { handle, callsOf } = await worker.play({
      openPayment: async () => ({ stage: 'ended', status: 'paid' }),
      async deliverWebhook() {
        if (callsOf('deliverWebhook').length > 1) return 'delivered';
        await ending.promise;
        throw webhookExhausted('The round is over');
      },
    });
    await until('it sends', () => callsOf('deliverWebhook').length === 1);
    await handle.signal(deliverSignal);
    ending.resolve();
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(2);
  });

  it('of a workflow that does not know the end of its payment verifies first', async () => {
    const { handle, callsOf } = await worker.play({
      ...delivers,
      openPayment: async () => ({ stage: 'open' }),
      verifyPayment: async () => ({ kind: 'ended', status: 'paid' }),
    });
    await until('it waits', () => callsOf('openPayment').length === 1);
    await handle.signal(deliverSignal);
    await handle.result();
    expect(callsOf().map(({ name }) => name)).toEqual([
      'openPayment',
      'verifyPayment',
      'deliverWebhook',
    ]);
  });
});

it('a workflow without a record of its payment fails at once and does not wait for the deadline', async () => {
  const { id, handle } = await worker.play({
    openPayment: async ({ id: paymentId }) => {
      throw paymentNotFound(paymentId);
    },
  });
  await expect(handle.result()).rejects.toMatchObject({
    cause: { cause: { type: 'PaymentNotFound', message: expect.stringContaining(id) as string } },
  });
});

it('says in the Temporal UI where the payment and its webhook are', async () => {
  const sending = Promise.withResolvers<void>();
  const { handle, verify } = await worker.play({
    ...opens,
    verifyPayment: inTurn<VerificationResult>({ kind: 'waiting' }, ended),
    async deliverWebhook() {
      await sending.promise;
      return 'delivered';
    },
  });
  const says = (text: RegExp) =>
    until(String(text), async () => text.test(await detailsOf(handle)) || undefined);
  await says(/^\*\*Payment:\*\* It waits for its payer until \d{4}-/);
  await verify();
  await says(/nobody has paid yet/);
  await verify();
  await says(/ended: \*\*paid\*\*\.\n\n\*\*Webhook:\*\* It is being sent/);
  sending.resolve();
  await handle.result();
  expect(await detailsOf(handle)).toMatch(/Webhook:\*\* The application has accepted it\.$/);
});
