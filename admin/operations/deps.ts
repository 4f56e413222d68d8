import type { Via } from '../../postgres/audit-log.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import type { SecretBox } from '../../postgres/secrets/secret-box.ts';
import type { TemporalAdmin } from '../../temporal/admin-client.ts';
import type { TargetRule } from '../../webhooks/address.ts';
import type { MakeChange } from './change.ts';

export interface RetentionPolicy {
  attemptBodyDays: number;
  /** Null keeps payments without limit. */
  paymentDays: number | null;
}

/** The collaborators of all use cases. Each names those that it needs. */
export interface Deps {
  sql: Sql;
  change: MakeChange;
  /** The admin's name. */
  actor: string;
  /** The surface on which that name is known. */
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
  /** @throws if Temporal cannot be reached */
  temporal: () => Promise<TemporalAdmin>;
  retention: RetentionPolicy;
  /** A link into the Temporal UI; null if its address is not known. */
  workflowUrl: (paymentId: string) => string | null;
  /** There is a server that takes mail. */
  sendsMail: boolean;
  /** The address at which payers reach the service; null: it is not known. */
  publicBaseUrl: string | null;
  /** The address of the web console for people. */
  consoleUrl: string;
  now: () => Date;
}
