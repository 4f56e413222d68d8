import type { Client } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import proto from '@temporalio/proto';
import {
  paymentsQueue,
  searchAttributes,
  sweepScheduleId,
  sweepWorkflow,
} from '../workflows/messages.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** What the service needs of its namespace beside the workflows: made where it is missing. */
export const prepareNamespace = async (client: Client): Promise<void> => {
  await addSearchAttributes(client);
  await createSweepSchedule(client);
};

const addSearchAttributes = async (client: Client) => {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes)
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(customAttributes, name));
  if (missing.length === 0) return;
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(
      missing.map((name) => [name, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
    ),
  });
};

const createSweepSchedule = async (client: Client) => {
  try {
    await client.schedule.create({
      scheduleId: sweepScheduleId,
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
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
};
