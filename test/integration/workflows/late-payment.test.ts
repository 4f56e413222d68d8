import { randomUUID } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Activities } from '../../../activities/index.ts';
import {
  type LatePaymentInput,
  latePaymentWorkflow,
  recheckSignal,
} from '../../../temporal/messages.ts';
import { latePaymentStartOptions } from '../../../temporal/start-options.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createWorkflowCalls } from '../../../temporal/workflow-calls.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { withGateway } from '../../support/service/scripted-gateway.ts';
import { countTimers, startScriptedWorker } from '../../support/service/scripted-worker.ts';
import { skipTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { dayMs } from '../../../contract/time.ts';

const records = await forFile(startRecords());

/** A late payment with a scripted activity. */
const aLatePayment = async (
  resolveLatePayment: Activities['resolveLatePayment'],
  {
    args = [],
    first,
    paymentId = `PAY_${randomUUID()}`,
  }: { args?: string[]; first?: { askAt: number }; paymentId?: string } = {},
) => {
  const { client, stop } = await startScriptedWorker(args, { resolveLatePayment });
  onTestFinished(stop);
  const options = latePaymentStartOptions(paymentId);
  const { recheckLatePayment } = createWorkflowCalls(client);
  const recheck = (when?: { askAt: number }) => recheckLatePayment(paymentId, when);
  await recheck(first);
  return { client, recheck, options, newest: client.workflow.getHandle(options.workflowId) };
};

/** A late payment that is done at every answer; the first one comes when the test gives it. */
const heldAtFirst = async (options: Parameters<typeof aLatePayment>[1] = {}) => {
  let tries = 0;
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  const late = await aLatePayment(async () => {
    tries += 1;
    if (tries === 1) await promise;
    return 'done';
  }, options);
  const waits = () => until('it waits', () => countTimers(late.newest));
  return { ...late, answer, waits, tries: () => tries };
};

describe('the late-payment workflow', () => {
  it('asks once more for all rechecks during an inquiry, and ignores a cancel request', async () => {
    const { recheck, newest, answer, tries } = await heldAtFirst();
    await until('it asks', () => tries() === 1);
    for (let times = 0; times < 3; times += 1) await recheck();
    await newest.cancel();
    answer();
    await newest.result();
    expect(tries()).toBe(2);

    await recheck();
    await newest.result();
    expect(tries()).toBe(3);
  });

  it('asks once more if a verification captures money during an inquiry', async () => {
    const { id } = await records.ended('expired');
    const { client, newest, answer, tries } = await heldAtFirst({ paymentId: id });
    await until('it asks', () => tries() === 1);
    const captured = { operation: 'verify', result: 'paid', code: null, message: null } as const;
    await createGatewayExchanges(records.sql).insert(id, [
      { ...captured, at: new Date(), durationMs: 1 },
    ]);
    const workflows = createWorkflowCalls(client);
    await withGateway(records, {}, { workflows }).verifyPayment({ id, returned: false });
    answer();
    await newest.result();
    expect(tries()).toBe(2);
  });

  it('asks once more, at its time, for a recheck that comes during an inquiry', async () => {
    const { client, recheck, newest, answer, waits, tries } = await heldAtFirst();
    await until('it asks', () => tries() === 1);
    await recheck({ askAt: Date.now() + 90_000 });
    await recheck({ askAt: Date.now() + 90_000 });
    answer();
    await waits();
    expect(tries()).toBe(1);
    await skipTime(client, newest.workflowId, '2m');
    await newest.result();
    expect(tries()).toBe(2);
  });

  it('waits for its time if it starts with one, unless a recheck asks for a sooner one', async () => {
    const first = { askAt: Date.now() + 3_600_000 };
    const { recheck, newest, answer, waits, tries } = await heldAtFirst({ first });
    answer();
    await waits();
    expect(tries()).toBe(0);
    await recheck();
    await newest.result();
    expect(tries()).toBe(1);
  });

  it('keeps its time to give up when it continues as new', async () => {
    const lasts: boolean[] = [];
    const { client, options, newest } = await aLatePayment(
      async ({ last }) => {
        lasts.push(last);
        return 'retry';
      },
      { args: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60'] },
    );
    const first = await newest.describe();
    for (let times = 0; times < 60; times += 1) await newest.signal(recheckSignal);
    await skipTime(client, newest.workflowId, '2m');
    const isContinued = async () => (await newest.describe()).runId !== first.runId;
    await until('it continues as new', isContinued);
    const { events } = await newest.fetchHistory();
    const { input } = events![0]!.workflowExecutionStartedEventAttributes!;
    const [continued] = input!.payloads!.map((payload) =>
      defaultPayloadConverter.fromPayload<LatePaymentInput>(payload),
    );
    const givesUpAfterMs = continued!.giveUpAt! - first.startTime.getTime();
    expect(Math.abs(givesUpAfterMs - dayMs)).toBeLessThan(100_000);
    expect(lasts).not.toContain(true);
    await newest.terminate();

    await client.workflow.execute(latePaymentWorkflow, {
      ...options,
      args: [{ ...continued!, giveUpAt: Date.now() }],
    });
    expect(lasts.pop()).toBe(true);
  });
});
