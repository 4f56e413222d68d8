import type { Client } from '@temporalio/client';
import { limits } from '../contract/limits.ts';
import { createNotificationReader } from '../gateways/registry.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import { createGateways } from '../postgres/gateways.ts';
import { createEvents } from '../postgres/events.ts';
import { createIdempotencyKeys } from '../postgres/idempotency-keys.ts';
import { createPayments } from '../postgres/payments.ts';
import { createReplays } from '../postgres/replays.ts';
import { createSandboxPayments } from '../postgres/sandbox-payments.ts';
import { createSandboxPlans } from '../postgres/sandbox-plans.ts';
import type { KeyRing } from '../postgres/secret-box.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createWebhookTests } from '../postgres/webhook-tests.ts';
import { createWorkflowOutbox } from '../postgres/workflow-outbox.ts';
import type { Logger } from '../telemetry/log.ts';
import type { ApiMetrics } from '../telemetry/metrics.ts';
import { createPaymentWorkflows, type PaymentWorkflows } from '../temporal/payment-workflows.ts';
import { createAuthenticate } from './auth/authentication.ts';
import { getApplicationHandler } from './auth/me.ts';
import { getEventHandler } from './events/get.ts';
import { listEventsHandler } from './events/list.ts';
import { replayEventHandler } from './events/replay.ts';
import { notifyOfPaymentHandler } from './gateways/notifications.ts';
import { createApp } from './http/app.ts';
import type { Network } from './http/client-address.ts';
import { createClientAddress } from './http/client-address.ts';
import { createRateLimiter } from './http/rate-limiter.ts';
import { getDocsAssetHandler, showDocsHandler } from './openapi/docs-page.ts';
import { createOpenApi } from './openapi/document.ts';
import { getOpenApiHandler } from './openapi/serve-document.ts';
import { checkoutHandler } from './payer/checkout.ts';
import { createGatewayBudget } from './payer/gateway-budget.ts';
import { createSearchLate } from './payer/late-payments.ts';
import { createPlayedPayers, type PlayedPayers } from './payer/played-payer.ts';
import { returnHandler } from './payer/return.ts';
import { chooseInSandboxHandler, showSandboxHandler } from './payer/sandbox.ts';
import { createBacklog } from './payments/backlog.ts';
import { createPaymentHandler } from './payments/create.ts';
import { getPaymentHandler } from './payments/get.ts';
import { listPaymentsHandler } from './payments/list.ts';
import { createStarter } from './payments/starter.ts';
import { createVerifier } from './payments/verifier.ts';
import { verifyPaymentHandler } from './payments/verify.ts';
import { createReplayHandler } from './replays/create.ts';
import { getReplayHandler } from './replays/get.ts';
import { stopReplayHandler } from './replays/stop.ts';
import type { Handlers } from './routes.ts';
import { testWebhookHandler } from './webhook/test.ts';

export interface Config {
  publicBaseUrl: string;
  trustedProxies: readonly Network[];
  payerPagesPerMinute: number;
  /** Opens the secrets that gateways sign notifications with; without it notifications get 503. */
  notificationKeyRing: KeyRing | undefined;
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

/** Puts the API together. */
export const createService = (deps: Deps) => {
  const { sql, client, logger, metrics } = deps;
  const outbox = createWorkflowOutbox(sql);
  const workflows = createPaymentWorkflows(client);
  const starter = createStarter({ workflows, outbox, logger });
  const backlog = createBacklog({ outbox, logger });
  const failures = createRateLimiter({ perMinute: limits.addressFailuresPerMinute, now: Date.now });
  let draining = false;

  const { handlers, playedPayers } = createHandlers({
    ...deps,
    workflows,
    starter,
    backlog,
    failures,
  });
  const app = createApp({
    handlers,
    authenticate: createAuthenticate({ tokens: createTokens(sql), failures, logger }),
    clientAddress: createClientAddress({ trustedProxies: deps.trustedProxies, logger }),
    payerPages: createRateLimiter({ perMinute: deps.payerPagesPerMinute, now: Date.now }),
    openRequests: createRateLimiter({ perMinute: limits.addressFailuresPerMinute, now: Date.now }),
    logger,
    metrics,
    requestsMax,
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
      await playedPayers.stop();
      await starter.drain();
    },
  };
};

interface HandlerDeps extends Deps {
  workflows: PaymentWorkflows;
  starter: ReturnType<typeof createStarter>;
  backlog: ReturnType<typeof createBacklog>;
  failures: ReturnType<typeof createRateLimiter>;
}

const createHandlers = (deps: HandlerDeps): { handlers: Handlers; playedPayers: PlayedPayers } => {
  const { sql, workflows, logger, metrics, publicBaseUrl, starter, backlog, failures } = deps;
  const now = () => new Date();
  const payments = createPayments(sql);
  const events = createEvents(sql);
  const gateways = createGateways(sql);
  const replays = createReplays(sql);
  const idempotencyKeys = createIdempotencyKeys(sql);
  const sandboxPayments = createSandboxPayments(sql);
  const verify = createVerifier({ workflows });
  const { notificationKeyRing } = deps;
  const notificationBox =
    notificationKeyRing && createSecretBox(notificationKeyRing, 'NOTIFICATIONS_KEY');
  const readNotification = notificationBox && createNotificationReader({ notificationBox, now });
  const { recheckLatePayment } = workflows;
  const budget = createGatewayBudget({ now: Date.now, logger });
  const searchLate = createSearchLate({ recheckLatePayment, budget, now, logger });
  const returnFromGateway = returnHandler({ payments, verify, searchLate, budget, now, logger });
  const checkout = checkoutHandler({ payments, starter, now });
  const playedPayers = createPlayedPayers({
    sandboxPlans: createSandboxPlans(sql),
    sandboxPayments,
    payments,
    checkout,
    returnFromGateway,
    logger,
  });
  const handlers: Handlers = {
    getApplication: getApplicationHandler,
    createPayment: createPaymentHandler({
      payments,
      idempotencyKeys,
      gateways,
      starter,
      playedPayers,
      backlog,
      metrics,
      publicBaseUrl,
      now,
    }),
    listPayments: listPaymentsHandler({ payments, publicBaseUrl }),
    getPayment: getPaymentHandler({ payments, publicBaseUrl }),
    verifyPayment: verifyPaymentHandler({ payments, verify, searchLate, publicBaseUrl, now }),
    listEvents: listEventsHandler({ events, publicBaseUrl }),
    getEvent: getEventHandler({ events, publicBaseUrl }),
    replayEvent: replayEventHandler({ events, workflows, publicBaseUrl }),
    createReplay: createReplayHandler({ replays, events, workflows, publicBaseUrl }),
    getReplay: getReplayHandler({ replays }),
    stopReplay: stopReplayHandler({ replays, workflows }),
    testWebhook: testWebhookHandler({
      sql,
      webhookTests: createWebhookTests(sql),
      workflows,
    }),
    checkout,
    returnFromGateway,
    returnFromGatewayByPost: (request) => returnFromGateway(request),
    showSandbox: showSandboxHandler({ sandboxPayments, payments }),
    chooseInSandbox: chooseInSandboxHandler({ sandboxPayments }),
    notifyOfPayment: notifyOfPaymentHandler({
      gateways,
      payments,
      workflows,
      readNotification,
      unverified: failures,
      metrics,
      now,
      logger,
    }),
    getOpenApi: getOpenApiHandler(createOpenApi(publicBaseUrl)),
    showDocs: showDocsHandler,
    getDocsAsset: getDocsAssetHandler(),
  };
  return { handlers, playedPayers };
};
