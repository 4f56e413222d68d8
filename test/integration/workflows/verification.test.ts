import { describe, expect, it } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import {
  cancelUpdate,
  deliverSignal,
  paymentWorkflow,
  recheckSignal,
  type VerifyRequest,
} from '../../../temporal/messages.ts';
import { paymentStartOptions } from '../../../temporal/start-options.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import {
  countEvents,
  countTimers,
  countUpdates,
  delivers,
  opens,
  startScriptedWorker,
} from '../../support/service/scripted-worker.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const worker = await forFile(startScriptedWorker());

const waiting = { kind: 'waiting' } as const;
const ended = { kind: 'ended', status: 'cancelled' } as const;

describe.concurrent('requests that arrive while a verification runs', () => {
  it('share its result, and a return that it did not cover verifies once more', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const { handle, verify, callsOf } = await worker.play({
      ...opens,
      ...delivers,
      verifyPayment: ({ returned }) => (returned ? Promise.resolve(ended) : promise),
    });
    const first = verify();
    await until('the verification runs', () => callsOf('verifyPayment').length === 1);
    const others = [false, false, true, true].map((returned) => verify({ returned }));
    await until('all wait', async () => (await countUpdates(handle)) === 5);
    answer(waiting);
    expect(await first).toEqual(waiting);
    expect(await Promise.all(others)).toEqual([waiting, waiting, ended, ended]);
    // The last one shared an end that it may have come after, so a search for late money may follow.
    const requests = callsOf('verifyPayment').map(({ request }) => request as VerifyRequest);
    expect(requests.filter(({ reported }) => !reported)).toHaveLength(2);
    await handle.result();
  });

  it('verify once more for a cancel link, which the running verification did not cover', async () => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const { handle, verify, callsOf } = await worker.play({
      ...opens,
      ...delivers,
      verifyPayment: ({ cancelled }) => (cancelled ? Promise.resolve(ended) : promise),
    });
    const first = verify({ returned: true });
    await until('the verification runs', () => callsOf('verifyPayment').length === 1);
    const cancel = verify({ returned: true, cancelled: true });
    await until('the cancel waits', async () => (await countUpdates(handle)) === 2);
    // A plain return is covered by the running verification.
    const second = verify({ returned: true });
    await until('all wait', async () => (await countUpdates(handle)) === 3);
    answer(waiting);
    expect(await Promise.all([first, second, cancel])).toEqual([waiting, waiting, ended]);
    await handle.result();
    expect(callsOf('verifyPayment').map(({ request }) => request)).toMatchObject([
      { returned: true },
      { returned: true, cancelled: true },
    ]);
  });
});

it('a request after the end gets the outcome without a call to the gateway while the event is delivered', async () => {
  const { promise, resolve: deliver } = Promise.withResolvers<'delivered'>();
  const { handle, verify, callsOf } = await worker.play({
    openPayment: async () => ({ stage: 'ended', status: 'failed' }),
    deliverWebhook: () => promise,
  });
  await until('it delivers', () => callsOf('deliverWebhook').length === 1);
  expect(await verify({ returned: true })).toEqual({ kind: 'ended', status: 'failed' });
  deliver('delivered');
  await handle.result();
  expect(callsOf('verifyPayment')).toHaveLength(0);
});

it('a cancel whose verification got no answer is part of the next verification, since it explains what the gateway says then', async () => {
  let tries = 0;
  const { handle, verify, callsOf } = await worker.play({
    ...opens,
    ...delivers,
    verifyPayment: async () => ((tries += 1) === 1 ? { kind: 'unknown' } : ended),
  });
  await verify({ returned: true, cancelled: true });
  await handle.signal(recheckSignal);
  await handle.result();
  expect(callsOf('verifyPayment')[1]?.request).toMatchObject({
    returned: false,
    cancelled: true,
  });
});

describe.concurrent('a recheck signal', () => {
  it('verifies once, and the next signal verifies again', async () => {
    let isPaid = false;
    const { handle, callsOf } = await worker.play({
      ...opens,
      ...delivers,
      verifyPayment: async () => (isPaid ? ended : waiting),
    });
    await until('it waits', () => countTimers(handle));
    await handle.signal(recheckSignal);
    await until('it waits again', async () => (await countTimers(handle)) === 2);
    expect(callsOf('verifyPayment')).toMatchObject([{ request: { returned: false } }]);
    isPaid = true;
    await handle.signal(recheckSignal);
    await handle.result();
    expect(callsOf('verifyPayment')).toHaveLength(2);
  });

  it.each([
    ['start', 'start', 'recheck'],
    ['start', 'recheck', 'start'],
    ['recheck', 'start', 'start'],
  ] as const)('leads to one run in the order %s, %s, %s', async (...order) => {
    const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
    const { start, handle, callsOf } = worker.prepare({
      ...opens,
      ...delivers,
      verifyPayment: () => promise,
    });
    const workflows = createWorkflowCalls(worker.client);
    for (const call of order) await workflows[call](start);
    const { runId } = await handle.describe();
    answer(ended);
    await handle.result();
    expect(callsOf().map(({ name }) => name)).toEqual([
      'openPayment',
      'verifyPayment',
      'deliverWebhook',
    ]);
    // A start that comes after the end does nothing.
    await workflows.start(start);
    expect((await handle.describe()).runId).toBe(runId);
  });
});

