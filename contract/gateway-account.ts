/** Of an account at a payment provider. The money of a `sandbox` one is not real. */
export const gatewayKinds = ['sandbox', 'live'] as const;
export type GatewayKind = (typeof gatewayKinds)[number];

/** An account as it is recorded. */
export interface RecordedAccount {
  gateway: string;
  driver: string;
  gatewayKind: GatewayKind;
  /** Sealed. */
  credentials: string | null;
}
