import { createHealingTask } from '../../../activities/sweeper-tasks/healing.ts';
import { createIdempotencyKeyTask } from '../../../activities/sweeper-tasks/idempotency-keys.ts';
import { createPayerTask } from '../../../activities/sweeper-tasks/payers.ts';
import { createInquiryTask } from '../../../activities/sweeper-tasks/inquiries.ts';
import { createOutboxTask } from '../../../activities/sweeper-tasks/outbox.ts';
import { createPostponedDeliveryTask } from '../../../activities/sweeper-tasks/postponed-deliveries.ts';
import { createReceiverTask } from '../../../activities/sweeper-tasks/receivers.ts';
import type { GatewayAdapter } from '../../../gateways/gateway.ts';
import {
  createGatewayExchanges,
  type GatewayExchanges,
} from '../../../postgres/gateways/exchanges.ts';
import { createIdempotencyKeys } from '../../../postgres/payments/idempotency-keys.ts';
import { createPayers } from '../../../postgres/payments/payers.ts';
import { createNotices } from '../../../postgres/notices/notices.ts';
import { createReceivers } from '../../../postgres/webhooks/receivers.ts';
import { createSweeperQueries } from '../../../postgres/payments/sweeper.ts';
import { createWorkflowOutbox } from '../../../postgres/payments/workflow-outbox.ts';
import type { RecheckRequest } from '../../../temporal/messages.ts';
import type { WorkflowCalls } from '../../../temporal/workflow-calls.ts';
import type { Records } from '../data/records.ts';
import { aGateway, publicBaseUrl, readableLogger } from './scripted-gateway.ts';

/** The sweeper's tasks with a scripted gateway. Records the payments whose workflows they touch. */
export const sweeperTasksOn = (
  records: Pick<Records, 'sql' | 'paymentOutcomes'>,
  script: Partial<GatewayAdapter>,
  {
    workflows = {},
    gatewayExchanges = createGatewayExchanges(records.sql),
    now = () => new Date(),
  }: {
    workflows?: Partial<WorkflowCalls>;
    gatewayExchanges?: Pick<GatewayExchanges, 'replaceRepeated'>;
    now?: () => Date;
  } = {},
) => {
  const { gatewayOf, asked, lists } = aGateway(script);
  const { logger, alerts, warnings } = readableLogger();
  /** The payments by what became of them. `reported`: rechecked, and their end would matter, too. */
  const touched: Record<
    'started' | 'restarted' | 'rechecked' | 'reported' | 'delivered' | 'late',
    string[]
  > = { started: [], restarted: [], rechecked: [], reported: [], delivered: [], late: [] };
  const deps = {
    sweeperQueries: createSweeperQueries(records.sql),
    outbox: createWorkflowOutbox(records.sql),
    idempotencyKeys: createIdempotencyKeys(records.sql),
    payers: createPayers(records.sql),
    receivers: createReceivers(records.sql),
    notices: createNotices(records.sql),
    now,
    paymentOutcomes: records.paymentOutcomes,
    gatewayExchanges,
    gatewayOf,
    workflows: {
      start: async ({ id }: { id: string }) => void touched.started.push(id),
      restart: async ({ id }: { id: string }) => void touched.restarted.push(id),
      async recheck({ id }: { id: string }, { unlessEnded = false }: RecheckRequest = {}) {
        touched.rechecked.push(id);
        if (!unlessEnded) touched.reported.push(id);
      },
      deliver: async ({ id }: { id: string }) => void touched.delivered.push(id),
      startLatePayment: async (id: string) => void touched.late.push(id),
      ...workflows,
    },
    publicBaseUrl,
    pause: async () => {},
    logger,
  };
  return {
    ...createOutboxTask(deps),
    ...createInquiryTask(deps),
    ...createHealingTask(deps),
    ...createPostponedDeliveryTask(deps),
    ...createIdempotencyKeyTask(deps),
    ...createPayerTask(deps),
    ...createReceiverTask(deps),
    asked,
    lists,
    ...touched,
    alerts,
    warnings,
  };
};
