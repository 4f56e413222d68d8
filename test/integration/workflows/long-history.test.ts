import { describe, expect, it } from 'vitest';
import { recheckSignal } from '../../../temporal/messages.ts';
import { delivers, opens, startScriptedWorker } from '../../support/service/scripted-worker.ts';
import { forFile } from '../../support/for-file.ts';
import { until } from '../../support/until.ts';

const ended = { kind: 'ended', status: 'paid' } as const;

/** Temporal suggests to continue as new after a few verifications. */
const { play } = await forFile(
  startScriptedWorker(['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60']),
);

describe.concurrent('a payment workflow with a long history', () => {
  it('continues as new, and no update is lost', async () => {
    let tries = 0;
    const hasEnded = () => tries >= 30;
    const { handle, verify, callsOf } = await play({
      ...delivers,
      // It may continue as new just when the payment has ended.
      openPayment: async () =>
        hasEnded()
          ? { stage: 'ended' as const, status: 'paid' as const }
          : { stage: 'open' as const },
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
    await until('it continues as new', isContinued, 55_000);
    isBack = true;
    await handle.signal(recheckSignal);
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });

  it('handles a recheck before it continues as new', async () => {
    let tries = 0;
    const gate = Promise.withResolvers<void>();
    const { handle, verify, callsOf } = await play({
      ...opens,
      ...delivers,
      async verifyPayment() {
        const nth = (tries += 1);
        await gate.promise;
        return nth > 1 ? ended : { kind: 'waiting' };
      },
    });
    const isLong = async () => {
      const { events } = await handle.fetchHistory();
      return events?.some(
        (event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew,
      );
    };
    const verifying = verify();
    await until('the gateway is asked', () => tries === 1);
    // Signals that the workflow does not know make its history long while the gateway is asked.
    for (let sent = 0; sent < 60 && !(await isLong()); sent += 1) {
      await handle.signal('unknown');
      await handle.query('__stack_trace');
    }
    expect(await isLong()).toBe(true);
    await handle.signal(recheckSignal);
    // The workflow has handled the signal once it answers a query.
    await handle.query('__stack_trace');
    gate.resolve();
    await verifying;
    await until('the gateway is asked again', () => tries > 1);
    await handle.result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });
});
