/**
 * The results of a call. `unconfirmed`: paid, and not verified because of its order. `no_answer`: no usable answer from the
 * gateway; `error`: a fault of ours.
 */
export const exchangeResults = [
  'opened',
  'refused',
  'paid',
  'failed',
  'cancelled',
  'expired',
  'waiting',
  'processing',
  'unconfirmed',
  'reversed',
  'pending',
  'accepted',
  'listed',
  'no_answer',
  'error',
] as const;

/** One call to a gateway, for admins only: no credentials, no card data. */
export interface GatewayExchange {
  /** When the call began. */
  at: Date;
  /** Whom an opening asked; null: the gateway of the payment. */
  gateway?: string | null;
  operation:
    | 'open'
    | 'verify'
    | 'inquire'
    | 'expire'
    | 'reverse'
    | 'refund'
    | 'list_refunds'
    | 'list_disputes';
  result: (typeof exchangeResults)[number];
  /** The gateway's own code. */
  code: string | null;
  /** The gateway's own message, or the reason why there is none. */
  message: string | null;
  durationMs: number;
}
