import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Client, ScheduleOptions } from '@temporalio/client';
import {
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import {
  historyRetention,
  paymentsQueue,
  searchAttributes,
  sweepScheduleId,
  sweepWorkflow,
} from './messages.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

const patienceMs = 60_000;
const searchableMs = 10_000;

/**
 * Makes the namespace where it is missing, with its search attributes, as soon as the server takes it.
 * Can be repeated; a namespace that exists keeps its retention.
 * @returns whether it was missing
 */
export const createNamespace = async (client: Client): Promise<boolean> => {
  const until = Date.now() + patienceMs;
  const isNew = await eventually(until, () => registerNamespace(client));
  // The server's parts hear of a new namespace one after the other.
  await eventually(until, () => addSearchAttributes(client));
  return isNew;
};

const registerNamespace = async (client: Client): Promise<boolean> => {
  try {
    await client.workflowService.registerNamespace({
      namespace: client.options.namespace,
      workflowExecutionRetentionPeriod: msToTs(historyRetention),
    });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === status.ALREADY_EXISTS) return false;
    throw error;
  }
};

const eventually = async <T>(until: number, act: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await act();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(500);
    }
};

/** What the service needs of its namespace beside the workflows: made where it is missing. */
export const setupNamespace = async (client: Client): Promise<void> => {
  await addSearchAttributes(client);
  await createSweepSchedule(client);
};

const addSearchAttributes = async (client: Client) => {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const names = Object.values(searchAttributes).map(({ name }) => name);
  const missing = names.filter((name) => !Object.hasOwn(customAttributes, name));
  if (missing.length > 0)
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
      ),
    });
  // The server reads a namespace every few seconds: until then it would refuse to start payments, also
  // those of a worker that finds what another one has just added. Where it takes longer, the sweep
  // starts what was refused.
  const query = names.map((name) => `${name} = 'none'`).join(' AND ');
  await eventually(Date.now() + searchableMs, () => client.workflow.count(query)).catch(() => {});
};

/** One that an earlier release made becomes this one's, but for its state: an operator may have paused it. */
const createSweepSchedule = async (client: Client) => {
  const schedule = {
    spec: { intervals: [{ every: '30s' }] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
    action: {
      type: 'startWorkflow',
      workflowType: sweepWorkflow,
      workflowId: 'sweep',
      taskQueue: paymentsQueue,
      args: [],
      workflowRunTimeout: '2m',
    },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
  try {
    await client.schedule.create({ scheduleId: sweepScheduleId, ...schedule });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(sweepScheduleId);
    await handle.update(({ state }) => ({ ...schedule, state }));
  }
};
