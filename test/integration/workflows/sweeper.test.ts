import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it, onTestFinished } from 'vitest';
import { paymentsQueue, sweepWorkflow } from '../../../temporal/messages.ts';
import { startScriptedWorker } from '../../support/scripted-worker.ts';

it('a sweep of which one part fails has done the others, and is seen to have failed', async () => {
  const done: string[] = [];
  const doing = (name: string) => async () => done.push(name);
  const worker = await startScriptedWorker([], {
    startOutboxWorkflows: async () => {
      throw ApplicationFailure.nonRetryable('Postgres is away');
    },
    listGatewaysInUse: async () => ['first', 'second'],
    inquireAtGateway: async ({ gateway }) => {
      if (gateway === 'first') throw ApplicationFailure.nonRetryable('It is silent');
      return done.push(gateway);
    },
    healPayments: doing('heal'),
    deleteExpiredIdempotencyKeys: doing('keys'),
  });
  onTestFinished(() => worker.stop());
  const workflowId = `sweep-${randomUUID()}`;
  const swept = worker.client.workflow.execute(sweepWorkflow, {
    taskQueue: paymentsQueue,
    workflowId,
  });
  await expect(swept).rejects.toMatchObject({ cause: { cause: { message: 'Postgres is away' } } });
  expect(done.toSorted()).toEqual(['heal', 'keys', 'second']);

  // Each has 25 s at most: the next sweep waits for it.
  const { events } = await worker.client.workflow.getHandle(workflowId).fetchHistory();
  const scheduled = (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes ?? [],
  );
  const seconds = scheduled.map(({ startToCloseTimeout }) => Number(startToCloseTimeout?.seconds));
  expect(seconds).toEqual([25, 25, 25, 25, 25, 25]);
});
