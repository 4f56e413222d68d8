/** What a gateway answered to one call; `silence` for no usable answer, `error` for a fault of ours. */
export const exchangeResults = [
  'opened',
  'refused',
  'paid',
  'failed',
  'cancelled',
  'expired',
  'waiting',
  'processing',
  'reversed',
  'no_answer',
  'error',
] as const;

/** One call to a gateway, for admins alone: no credentials, no card data. */
export interface GatewayExchange {
  /** When it began. */
  at: Date;
  operation: 'open' | 'verify' | 'inquire' | 'expire' | 'reverse';
  result: (typeof exchangeResults)[number];
  /** The gateway's own words, or why there are none. */
  code: string | null;
  message: string | null;
  durationMs: number;
}
