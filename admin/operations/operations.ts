import type {
  AuditFilter,
  AuditRecord,
  ChainEnd,
  VerifiedChain,
} from '../../postgres/audit-log.ts';
import { createAuditLog } from '../../postgres/audit-log.ts';
import { createAccountOperations } from './accounts.ts';
import { createApplicationOperations } from './applications.ts';
import { createChange } from './change.ts';
import { createConsequences } from './consequences.ts';
import { createConsoleLogins } from './console-logins.ts';
import { createDisputeOperations } from './disputes.ts';
import { createEventOperations } from './events.ts';
import { createGatewayOperations } from './gateways.ts';
import { createInvitations } from './invitations.ts';
import { createLinkOperations } from './links/links.ts';
import { createNoticeOperations } from './notices.ts';
import { createOrderOperations } from './orders.ts';
import { createPaymentOperations } from './payments.ts';
import { createPayoutOperations } from './payouts.ts';
import { createReconciliation } from './reconciliation.ts';
import { createRefundOperations } from './refunds.ts';
import { createReplayOperations } from './replays.ts';
import { createPurge } from './retention.ts';
import { createSecretOperations } from './secrets.ts';
import { createTokenOperations } from './tokens.ts';
import { createWebhookTest } from './webhook-test.ts';
import type { Deps } from './deps.ts';
import type { Sql } from '../../postgres/driver/sql.ts';

/** @param noted a record that an admin has noted elsewhere, which must still be there */
const verifyAuditLog = async (
  sql: Sql,
  noted: ChainEnd | null,
): Promise<VerifiedChain & { hasNoted: boolean }> => {
  const auditLog = createAuditLog(sql);
  const hasNoted = noted === null || (await auditLog.has(noted));
  return { ...(await auditLog.verify()), hasNoted };
};

/** All use cases of an admin. The command line and the console call them. */
export const createOperations = (deps: Omit<Deps, 'change'>) => {
  const shared: Deps = { ...deps, change: createChange(deps) };
  const refunds = createRefundOperations(shared);
  return {
    accounts: createAccountOperations(shared),
    applications: createApplicationOperations(shared),
    consequences: createConsequences(shared),
    tokens: createTokenOperations(shared),
    secrets: createSecretOperations(shared),
    gateways: createGatewayOperations(shared),
    payouts: createPayoutOperations(shared),
    notices: createNoticeOperations(shared),
    payments: createPaymentOperations(shared),
    reconcile: createReconciliation(shared),
    purge: createPurge(shared),
    testWebhook: createWebhookTest(shared),
    refunds,
    orders: createOrderOperations(shared, refunds),
    disputes: createDisputeOperations(shared),
    links: createLinkOperations(shared),
    events: createEventOperations(shared),
    replays: createReplayOperations(shared),
    console: { ...createConsoleLogins(shared), ...createInvitations(shared) },
    auditLog: (filter: AuditFilter): Promise<AuditRecord[]> =>
      createAuditLog(deps.sql).list(filter),
    auditSearchedBackTo: (filter: AuditFilter) => createAuditLog(deps.sql).searchedBackTo(filter),
    verifyAuditLog: (noted: ChainEnd | null) => verifyAuditLog(deps.sql, noted),
  };
};
export type Operations = ReturnType<typeof createOperations>;
