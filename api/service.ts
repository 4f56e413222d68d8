import type { Client } from '@temporalio/client';
import { limits } from '../contract/limits.ts';
import type { ApiMetrics } from '../telemetry/metrics.ts';
import type { Sql } from '../postgres/driver/connection.ts';
import { createNotificationReader } from '../gateways/registry.ts';
import { createGateways } from '../postgres/gateways.ts';
import { createIdempotencyKeys } from '../postgres/idempotency-keys.ts';
import { createPayments } from '../postgres/payments.ts';
import { createSandboxPayments } from '../postgres/sandbox-payments.ts';
import type { KeyRing } from '../postgres/secret-box.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createWorkflowOutbox } from '../postgres/workflow-outbox.ts';
import type { Logger } from '../telemetry/log.ts';
import { createAddressLimiter } from './http/address-limiter.ts';
import { applicationHandlers } from './auth/me.ts';
import { createApp } from './http/app.ts';
import { createAuthenticate } from './auth/authentication.ts';
import { createBacklog } from './payments/backlog.ts';
import { createDocumentHandlers } from './openapi/documents.ts';
import type { Network } from './http/client-address.ts';
import { createClientAddress } from './http/client-address.ts';
import { createNotificationHandlers } from './gateways/notifications.ts';
import { createLatePaymentStarter, throttleStarts } from './payer/late-payments.ts';
import { createPayerHandlers } from './payer/handlers.ts';
import { createPaymentHandlers } from './payments/handlers.ts';
import { createSandboxHandlers } from './payer/sandbox.ts';
import { shareAuthentication } from './auth/shared-authentication.ts';
import { createVerifier } from './payments/verifier.ts';
import { createStarter } from './payments/starter.ts';

export interface Deps {
  sql: Sql;
  client: Client;
  logger: Logger;
  metrics: ApiMetrics;
  publicBaseUrl: string;
  trustedProxies: readonly Network[];
  payerPagesPerMinute: number;
  /** Opens the secrets that gateways sign notifications with; none are taken without it. */
  keyRing: KeyRing | undefined;
}

/**
 * Under way at once in this process. Payers wait up to 10 s behind a slow gateway, and one process makes
 * 167 payments a second at most: 1,670 wait then, and as many for their return.
 */
const requestsMax = 4_000;

/** The API put together. */
export const createService = (deps: Deps) => {
  const { sql, client, logger, metrics, publicBaseUrl } = deps;
  const now = () => new Date();
  const payments = createPayments(sql);
  const gateways = createGateways(sql);
  const idempotencyKeys = createIdempotencyKeys(sql);
  const sandboxPayments = createSandboxPayments(sql);
  const outbox = createWorkflowOutbox(sql);
  const starter = createStarter({ client, outbox, logger });
  const verifier = createVerifier({ client });
  const startLate = createLatePaymentStarter({ client });
  const backlog = createBacklog({ outbox, logger });
  const failures = createAddressLimiter({ perMinute: limits.failuresPerMinute, now: Date.now });
  const secretBox = deps.keyRing && createSecretBox(deps.keyRing);
  let stopping = false;

  const handlers = {
    ...applicationHandlers,
    ...createDocumentHandlers({ publicBaseUrl }),
    ...createPaymentHandlers({
      payments,
      idempotencyKeys,
      gateways,
      starter,
      backlog,
      verifier,
      metrics,
      publicBaseUrl,
      now,
    }),
    ...createPayerHandlers({
      payments,
      verifier,
      starter,
      startLate: throttleStarts(startLate),
      now,
      logger,
    }),
    ...createSandboxHandlers({ sandboxPayments, payments }),
    ...createNotificationHandlers({
      gateways,
      payments,
      client,
      startLate,
      readNotification: secretBox && createNotificationReader({ secretBox, now }),
      unverified: failures,
      metrics,
      logger,
    }),
  };
  const app = createApp({
    handlers,
    authenticate: createAuthenticate({
      tokens: shareAuthentication(createTokens(sql)),
      failures,
      logger,
    }),
    clientAddress: createClientAddress({ trustedProxies: deps.trustedProxies, logger }),
    payerPages: createAddressLimiter({ perMinute: deps.payerPagesPerMinute, now: Date.now }),
    logger,
    metrics,
    requestsMax,
    isStopping: () => stopping,
  });

  return {
    handler: app.callback(),
    beginStop() {
      stopping = true;
    },
    async stop(): Promise<void> {
      backlog.stop();
      await starter.drain();
    },
  };
};
