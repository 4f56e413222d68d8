import type { TargetRule } from '../webhooks/address.ts';
import type { WebhookDispatcher } from '../webhooks/connector.ts';
import type { AuditFilter, AuditRecord } from '../postgres/audit-log.ts';
import { createAuditLog } from '../postgres/audit-log.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { SecretBox } from '../postgres/secret-box.ts';
import { createApplicationOperations } from './applications.ts';
import { createChange } from './change.ts';
import { createDeliveryOperations } from './deliveries.ts';
import type { ProblemWithAccount } from './gateways.ts';
import type { Engine } from '../temporal/admin-client.ts';
import { createGatewayOperations } from './gateways.ts';
import { createPaymentOperations } from './payments.ts';
import { createReconciliation } from './reconciliation.ts';
import type { Resets } from './resets.ts';
import type { RetentionPolicy } from './retention.ts';
import { createPurge } from './retention.ts';
import { createSecretOperations } from './secrets.ts';
import { createTokenOperations } from './tokens.ts';
import { createWebhookTest } from './webhook-test.ts';

export interface Deps {
  sql: Sql;
  /** Who: written beside every change. */
  actor: string;
  targetRule: TargetRule;
  /** Every address of a name: what a webhook URL leads to is judged when it is saved, too. */
  resolve: (hostname: string) => Promise<string[]>;
  /** @throws where SECRETS_KEY is not known */
  secretBox: () => SecretBox;
  problemWithAccount: ProblemWithAccount;
  /** @throws where Temporal cannot be reached */
  resets: () => Promise<Resets>;
  /** @throws where Temporal cannot be reached */
  engine: () => Promise<Engine>;
  retention: RetentionPolicy;
  dispatcher: () => WebhookDispatcher;
  workflowUrl: (paymentId: string) => string | null;
  now: () => Date;
}

/** All that an admin can do, whatever it is asked through: the command line, later a console. */
export const createOperations = (deps: Deps) => {
  const shared = { ...deps, change: createChange(deps) };
  return {
    applications: createApplicationOperations(shared),
    tokens: createTokenOperations(shared),
    secrets: createSecretOperations(shared),
    gateways: createGatewayOperations(shared),
    payments: createPaymentOperations(shared),
    deliveries: createDeliveryOperations(shared),
    reconcile: createReconciliation(shared),
    purge: createPurge(shared),
    testWebhook: createWebhookTest(shared),
    auditLog: (filter: AuditFilter): Promise<AuditRecord[]> =>
      createAuditLog(deps.sql).list(filter),
  };
};
export type Operations = ReturnType<typeof createOperations>;
