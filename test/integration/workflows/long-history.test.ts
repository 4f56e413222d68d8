import { describe, expect, it, onTestFinished } from 'vitest';
import { recheckSignal } from '../../../temporal/messages.ts';
import { delivers, opens, startScriptedWorker } from '../../support/service/scripted-worker.ts';
import { until } from '../../support/until.ts';

const ended = { kind: 'ended', status: 'paid' } as const;

/** Temporal suggests to continue as new after a few verifications. */
const aWorkerWithShortHistories = async () => {
  const worker = await startScriptedWorker([
    '--dynamic-config-value',
    'limit.historyCount.suggestContinueAsNew=60',
  ]);
  onTestFinished(() => worker.stop());
  return worker;
};

describe.concurrent('a payment workflow with a long history', () => {
  it('continues as new, and no update is lost', async () => {
    const { play } = await aWorkerWithShortHistories();
    let tries = 0;
    const hasEnded = () => tries >= 30;
    const { handle, verify, callsOf } = await play({
      ...delivers,
      // It may continue as new just when the payment has ended.
      openPayment: async () => (hasEnded() ? { ended: 'paid' as const } : 'open'),
      async verifyPayment() {
        tries += 1;
        return hasEnded() ? ended : { kind: 'waiting' };
      },
    });
    const first = (await handle.describe()).runId;
    for (let asked = 0; asked < 30; asked += 1)
      expect((await verify()).kind).toBe(asked === 29 ? 'ended' : 'waiting');
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
    expect((await handle.describe()).runId).not.toBe(first);
  });

  it('continues as new also in the long pauses for a gateway that does not answer', async () => {
    const { play } = await aWorkerWithShortHistories();
    let isBack = false;
    const { handle, verify, callsOf } = await play(
      {
        ...opens,
        ...delivers,
        verifyPayment: async () => ({ kind: 'unknown' }),
        expirePayment: async () => (isBack ? ended : { kind: 'unknown' }),
      },
      { expiresInMs: -16 * 60_000 },
    );
    const first = (await handle.describe()).runId;
    const isContinued = async () => (await handle.describe()).runId !== first;
    for (let asked = 0; asked < 15 && !(await isContinued()); asked += 1) await verify();
    // The first pause takes a minute.
    await until('it continues as new', isContinued, 30_000);
    isBack = true;
    await handle.signal(recheckSignal);
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });

  it('handles a recheck before it continues as new', async () => {
    const { play } = await aWorkerWithShortHistories();
    let tries = 0;
    let signalledAt = Infinity;
    let gate = Promise.withResolvers<void>();
    const { handle, verify, callsOf } = await play({
      ...opens,
      ...delivers,
      async verifyPayment() {
        const nth = (tries += 1);
        await gate.promise;
        return nth > signalledAt ? ended : { kind: 'waiting' };
      },
    });
    const isLong = async () => {
      const { events } = await handle.fetchHistory();
      return events?.some(
        (event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew,
      );
    };
    while (signalledAt === Infinity) {
      const verifying = verify();
      const nth = tries + 1;
      await until('the gateway is asked', () => tries === nth);
      if (await isLong()) {
        await handle.signal(recheckSignal);
        // The workflow has handled the signal once it answers a query.
        await handle.query('__stack_trace');
        signalledAt = nth;
      }
      gate.resolve();
      await verifying;
      gate = Promise.withResolvers<void>();
    }
    await until('the gateway is asked again', () => tries > signalledAt);
    gate.resolve();
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });
});
