import { describe, expect, it } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import { recheckSignal, type VerifyRequest } from '../../../temporal/messages.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import {
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

describe('requests that arrive while a verification runs', () => {
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

describe('a recheck signal', () => {
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
