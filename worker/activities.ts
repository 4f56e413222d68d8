import { activityInfo } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { createBreaker } from '../activities/breaker.ts';
import { createBulkhead } from '../activities/bulkhead.ts';
import { createActivities } from '../activities/index.ts';
import { createPace } from '../activities/pace.ts';
import { createSweeperTasks } from '../activities/sweeper-tasks/index.ts';
import { limits } from '../contract/limits.ts';
import { createMailer, type Mailer } from '../mail/smtp.ts';
import { createWorkflowCalls } from '../temporal/workflow-calls.ts';
import { createWebhookDispatcher } from '../webhooks/connector.ts';
import { createLookup, createNameResolver, resolveHost } from '../webhooks/dns.ts';
import { attemptDeadlineMs } from '../webhooks/request.ts';
import { createGatewayDispatchers, gatewayLimits } from '../gateways/http.ts';
import { createAdapters } from '../gateways/adapters.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createAccountComparison } from '../postgres/accounts/comparison.ts';
import { createAccountStatement } from '../postgres/accounts/statement.ts';
import { createDeliveries } from '../postgres/webhooks/deliveries.ts';
import { createDisputes } from '../postgres/payments/disputes.ts';
import { createGatewayEntries } from '../postgres/accounts/gateway-entries.ts';
import { createProofs } from '../postgres/gateways/proofs.ts';
import { createGatewayExchanges } from '../postgres/gateways/exchanges.ts';
import { createNoticeQueue } from '../postgres/notices/queue.ts';
import { createGateways } from '../postgres/gateways/gateways.ts';
import { createRenewals } from '../postgres/gateways/renewals.ts';
import { createIdempotencyKeys } from '../postgres/payments/idempotency-keys.ts';
import { createLatePayments } from '../postgres/payments/late-payments.ts';
import { createRefundOutcomes } from '../postgres/refunds/outcomes.ts';
import { createNotices } from '../postgres/notices/notices.ts';
import { createReceivers } from '../postgres/webhooks/receivers.ts';
import { createReplays } from '../postgres/webhooks/replays.ts';
import { createSandboxPayments } from '../postgres/sandbox/payments.ts';
import { createSandboxRefunds } from '../postgres/sandbox/refunds.ts';
import type { KeyRing } from '../postgres/secrets/secret-box.ts';
import { createSecretBox, noKeys } from '../postgres/secrets/secret-box.ts';
import { createLinkEnds } from '../postgres/links/ends.ts';
import { createOrders } from '../postgres/orders.ts';
import { createPayouts } from '../postgres/accounts/payouts.ts';
import { createPayers } from '../postgres/payments/payers.ts';
import { createPaymentOutcomes } from '../postgres/payments/outcomes.ts';
import { createSweeperQueries } from '../postgres/payments/sweeper.ts';
import { createWebhookTests } from '../postgres/webhooks/webhook-tests.ts';
import { createWorkflowOutbox } from '../postgres/payments/workflow-outbox.ts';
import type { Logger } from '../telemetry/log.ts';
import {
  countNotices,
  instrumentDeliveries,
  instrumentGateways,
  instrumentLogger,
  instrumentPaymentOutcomes,
  instrumentSweeperTasks,
} from './instrumented.ts';
import { createTemporalAdmin } from '../temporal/admin-client.ts';
import { createActivityStartedAt } from '../temporal/activity-started-at.ts';
import { deliverySlots, paymentSlots } from './workers.ts';

/** Deliveries whose turn comes later wait in Postgres, where a long backlog costs nothing. */
const longestDeliveryLineMs = 2 * 60_000;

export interface Deps {
  config: {
    PUBLIC_BASE_URL: string;
    /** Undefined in a worker that calls no gateway. */
    SECRETS_KEY?: KeyRing | undefined;
    /** Undefined in a worker that sends no webhook. */
    WEBHOOKS_KEY?: KeyRing | undefined;
    /** Undefined in a worker that calls no gateway. */
    PAYERS_KEY?: KeyRing | undefined;
    ALLOW_LOOPBACK_TARGETS: boolean;
    /** Undefined in a worker that sends no mail. */
    SMTP_HOST?: string | undefined;
    SMTP_PORT?: number;
    SMTP_USER?: string | undefined;
    SMTP_PASSWORD?: string | undefined;
    SMTP_FROM?: string | undefined;
    CONSOLE_BASE_URL?: string | undefined;
  };
  client: Client;
  sql: Sql;
  metrics: WorkerMetrics;
  logger: Logger;
}

