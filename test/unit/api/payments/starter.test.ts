import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createStarter } from '../../../../api/payments/starter.ts';
import type { OutboxEntry } from '../../../../postgres/workflow-outbox.ts';

/** A starter whose engine answers when it is told to. */
const aStarter = () => {
  const starts: PromiseWithResolvers<void>[] = [];
  const begun: string[] = [];
  const deadlines: number[] = [];
  const client = {
    withQueryTimeout(deadline: number, work: () => Promise<unknown>) {
      deadlines.push(deadline);
      return work();
    },
    workflow: {
      start(_name: string, { workflowId }: { workflowId: string }) {
        begun.push(workflowId);
        starts.push(Promise.withResolvers<void>());
        return starts.at(-1)!.promise;
      },
    },
  };
  const starter = createStarter({
    // All that a starter asks of a client.
    client: client as unknown as Client,
    outbox: { delete: async () => {} },
    logger: { warn() {} },
  });
  const answerAll = () => {
    for (const { resolve } of starts.splice(0)) resolve();
  };
  onTestFinished(async () => {
    answerAll();
    await starter.drain();
  });
  return { starter, starts, begun, deadlines, answerAll };
};

/** Until the starter has heard what it was answered. */
const hearing = () => new Promise(setImmediate);

const facts = (nth = 1): OutboxEntry => ({
  ...{ id: `PAY_${nth}`, application: 'shop', orderId: 'o-1', gateway: 'sandbox' },
  ...{ amount: 1250, currency: 'EUR', expiresAt: new Date(), traceId: null },
});

it('starts 100 at once, keeps 1,000 for later and leaves the rest to the sweep', async () => {
  const { starter, begun, answerAll } = aStarter();
  for (let nth = 1; nth <= 1_200; nth += 1) starter.start(facts(nth));
  expect(begun).toHaveLength(100);
  for (let count = 200; count <= 1_100; count += 100) {
    answerAll();
    await hearing();
    expect(begun).toHaveLength(count);
  }
  answerAll();
  await hearing();
  expect(begun).toEqual(Array.from({ length: 1_100 }, (_, index) => facts(index + 1).id));
});

it('gives each start 5 s, so that an engine that hangs gives its place back', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { starter, deadlines } = aStarter();
  starter.start(facts());
  expect(deadlines).toEqual([Date.now() + 5_000]);
});

it('a payer at the door waits for the start that is under way, and begins no second one', async () => {
  const { starter, begun, answerAll } = aStarter();
  starter.start(facts());
  let isOver = false;
  const waiting = starter.startNow(facts()).then(() => (isOver = true));
  await hearing();
  expect([begun, isOver]).toEqual([[facts().id], false]);
  answerAll();
  await waiting;
  // Started, and its row is still to be deleted.
  await starter.startNow(facts());
  expect(begun).toEqual([facts().id]);
});

it('a payer at the door tries again where the start that is under way fails', async () => {
  const { starter, starts, begun, answerAll } = aStarter();
  starter.start(facts());
  const waiting = starter.startNow(facts());
  starts.shift()?.reject(new Error('away'));
  await hearing();
  answerAll();
  await waiting;
  expect(begun).toEqual([facts().id, facts().id]);
});
