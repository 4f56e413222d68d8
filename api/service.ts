import type { Client } from '@temporalio/client';
import { limits } from '../contract/limits.ts';
import type { ApiMetrics } from '../operations/metrics.ts';
import type { Sql } from '../postgres/connection.ts';
import { createNotificationReader } from '../gateways/registry.ts';
import { createGateways } from '../postgres/gateways.ts';
import { createIdempotencyKeys } from '../postgres/idempotency-keys.ts';
import { createPayments } from '../postgres/payments.ts';
import { createSandboxPayments } from '../postgres/sandbox-payments.ts';
import type { KeyRing } from '../postgres/secret-box.ts';
import { createSecretBox } from '../postgres/secret-box.ts';
import { createTokens } from '../postgres/tokens.ts';
import { createUnstarted } from '../postgres/unstarted.ts';
import type { Logger } from '../process.ts';
import { createAddressLimiter } from './address-limiter.ts';
import { applicationHandlers } from './application.ts';
import { createApp } from './app.ts';
import { createAuthenticate } from './authentication.ts';
import { createBacklog } from './backlog.ts';
import { createDocumentHandlers } from './documents.ts';
import type { Network } from './client-address.ts';
import { createClientAddress } from './client-address.ts';
import { createNotificationHandlers } from './notifications.ts';
import { createLateStarter, spaceOut } from './late.ts';
import { createPayerHandlers } from './payer.ts';
import { createPaymentHandlers } from './payments.ts';
import { createSandboxHandlers } from './sandbox.ts';
import { shareAuthentication } from './shared-authentication.ts';
import { createSettler } from './settler.ts';
import { createStarter } from './starter.ts';

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
  const unstarted = createUnstarted(sql);
  const starter = createStarter({ client, unstarted, logger });
  const settler = createSettler({ client });
  const startLate = createLateStarter({ client });
  const backlog = createBacklog({ unstarted, logger });
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
      settler,
      metrics,
      publicBaseUrl,
      now,
    }),
    ...createPayerHandlers({
      payments,
      settler,
      starter,
      startLate: spaceOut(startLate),
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
