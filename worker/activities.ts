import type { Client } from '@temporalio/client';
import { createActivities } from '../activities/index.ts';
import { createPlaces } from '../activities/places.ts';
import { createWebhookDispatcher } from '../activities/webhook-connector.ts';
import { attemptDeadlineMs } from '../activities/webhook-request.ts';
import { createGatewayDispatcher } from '../gateways/http.ts';
import { createAdapters } from '../gateways/adapters.ts';
import type { WorkerMetrics } from '../operations/metrics.ts';
import type { Sql } from '../postgres/connection.ts';
import { createDeliveries } from '../postgres/deliveries.ts';
import { createGatewayExchanges } from '../postgres/gateway-exchanges.ts';
import { createIdempotencyKeys } from '../postgres/idempotency-keys.ts';
import { createLateMoney } from '../postgres/late-money.ts';
import { createSandboxPayments } from '../postgres/sandbox-payments.ts';
import type { KeyRing } from '../postgres/secret-box.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createSettlements } from '../postgres/settlements.ts';
import { createSweepQueries } from '../postgres/sweep.ts';
import { createUnstarted } from '../postgres/unstarted.ts';
import type { Logger } from '../process.ts';
import {
  measuredDeliveries,
  measuredGateways,
  measuredLogger,
  measuredSettlements,
} from './measured.ts';
import { createHandedOutAt } from './handed-out.ts';
import { createPaymentWorkflows } from './payment-workflows.ts';
import { deliverySlots, paymentSlots } from './workers.ts';

export interface Deps {
  config: { PUBLIC_BASE_URL: string; SECRETS_KEY: KeyRing; ALLOW_LOOPBACK_TARGETS: boolean };
  client: Client;
  sql: Sql;
  metrics: WorkerMetrics;
  logger: Logger;
}

/** The activities with everything they work with, measured where metrics want it. */
export const composeActivities = ({ config, client, sql, metrics, logger }: Deps) => {
  const targetRule = { allowLoopback: config.ALLOW_LOOPBACK_TARGETS };
  const dispatcher = createWebhookDispatcher({ ...targetRule, timeoutMs: attemptDeadlineMs });
  const gatewayDispatcher = createGatewayDispatcher();
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const secretBox = createSecretBox(config.SECRETS_KEY);
  const now = () => new Date();
  const gatewayOf = createAdapters({
    sandboxPayments: createSandboxPayments(sql),
    publicBaseUrl,
    secretBox,
    dispatcher: gatewayDispatcher,
    ...targetRule,
    now,
  });
  const activities = createActivities({
    gatewayExchanges: createGatewayExchanges(sql),
    settlements: measuredSettlements(createSettlements(sql), { metrics, logger }),
    lateMoney: createLateMoney(sql),
    deliveries: measuredDeliveries(createDeliveries(sql), metrics),
    sweepQueries: createSweepQueries(sql),
    unstarted: createUnstarted(sql),
    idempotencyKeys: createIdempotencyKeys(sql),
    gatewayOf: measuredGateways(gatewayOf, metrics),
    secretBox,
    targetRule,
    gatewayPlaces: createPlaces({ perOwner: paymentSlots / 4 }),
    deliveryPlaces: createPlaces({ perOwner: deliverySlots / 4 }),
    workflows: createPaymentWorkflows(client),
    handedOutAt: createHandedOutAt(client),
    dispatcher,
    publicBaseUrl,
    now,
    logger: measuredLogger(logger, metrics),
  });
  return {
    activities,
    async close() {
      await Promise.all([dispatcher.destroy(), gatewayDispatcher.destroy()]);
    },
  };
};
