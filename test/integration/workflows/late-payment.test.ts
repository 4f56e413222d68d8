import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it, onTestFinished } from 'vitest';
import type { Activities } from '../../../activities/index.ts';
import {
  type LatePaymentInput,
  latePaymentRecheckOptions,
  latePaymentWorkflow,
  recheckSignal,
} from '../../../temporal/messages.ts';
import { startScriptedWorker } from '../../support/scripted-worker.ts';
import { skipTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

const hour = 60 * 60_000;

/** A search whose every try is what this says. */
const aSearch = async (
  resolveLatePayment: Activities['resolveLatePayment'],
  args: string[] = [],
) => {
  const { client, stop } = await startScriptedWorker(args, { resolveLatePayment });
  onTestFinished(stop);
  const start = latePaymentRecheckOptions(`PAY_${randomUUID()}`);
  const first = await client.workflow.signalWithStart(latePaymentWorkflow, start);
  return { client, start, first, newest: client.workflow.getHandle(start.workflowId) };
};

it('news while the gateway is asked has it asked once more, and before that not at all', async () => {
  let tries = 0;
  const asked = Promise.withResolvers<void>();
  const { client, start, newest } = await aSearch(async () => {
    tries += 1;
    if (tries === 1) await asked.promise;
    return 'over';
  });
  await until('it asks', () => tries === 1);
  for (let times = 0; times < 3; times += 1)
    await client.workflow.signalWithStart(latePaymentWorkflow, start);
  // An operator's cancel request leaves no money where it is.
  await newest.cancel();
  asked.resolve();
  await newest.result();
  expect(tries).toBe(2);

  await client.workflow.signalWithStart(latePaymentWorkflow, start);
  await newest.result();
  expect(tries).toBe(3);
});

it('a long history is continued, and the search gives up when it would have without', async () => {
  const lasts: boolean[] = [];
  const { client, start, first, newest } = await aSearch(
    async ({ last }) => {
      lasts.push(last);
      return 'again';
    },
    ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60'],
  );
  for (let times = 0; times < 60; times += 1) await newest.signal(recheckSignal);
  await skipTime(client, newest.workflowId, '2m');
  const isContinued = async () => (await newest.describe()).runId !== first.signaledRunId;
  await until('it is continued', isContinued);
  const { startTime } = await client.workflow
    .getHandle(newest.workflowId, first.signaledRunId)
    .describe();
  const { events } = await newest.fetchHistory();
  const { input } = events![0]!.workflowExecutionStartedEventAttributes!;
  const [given] = input!.payloads!.map((payload) =>
    defaultPayloadConverter.fromPayload<LatePaymentInput>(payload),
  );
  const afterMs = given!.until! - startTime.getTime();
  expect(Math.abs(afterMs - 24 * hour)).toBeLessThan(5_000);
  expect(lasts).not.toContain(true);
  await newest.terminate();

  await client.workflow.execute(latePaymentWorkflow, {
    ...start,
    args: [{ ...given!, until: Date.now() }],
  });
  expect(lasts.pop()).toBe(true);
});