/** Creates the activities with their collaborators, instrumented for metrics. */
export const composeActivities = ({ config, client, sql, metrics, logger }: Deps) => {
  const targetRule = { allowLoopback: config.ALLOW_LOOPBACK_TARGETS };
  const dispatcher = createWebhookDispatcher({ ...targetRule, timeoutMs: attemptDeadlineMs });
  const resolve = createNameResolver({ budgetMs: gatewayLimits.connectMs });
  const lookup = createLookup((host) => resolveHost(host, resolve));
  const gatewayDispatchers = createGatewayDispatchers({ lookup });
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const now = () => new Date();
  const proofs = createProofs(sql);
  const secretBox = createSecretBox(config.SECRETS_KEY ?? noKeys);
  const gatewayOf = createAdapters({
    orderNumber: proofs.nextOrderNumber,
    claimProof: proofs.claim,
    claimedProofs: proofs.listClaimed,
    sandboxPayments: createSandboxPayments(sql),
    sandboxRefunds: createSandboxRefunds(sql),
    publicBaseUrl,
    secretBox,
    dispatcherOf: gatewayDispatchers.dispatcherOf,
    ...targetRule,
    now,
  });
  const collaborators = {
    gatewayExchanges: createGatewayExchanges(sql),
    orders: createOrders(sql),
    paymentOutcomes: instrumentPaymentOutcomes(createPaymentOutcomes(sql), { metrics, logger }),
    gatewayOf: instrumentGateways(gatewayOf, metrics),
    workflows: createWorkflowCalls(client),
    receivers: createReceivers(sql),
    payouts: createPayouts(sql),
    linkEnds: createLinkEnds(sql),
    publicBaseUrl,
    now,
    logger: instrumentLogger(logger, metrics),
  };
  const sweeperTasks = createSweeperTasks({
    ...collaborators,
    sweeperQueries: createSweeperQueries(sql),
    outbox: createWorkflowOutbox(sql),
    idempotencyKeys: createIdempotencyKeys(sql),
    payers: createPayers(sql),
    disputes: createDisputes(sql),
    notices: createNotices(sql),
    renewals: createRenewals(sql),
    secretBox,
  });
  const activities = createActivities({
    ...collaborators,
    sql,
    accountComparison: createAccountComparison(sql),
    gatewayEntries: createGatewayEntries(sql),
    accountStatement: createAccountStatement(sql),
    noticeQueue: createNoticeQueue(sql),
    mailer: mailerOf(config),
    countNotices: countNotices(metrics),
    consoleUrl: config.CONSOLE_BASE_URL,
    runningWorkflows: createTemporalAdmin(client).running,
    replays: createReplays(sql),
    webhookTests: createWebhookTests(sql),
    latePayments: createLatePayments(sql),
    refundOutcomes: createRefundOutcomes(sql),
    deliveries: instrumentDeliveries(createDeliveries(sql), metrics),
    secretBox: createSecretBox(config.WEBHOOKS_KEY ?? noKeys, 'WEBHOOKS_KEY'),
    payersBox: createSecretBox(config.PAYERS_KEY ?? noKeys, 'PAYERS_KEY'),
    targetRule,
    gatewayBulkhead: createBulkhead({ perOwner: paymentSlots / 4 }),
    breaker: createBreaker(createGateways(sql)),
    replayPace: createPace({ perSecond: limits.workerReplaysPerSecond, longestWaitMs: 2_000 }),
    deliveryBulkhead: createBulkhead({
      perOwner: deliverySlots / 4,
      longestLineMs: longestDeliveryLineMs,
    }),
    activityStartedAt: createActivityStartedAt(client),
    isRetry: () => activityInfo().attempt > 1,
    dispatcher,
    sweeperTasks: instrumentSweeperTasks(sweeperTasks, metrics),
  });
  return {
    activities,
    async close() {
      await Promise.all([dispatcher.destroy(), gatewayDispatchers.destroy()]);
    },
  };
};

const mailerOf = ({
  SMTP_HOST: host,
  SMTP_PORT: port,
  SMTP_USER: user,
  SMTP_PASSWORD: password,
  SMTP_FROM: from,
  PUBLIC_BASE_URL: publicBaseUrl,
}: Deps['config']): Mailer | undefined =>
  host !== undefined && port !== undefined && from !== undefined
    ? createMailer({ host, port, user, password, from, publicBaseUrl })
    : undefined;
