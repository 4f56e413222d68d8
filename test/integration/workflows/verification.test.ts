import { type WorkflowHandle, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import type { VerifyRequest } from '../../../temporal/messages.ts';
import {
  paymentRecheckOptions,
  recheckSignal,
  paymentWorkflow,
  verifyUpdate,
  paymentStartOptions,
} from '../../../temporal/messages.ts';
import type { ScriptedWorker } from '../../support/scripted-worker.ts';
import { delivers, opens, startScriptedWorker } from '../../support/scripted-worker.ts';
import { until } from '../../support/until.ts';

let worker: ScriptedWorker;
beforeAll(async () => {
  worker = await startScriptedWorker();
});
afterAll(() => worker.stop());

const ended = { kind: 'ended', status: 'cancelled' } as const;

/** How often it has begun to wait for the time. */
const timersOf = async (handle: Pick<WorkflowHandle, 'fetchHistory'>) => {
  const { events } = await handle.fetchHistory();
  return events?.filter((event) => event.timerStartedEventAttributes).length;
};

it.each([
  ['start', 'start', 'news'],
  ['start', 'news', 'start'],
  ['news', 'start', 'start'],
] as const)('FS-04: %s, %s and %s of one payment are one run', async (...order) => {
  const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
  const { id, facts, callsOf } = worker.enter({
    ...opens,
    ...delivers,
    verifyPayment: () => promise,
  });
  const { workflow } = worker.client;
  const does = {
    start: () => workflow.start(paymentWorkflow, paymentStartOptions(facts)),
    news: () => workflow.signalWithStart(paymentWorkflow, paymentRecheckOptions(facts)),
  };
  for (const what of order) await does[what]();
  answer(ended);
  await workflow.getHandle(id).result();
  expect(callsOf().map(({ name }) => name)).toEqual([
    ...['openPayment', 'verifyPayment', 'deliverWebhook'],
  ]);
  // Nor does a start that was late begin another one.
  await expect(does.start()).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
});

it('who came back by the cancel link is not content with a try that did not know of it', async () => {
  const { promise, resolve: answer } = Promise.withResolvers<VerificationResult>();
  const { handle, callsOf } = await worker.play({
    ...opens,
    ...delivers,
    verifyPayment: ({ cancelled }) => (cancelled ? Promise.resolve(ended) : promise),
  });
  const ask = (request: VerifyRequest) =>
    handle.executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, { args: [request] });
  const first = ask({ returned: true });
  await until('the first try', () => callsOf('verifyPayment').length === 1);
  const accepted = (count: number) =>
    until(`${count} are there`, async () => {
      const { events } = await handle.fetchHistory();
      const updates = events?.filter((one) => one.workflowExecutionUpdateAcceptedEventAttributes);
      return updates?.length === count;
    });
  const cancelling = ask({ returned: true, cancelled: true });
  await accepted(2);
  // Who asks for less after it is content with the try that runs.
  const others = [ask({ returned: true }), cancelling];
  await accepted(3);
  answer({ kind: 'waiting' });
  expect(await Promise.all([first, ...others])).toEqual([
    { kind: 'waiting' },
    { kind: 'waiting' },
    ended,
  ]);
  await handle.result();
  expect(callsOf('verifyPayment').map(({ request }) => request)).toMatchObject([
    { returned: true },
    { returned: true, cancelled: true },
  ]);
});

it('FS-07: a cancel of which nobody knows whether it was heard explains what is heard later', async () => {
  let tries = 0;
  const { handle, callsOf } = await worker.play({
    ...opens,
    ...delivers,
    verifyPayment: async () => ((tries += 1) === 1 ? { kind: 'unknown' } : ended),
  });
  const request: VerifyRequest = { returned: true, cancelled: true };
  await handle.executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, {
    args: [request],
  });
  await handle.signal(recheckSignal);
  await handle.result();
  const [, news] = callsOf('verifyPayment');
  expect(news?.request).toMatchObject({ returned: false, cancelled: true });
});

it('news are one question, and what comes later is another', async () => {
  let isPaid = false;
  const { handle, callsOf } = await worker.play({
    ...opens,
    ...delivers,
    verifyPayment: async () => (isPaid ? ended : { kind: 'waiting' }),
  });
  await until('it waits', () => timersOf(handle));
  await handle.signal(recheckSignal);
  await until('it waits again', async () => (await timersOf(handle)) === 2);
  expect(callsOf('verifyPayment')).toHaveLength(1);
  isPaid = true;
  await handle.signal(recheckSignal);
  await handle.result();
  expect(callsOf('verifyPayment')).toHaveLength(2);
});

it('news after the deadline are a reason to ask at once, one time, and not a minute later', async () => {
  let isOver = false;
  const { handle, callsOf } = await worker.play(
    {
      ...opens,
      ...delivers,
      expirePayment: async () => (isOver ? ended : { kind: 'processing' }),
    },
    { expiresInMs: -1000 },
  );
  await until('it pauses', () => timersOf(handle));
  const began = Date.now();
  await handle.signal(recheckSignal);
  await until('it pauses again', async () => (await timersOf(handle)) === 2);
  expect(callsOf('expirePayment')).toHaveLength(2);
  isOver = true;
  await handle.signal(recheckSignal);
  await handle.result();
  expect(Date.now() - began).toBeLessThan(30_000);
  expect(callsOf('expirePayment')).toHaveLength(3);
});

it('a gateway that has found its tongue after the deadline is asked for the end at once', async () => {
  let isBack = false;
  const { handle, callsOf } = await worker.play(
    {
      ...opens,
      ...delivers,
      verifyPayment: async () => ({ kind: isBack ? 'waiting' : 'unknown' }),
      expirePayment: async () => (isBack ? ended : { kind: 'unknown' }),
    },
    { expiresInMs: -16 * 60_000 },
  );
  const ask = () =>
    handle.executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, {
      args: [{ returned: false }],
    });
  await until('it is silent', () => callsOf('expirePayment').length === 1);
  expect(await ask()).toEqual({ kind: 'unknown' });
  isBack = true;
  expect(await ask()).toEqual({ kind: 'waiting' });
  // Sooner than its first pause is over, which is a minute.
  await until('it is asked for the end', () => callsOf('expirePayment').length === 2, 30_000);
  await handle.result();
});