describe.concurrent('a recheck', () => {
  const expired = { kind: 'ended', status: 'expired' } as const;
  const search = { returned: false, reported: true };
  /** An activity that begins, and ends when it is released. */
  const held = <T>(result: T) => {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    return {
      begun: begun.promise,
      release: () => released.resolve(),
      async run() {
        begun.resolve();
        await released.promise;
        return result;
      },
    };
  };
  const verifies = { verifyPayment: async () => expired };
  type Played = Awaited<ReturnType<typeof worker.play>>;
  const recheck = ({ handle }: Played) => handle.signal(recheckSignal);

  it.each<[string, typeof expired.status | 'paid', (played: Played) => Promise<unknown>, object[]]>(
    [
      ['searches for late money', 'expired', recheck, [search]],
      [
        'that matters to an open payment alone changes nothing',
        'expired',
        ({ handle }) => handle.signal(recheckSignal, { unlessEnded: true }),
        [],
      ],
      ['of a payment that becomes paid changes nothing', 'paid', recheck, []],
    ],
  )('during the last inquiry: %s', async (_, status, hear, searches) => {
    const last = held({ kind: 'ended', status } as const);
    const played = await worker.play(
      { ...opens, ...delivers, ...verifies, expirePayment: last.run },
      { expiresInMs: -1000 },
    );
    await last.begun;
    await hear(played);
    last.release();
    await played.handle.result();
    expect(played.callsOf('verifyPayment').map(({ request }) => request)).toMatchObject(searches);
    expect(played.callsOf('deliverWebhook')).toHaveLength(1);
  });

  it('during a cancel, or a return during it, searches for late money', async () => {
    for (const hear of [recheck, (played: Played) => played.verify({ returned: true })]) {
      const cancelling = held({ kind: 'ended', status: 'cancelled' } as const);
      const played = await worker.play({
        ...opens,
        ...delivers,
        ...verifies,
        cancelPayment: cancelling.run,
      });
      const { handle } = played;
      const cancelled = handle.executeUpdate(cancelUpdate, {
        args: [{ by: 'application', reason: null }],
      });
      await cancelling.begun;
      const heard = hear(played);
      await until('the workflow has it', async () => {
        const signals = await countEvents(handle, 'workflowExecutionSignaledEventAttributes');
        return signals + (await countUpdates(handle)) === 2;
      });
      cancelling.release();
      await Promise.all([cancelled, heard]);
      await handle.result();
      expect(played.callsOf('verifyPayment')).toMatchObject([{ request: search }]);
    }
  });

  it('during a verification asks again, and searches if the verification ends the payment', async () => {
    for (const first of [{ kind: 'waiting' } as const, expired]) {
      const verifying = held(first);
      const played = await worker.play({
        ...opens,
        ...delivers,
        verifyPayment: () =>
          played.callsOf('verifyPayment').length === 1 ? verifying.run() : Promise.resolve(expired),
      });
      const verified = played.verify();
      await verifying.begun;
      await recheck(played);
      verifying.release();
      await verified;
      await played.handle.result();
      expect(played.callsOf('verifyPayment').slice(1)).toMatchObject([{ request: search }]);
    }
  });

  it('during the delivery searches for late money at once, each time', async () => {
    const sending = held('delivered' as const);
    const played = await worker.play({
      ...verifies,
      openPayment: async () => ({ stage: 'ended', status: 'expired' }),
      deliverWebhook: sending.run,
    });
    await sending.begun;
    for (const times of [1, 2]) {
      await recheck(played);
      await until('it searches', () => played.callsOf('verifyPayment').length === times);
    }
    sending.release();
    await played.handle.result();
    expect(played.callsOf('verifyPayment')).toMatchObject([
      { request: search },
      { request: search },
    ]);
    expect(played.callsOf('deliverWebhook')).toHaveLength(1);
  });

  it('that starts the workflow again after the end searches for late money', async () => {
    const { start, handle, callsOf } = worker.prepare({
      ...delivers,
      ...verifies,
      openPayment: async () => ({ stage: 'ended', status: 'expired' }),
    });
    await worker.client.workflow.signalWithStart(paymentWorkflow, {
      ...paymentStartOptions(start, { restart: true }),
      signal: recheckSignal,
      signalArgs: [],
    });
    await handle.result();
    expect(callsOf('verifyPayment')).toMatchObject([{ request: search }]);
  });

  it('searches before the workflow ends, and a replay during the search is carried out', async () => {
    const searching = held(expired);
    const sending = held('delivered' as const);
    const played = await worker.play({
      verifyPayment: searching.run,
      openPayment: async () => ({ stage: 'ended', status: 'expired' }),
      deliverWebhook: sending.run,
    });
    await sending.begun;
    await recheck(played);
    await searching.begun;
    sending.release();
    await until('the delivery is over', async () => {
      const over = await countEvents(played.handle, 'activityTaskCompletedEventAttributes');
      return over === 2;
    });
    await played.handle.signal(deliverSignal);
    await until('it is sent again', () => played.callsOf('deliverWebhook').length === 2);
    searching.release();
    await played.handle.result();
    expect(played.callsOf('verifyPayment')).toHaveLength(1);
  });
});
