/** Kinds of accounts at a payment provider. The money of a `sandbox` account is not real. */
export const gatewayKinds = ['sandbox', 'live'] as const;
export type GatewayKind = (typeof gatewayKinds)[number];

/** A gateway's account as the database stores it. */
export interface RecordedAccount {
  gateway: string;
  driver: string;
  gatewayKind: GatewayKind;
  /** Sealed, see postgres/secret-box.ts. */
  credentials: string | null;
}
