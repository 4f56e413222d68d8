import type { Client } from '@temporalio/client';
import { limits } from '../contract/limits.ts';
import { createNotificationReader } from '../gateways/registry.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways } from '../postgres/gateways/gateways.ts';
import { createDisputes } from '../postgres/payments/disputes.ts';
import { createEvents } from '../postgres/webhooks/events.ts';
import { createIdempotencyKeys } from '../postgres/payments/idempotency-keys.ts';
import { createMovements } from '../postgres/accounts/movements.ts';
import { createNoticeAddresses } from '../postgres/notices/addresses.ts';
import { createLinks } from '../postgres/links/links.ts';
import { createPayments } from '../postgres/payments/payments.ts';
import { createRefunds } from '../postgres/refunds/refunds.ts';
import { createReceivers } from '../postgres/webhooks/receivers.ts';
import { createRefusedRequests } from '../postgres/applications/refused-requests.ts';
import { createReplays } from '../postgres/webhooks/replays.ts';
import { createSandboxPayments } from '../postgres/sandbox/payments.ts';
import type { KeyRing } from '../postgres/secrets/secret-box.ts';
import { createSecretBox } from '../postgres/secrets/secret-box.ts';
import { createTokens } from '../postgres/applications/tokens.ts';
import { createWebhookTests } from '../postgres/webhooks/webhook-tests.ts';
import { createWorkflowOutbox } from '../postgres/payments/workflow-outbox.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ApiMetrics } from '../telemetry/metrics.ts';
import { createWorkflowCalls, type WorkflowCalls } from '../temporal/workflow-calls.ts';
import { createApp } from './app.ts';
import { createAuthenticate } from './auth/authentication.ts';
import type { AddressInLog, Network } from './http/client-address.ts';
import { createClientAddress } from './http/client-address.ts';
import { createPageLimiter, createRateLimiter } from './http/rate-limiter.ts';
import { createRefusals } from './http/refusals.ts';
import { createOpenApi } from './openapi/document.ts';
import { createGatewayBudget, type GatewayBudget } from './payer/gateway-budget.ts';
import { createSearchLate } from './payer/late-payments.ts';
import { createBacklog } from './payments/backlog.ts';
import { createFingerprints } from './payments/idempotency.ts';
import { createStarter } from './payments/starter.ts';
import { createFollowUps, type FollowUps } from './payments/follow-up.ts';
import { createVerifier } from './payments/verifier.ts';
import { createHandlers, type Handlers } from './routes.ts';

export interface Config {
  publicBaseUrl: string;
  trustedProxies: readonly Network[];
  addressInLog: AddressInLog;
  payerPagesPerMinute: number;
  /** Opens the secrets that gateways sign notifications with; without it notifications get 503. */
  notificationKeyRing: KeyRing | undefined;
  /** Seals the data of payers, and makes the fingerprints of creates. */
  payersKeyRing: KeyRing;
  securityContact: string | undefined;
}

export interface Deps extends Config {
  sql: Sql;
  client: Client;
  logger: Logger;
  metrics: ApiMetrics;
}

/**
 * Concurrent requests in this process. A payer waits up to 10 s for a slow gateway, and one process
 * creates at most 167 payments a second: 1,670 payers then wait at checkout, and as many at the return.
 */
const requestsMax = 4_000;

/** Limits count by it: a clock of the machine that is set, or runs ahead, begins no minute anew. */
const steadyMs = () => performance.now();

/** Puts the API together. */
export const createService = (deps: Deps) => {
  const { sql, client, logger, metrics } = deps;
  const outbox = createWorkflowOutbox(sql);
  const workflows = createWorkflowCalls(client);
  const starter = createStarter({ workflows, outbox, logger });
  const backlog = createBacklog({ outbox, logger });
  const failures = createRateLimiter({ perMinute: limits.addressFailuresPerMinute, now: steadyMs });
  const refusals = createRefusals({ insert: createRefusedRequests(sql).insert, logger });
  let draining = false;

  const budget = createGatewayBudget({ now: steadyMs, logger });
  const verify = createVerifier({ workflows });
  const followUps = createFollowUps({ verify, budget, now: Date.now, logger });
  const parts = { workflows, starter, backlog, failures, budget, followUps };
  const handlers = connectHandlers({ ...deps, ...parts });
  const app = createApp({
    handlers,
    authenticate: createAuthenticate({ tokens: createTokens(sql), failures, logger }),
    clientAddress: createClientAddress({ trustedProxies: deps.trustedProxies, logger }),
    addressInLog: deps.addressInLog,
    payerPages: createPageLimiter({ perMinute: deps.payerPagesPerMinute, now: steadyMs }),
    openRequests: createRateLimiter({ perMinute: limits.addressFailuresPerMinute, now: steadyMs }),
    logger,
    metrics,
    refusals,
    requestsMax,
    securityContact: deps.securityContact,
    isDraining: () => draining,
  });

  return {
    handler: app.callback(),
    /** From now on every response closes its connection. */
    drain(): void {
      draining = true;
    },
    async stop(): Promise<void> {
      backlog.stop();
      followUps.stop();
      await Promise.all([starter.drain(), refusals.stop()]);
    },
  };
};

interface ServiceParts extends Deps {
  workflows: WorkflowCalls;
  starter: ReturnType<typeof createStarter>;
  backlog: ReturnType<typeof createBacklog>;
  failures: ReturnType<typeof createRateLimiter>;
  budget: GatewayBudget;
  followUps: FollowUps;
}

const connectHandlers = (deps: ServiceParts): Handlers => {
  const { sql, workflows, logger, metrics, publicBaseUrl, starter, backlog, failures } = deps;
  const { budget, followUps } = deps;
  const now = () => new Date();
  const payments = createPayments(sql);
  const events = createEvents(sql);
  const gateways = createGateways(sql);
  const replays = createReplays(sql);
  const refunds = createRefunds(sql);
  const idempotencyKeys = createIdempotencyKeys(sql);
  const sandboxPayments = createSandboxPayments(sql);
  const { notificationKeyRing, payersKeyRing } = deps;
  const notificationBox =
    notificationKeyRing && createSecretBox(notificationKeyRing, 'NOTIFICATIONS_KEY');
  const readNotification = notificationBox && createNotificationReader({ notificationBox, now });
  const { recheckLatePayment } = workflows;
  const { verify } = followUps;
  const searchLate = createSearchLate({ payments, recheckLatePayment, budget, logger });
  return createHandlers({
    sql,
    payments,
    idempotencyKeys,
    fingerprintsOf: createFingerprints(payersKeyRing),
    payersBox: createSecretBox(payersKeyRing, 'PAYERS_KEY'),
    gateways,
    events,
    replays,
    refunds,
    disputes: createDisputes(sql),
    links: createLinks(sql),
    movements: createMovements(sql),
    receivers: createReceivers(sql),
    noticeAddresses: createNoticeAddresses(sql),
    webhookTests: createWebhookTests(sql),
    sandboxPayments,
    workflows,
    starter,
    backlog,
    verify,
    searchLate,
    budget,
    readNotification,
    unverified: failures,
    reports: createRateLimiter({ perMinute: limits.paymentReportsPerMinute, now: steadyMs }),
    openApi: createOpenApi(publicBaseUrl),
    publicBaseUrl,
    metrics,
    now,
    logger,
  });
};
