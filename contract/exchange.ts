/** One call to a gateway, for admins alone: no credentials, no card data. */
export interface Exchange {
  /** When it began. */
  at: Date;
  operation: 'open' | 'verify' | 'inquire' | 'expire' | 'reverse';
  /** What was answered; `silence` for no usable answer, `error` for a fault of ours. */
  result: string;
  /** The gateway's own words, or why there are none. */
  code: string | null;
  message: string | null;
  durationMs: number;
}
