import { expect, it, onTestFinished } from 'vitest';
import { createStarter } from '../../../../api/payments/starter.ts';
import type { OutboxEntry } from '../../../../postgres/payments/workflow-outbox.ts';
import { TemporalUnavailable } from '../../../../temporal/workflow-calls.ts';
import { aPayment } from '../../../support/data/payments.ts';

/** A starter whose starts succeed or fail when the test says so. */
const aStarter = () => {
  const starts: PromiseWithResolvers<void>[] = [];
  const begun: string[] = [];
  const warnings: string[] = [];
  const starter = createStarter({
    workflows: {
      start({ id }) {
        begun.push(id);
        starts.push(Promise.withResolvers<void>());
        return starts.at(-1)!.promise;
      },
    },
    outbox: { delete: async () => {} },
    logger: { warn: (_: unknown, message?: string) => void warnings.push(String(message)) },
  });
  const succeedAll = () => {
    for (const { resolve } of starts.splice(0)) resolve();
  };
  onTestFinished(async () => {
    succeedAll();
    await starter.drain();
  });
  return { starter, starts, begun, warnings, succeedAll };
};

/** Lets the starter react to results. */
const reactions = () => new Promise(setImmediate);

const entry = (nth = 1): OutboxEntry => ({ ...aPayment({ id: `PAY_${nth}` }), traceId: null });

it('runs 100 starts at once, queues 1,000 and leaves the rest to the sweeper', async () => {
  const { starter, begun, succeedAll } = aStarter();
  for (let nth = 1; nth <= 1_200; nth += 1) starter.start(entry(nth));
  expect(begun).toHaveLength(100);
  for (let count = 200; count <= 1_100; count += 100) {
    succeedAll();
    await reactions();
    expect(begun).toHaveLength(count);
  }
  succeedAll();
  await reactions();
  expect(begun).toEqual(Array.from({ length: 1_100 }, (_, index) => entry(index + 1).id));
});

it('logs a start that fails', async () => {
  const { starter, starts, warnings } = aStarter();
  starter.start(entry());
  starts.shift()?.reject(new TemporalUnavailable('away'));
  await reactions();
  expect(warnings).toEqual(['Could not start the workflow; the sweeper will retry']);
});

it('lets a payer wait for the start in flight and does not begin another', async () => {
  const { starter, begun, succeedAll } = aStarter();
  starter.start(entry());
  let isOver = false;
  const waiting = starter.startNow(entry()).then(() => (isOver = true));
  await reactions();
  expect([begun, isOver]).toEqual([[entry().id], false]);
  succeedAll();
  await waiting;
  // Started, but its outbox row is not deleted yet.
  await starter.startNow(entry());
  expect(begun).toEqual([entry().id]);
});

it('starts again for a payer if the start in flight fails', async () => {
  const { starter, starts, begun, succeedAll } = aStarter();
  starter.start(entry());
  const waiting = starter.startNow(entry());
  starts.shift()?.reject(new TemporalUnavailable('away'));
  await reactions();
  succeedAll();
  await waiting;
  expect(begun).toEqual([entry().id, entry().id]);
});
