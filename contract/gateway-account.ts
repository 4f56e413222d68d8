/** Kinds of accounts at a payment provider. The money of a `sandbox` account is not real. */
export const gatewayKinds = ['sandbox', 'live'] as const;
export type GatewayKind = (typeof gatewayKinds)[number];

/** A gateway's account as the database stores it. */
export interface RecordedAccount {
  gateway: string;
  driver: string;
  gatewayKind: GatewayKind;
  /** Sealed by SECRETS_KEY, see postgres/secrets/secret-box.ts. */
  credentials: string | null;
  /** The credentials that only refunds need, sealed by the same key. */
  refundCredentials: string | null;
}

/** The part of a gateway's account that the API can read: it checks notifications, and opens no payment. */
export interface NotificationAccount extends Omit<
  RecordedAccount,
  'credentials' | 'refundCredentials'
> {
  /** Sealed by NOTIFICATIONS_KEY. */
  notificationSecrets: string | null;
}

/**
 * The credentials of an account in three parts, as the database stores them. Undefined: a replacement keeps what there
 * is. Null: none.
 */
export interface SealedCredentials {
  credentials: string | null;
  notificationSecrets: string | null | undefined;
  refundCredentials: string | null | undefined;
}
