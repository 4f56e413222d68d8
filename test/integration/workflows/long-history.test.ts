import { describe, expect, it, onTestFinished } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import { recheckSignal, verifyUpdate } from '../../../temporal/messages.ts';
import { delivers, opens, startScriptedWorker } from '../../support/scripted-worker.ts';
import { until } from '../../support/until.ts';

const ended = { kind: 'ended', status: 'paid' } as const;

describe('a long history', () => {
  /** Histories are long there after a few questions to the gateway. */
  const aShortWorker = async () => {
    const soon = ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60'];
    const shortWorker = await startScriptedWorker(soon);
    onTestFinished(() => shortWorker.stop());
    const newest = (id: string) => shortWorker.client.workflow.getHandle(id);
    const ask = (id: string) =>
      newest(id).executeUpdate<VerificationResult, [{ returned: boolean }]>(verifyUpdate, {
        args: [{ returned: false }],
      });
    return { ...shortWorker, newest, ask };
  };

  it('is continued as a new run that knows what stands, and no update is lost', async () => {
    const { play, newest, ask } = await aShortWorker();
    let tries = 0;
    const hasEnded = () => tries >= 30;
    const { id, handle, callsOf } = await play({
      ...delivers,
      // As the record has it: a run may be continued just when the payment has ended.
      openPayment: async () => (hasEnded() ? { ended: 'paid' as const } : 'open'),
      async verifyPayment() {
        tries += 1;
        return hasEnded() ? ended : { kind: 'waiting' };
      },
    });
    const first = (await handle.describe()).runId;
    for (let asked = 0; asked < 30; asked += 1)
      expect((await ask(id)).kind).toBe(asked === 29 ? 'ended' : 'waiting');
    await newest(id).result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
    expect((await newest(id).describe()).runId).not.toBe(first);
  });

  it('is continued also in the long pauses of a gateway that stays silent', async () => {
    const { play, newest, ask } = await aShortWorker();
    let isBack = false;
    const { id, handle, callsOf } = await play(
      {
        ...opens,
        ...delivers,
        verifyPayment: async () => ({ kind: 'unknown' }),
        expirePayment: async () => (isBack ? ended : { kind: 'unknown' }),
      },
      { expiresInMs: -16 * 60_000 },
    );
    const first = (await handle.describe()).runId;
    const isContinued = async () => (await newest(id).describe()).runId !== first;
    for (let asked = 0; asked < 15 && !(await isContinued()); asked += 1) await ask(id);
    // Sooner than its first pause is over, which is a minute.
    await until('it is continued', isContinued, 30_000);
    isBack = true;
    await newest(id).signal(recheckSignal);
    await newest(id).result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });

  it('is not continued over news that came while a question was still open', async () => {
    const { play, newest, ask } = await aShortWorker();
    let tries = 0;
    let told = Infinity;
    let gate = Promise.withResolvers<void>();
    const { id, callsOf } = await play({
      ...opens,
      ...delivers,
      async verifyPayment() {
        const nth = (tries += 1);
        await gate.promise;
        return nth > told ? ended : { kind: 'waiting' };
      },
    });
    const isLong = async () => {
      const { events = [] } = await newest(id).fetchHistory();
      return events?.some(
        (event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew,
      );
    };
    while (told === Infinity) {
      const asking = ask(id);
      const nth = tries + 1;
      await until('the gateway is asked', () => tries === nth);
      if (await isLong()) {
        await newest(id).signal(recheckSignal);
        // It is answered by a workflow that has heard of the news.
        await newest(id).query('__stack_trace');
        told = nth;
      }
      gate.resolve();
      await asking;
      gate = Promise.withResolvers<void>();
    }
    await until('the gateway is asked again', () => tries > told);
    gate.resolve();
    await newest(id).result();
    expect(callsOf('deliverWebhook')).toHaveLength(1);
  });
});
