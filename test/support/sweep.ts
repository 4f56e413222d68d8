import type { PaymentWorkflows } from '../../activities/payment-workflows.ts';
import { createSweeperActivities } from '../../activities/sweeper.ts';
import type { GatewayAdapter } from '../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../postgres/gateway-exchanges.ts';
import { createIdempotencyKeys } from '../../postgres/idempotency-keys.ts';
import { createSweeperQueries } from '../../postgres/sweeper.ts';
import { createWorkflowOutbox } from '../../postgres/workflow-outbox.ts';
import type { Records } from './records.ts';
import { aGateway, publicBaseUrl, readableLogger } from './scripted-gateway.ts';

/** The sweep's activities on a gateway that is scripted, and what they did to workflows. */
export const sweepOn = (
  records: Records,
  script: Partial<GatewayAdapter>,
  workflows: Partial<PaymentWorkflows> = {},
) => {
  const { gatewayOf, asked, lists } = aGateway(script);
  const told: string[] = [];
  const late: string[] = [];
  const started: { id: string; again: boolean }[] = [];
  const { logger, alerts, warnings } = readableLogger();
  const activities = createSweeperActivities({
    sweeperQueries: createSweeperQueries(records.sql),
    outbox: createWorkflowOutbox(records.sql),
    idempotencyKeys: createIdempotencyKeys(records.sql),
    paymentOutcomes: records.paymentOutcomes,
    gatewayExchanges: createGatewayExchanges(records.sql),
    gatewayOf,
    workflows: {
      async start({ id }, { again }) {
        started.push({ id, again });
      },
      async tell({ id }) {
        told.push(id);
      },
      async startLate(id) {
        late.push(id);
      },
      ...workflows,
    },
    publicBaseUrl,
    logger,
  });
  return { ...activities, asked, lists, told, late, started, alerts, warnings };
};
