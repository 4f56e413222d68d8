import type {
  AuditFilter,
  AuditRecord,
  ChainEnd,
  VerifiedChain,
  Via,
} from '../postgres/audit-log.ts';
import { createAuditLog } from '../postgres/audit-log.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import type { TemporalAdmin } from '../temporal/admin-client.ts';
import type { TargetRule } from '../webhooks/address.ts';
import { createApplicationOperations } from './applications.ts';
import { createChange } from './change.ts';
import { createConsoleLogins } from './console-logins.ts';
import type { ProblemWithAccount, SealCredentials } from './gateways.ts';
import { createGatewayOperations } from './gateways.ts';
import { createPaymentOperations } from './payments.ts';
import { createReconciliation } from './reconciliation.ts';
import { createReplayOperations } from './replays.ts';
import type { RetentionPolicy } from './retention.ts';
import { createPurge } from './retention.ts';
import { createSecretOperations } from './secrets.ts';
import { createTokenOperations } from './tokens.ts';
import { createWebhookTest } from './webhook-test.ts';

export interface Deps {
  sql: Sql;
  /** The admin's name, for the audit log. */
  actor: string;
  via: Via;
  targetRule: TargetRule;
  /** Returns all addresses of a host name, to check a webhook URL when it is saved. */
  resolve: (hostname: string) => Promise<string[]>;
  /** @throws without SECRETS_KEY */
  secretBox: () => SecretBox;
  /** @throws without WEBHOOKS_KEY */
  webhookBox: () => SecretBox;
  /** @throws without NOTIFICATIONS_KEY */
  notificationBox: () => SecretBox;
  problemWithAccount: ProblemWithAccount;
  sealCredentials: SealCredentials;
  /** @throws if Temporal cannot be reached */
  temporal: () => Promise<TemporalAdmin>;
  retention: RetentionPolicy;
  /** A link into the Temporal UI; null if its address is not known. */
  workflowUrl: (paymentId: string) => string | null;
  /** The address of the web console for people. */
  consoleUrl: string;
  now: () => Date;
}

/** @param noted a record that an admin has noted elsewhere, which must still be there */
const verifyAuditLog = async (
  sql: Sql,
  noted: ChainEnd | null,
): Promise<VerifiedChain & { hasNoted: boolean }> => {
  const auditLog = createAuditLog(sql);
  const hasNoted = noted === null || (await auditLog.has(noted));
  return { ...(await auditLog.verify()), hasNoted };
};

/** All use cases of an admin. The command line calls them; any other surface can. */
export const createOperations = (deps: Deps) => {
  const shared = { ...deps, change: createChange(deps) };
  return {
    applications: createApplicationOperations(shared),
    tokens: createTokenOperations(shared),
    secrets: createSecretOperations(shared),
    gateways: createGatewayOperations(shared),
    payments: createPaymentOperations(shared),
    reconcile: createReconciliation(shared),
    purge: createPurge(shared),
    testWebhook: createWebhookTest(shared),
    replays: createReplayOperations(shared),
    console: createConsoleLogins(shared),
    auditLog: (filter: AuditFilter): Promise<AuditRecord[]> =>
      createAuditLog(deps.sql).list(filter),
    verifyAuditLog: (noted: ChainEnd | null) => verifyAuditLog(deps.sql, noted),
  };
};
export type Operations = ReturnType<typeof createOperations>;
