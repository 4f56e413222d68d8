import { randomUUID } from 'node:crypto';
import { WorkflowFailedError } from '@temporalio/client';
import { expect, it } from 'vitest';
import { eventNotFound } from '../../../temporal/failures.ts';
import { deliverSignal, recheckSignal, refundWorkflow } from '../../../temporal/messages.ts';
import { refundStartOptions } from '../../../temporal/start-options.ts';
import type { refund } from '../../../workflows/refund.ts';
import { forFile } from '../../support/for-file.ts';
import {
  countEvents,
  detailsOf,
  type Script,
  startScriptedWorker,
} from '../../support/service/scripted-worker.ts';
import { until } from '../../support/until.ts';

type RefundPayment = NonNullable<Script['refundPayment']>;
const refundPayments = new Map<string, RefundPayment>();
const worker = await forFile(
  startScriptedWorker(['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=60'], {
    refundPayment: async (request) => refundPayments.get(request.id)!(request),
  }),
);

/** A refund with these activities. */
const play = async (script: Required<Pick<Script, 'refundPayment' | 'deliverWebhook'>>) => {
  const { id, callsOf } = worker.prepare(script);
  let asked = 0;
  refundPayments.set(id, (request) => {
    asked += 1;
    return script.refundPayment(request);
  });
  const money = { refundAmount: 600, currency: 'EUR' };
  const start = {
    ...{ refundId: id, id: `PAY_${randomUUID()}`, application: 'shop', orderId: '1' },
    ...money,
  };
  const handle = await worker.client.workflow.start<typeof refund>(
    refundWorkflow,
    refundStartOptions(start),
  );
  const sent = (event: string) =>
    callsOf('deliverWebhook').filter(
      ({ request }) => (request as { eventId?: string }).eventId === event,
    ).length;
  return { handle, sent, asked: () => asked };
};

it('a replay of a refund’s event is carried out while another event is still being delivered', async () => {
  const sending = Promise.withResolvers<void>();
  const { handle, sent } = await play({
    refundPayment: async () => ({ events: ['first', 'second'] }),
    async deliverWebhook({ eventId }) {
      if (eventId === 'second') await sending.promise;
      return 'delivered';
    },
  });
  await until('the first is delivered', async () => {
    const over = await countEvents(handle, 'activityTaskCompletedEventAttributes');
    return over === 2 && sent('second') === 1;
  });
  await handle.signal(deliverSignal);
  await until('it is sent again', () => sent('first') === 2);
  sending.resolve();
  await handle.result();
  expect([sent('first'), sent('second')]).toEqual([2, 2]);
});

it('a recheck asks the gateway again while its last event is being delivered', async () => {
  const sending = Promise.withResolvers<void>();
  const { handle, sent, asked } = await play({
    refundPayment: async () => ({ events: ['first'] }),
    async deliverWebhook() {
      await sending.promise;
      return 'delivered';
    },
  });
  await until('it sends', () => sent('first') === 1);
  await handle.signal(recheckSignal);
  sending.resolve();
  await handle.result();
  expect(asked()).toBe(2);
  expect(sent('first')).toBe(1);
});

it('waits for its gateway by a timer, and says what it waits for', async () => {
  const says = 'The gateway has accepted the refund, and works on it';
  let hasEnded = false;
  const { handle, asked } = await play({
    refundPayment: async () =>
      hasEnded
        ? { events: [], says: 'The money has gone back' }
        : { events: [], againInMs: 60 * 60_000, says },
    deliverWebhook: async () => 'none',
  });
  const timer = await until('the timer', async () => {
    const { events } = await handle.fetchHistory();
    return events?.find((event) => event.timerStartedEventAttributes);
  });
  expect(JSON.parse(String(timer.userMetadata?.summary?.data))).toBe(says);
  expect((await handle.describe()).raw.pendingActivities).toEqual([]);
  expect(await detailsOf(handle)).toMatch(
    /\*\*Refund:\*\* The gateway has accepted .* asked again/,
  );
  hasEnded = true;
  await handle.signal(recheckSignal);
  await handle.result();
  expect(asked()).toBe(2);
  expect(await detailsOf(handle)).toBe('**Refund:** The money has gone back.');
});

it('continues as new while a gateway works on it for long', async () => {
  let asked = 0;
  const { handle } = await play({
    refundPayment: async () => {
      asked += 1;
      return asked > 8 ? { events: [] } : { events: [], againInMs: 1 };
    },
    deliverWebhook: async () => 'none',
  });
  const { runId } = await handle.describe();
  await handle.result();
  expect((await handle.describe()).runId).not.toBe(runId);
});

it('a delivery that fails for good fails the workflow, which does not wait for the next try', async () => {
  const { handle, asked } = await play({
    refundPayment: async () => ({ events: ['first'], againInMs: 60 * 60_000 }),
    async deliverWebhook({ id }) {
      throw eventNotFound(id);
    },
  });
  await expect(handle.result()).rejects.toThrow(WorkflowFailedError);
  expect(asked()).toBe(1);
});
