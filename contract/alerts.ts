/**
 * Events that a person must look at. Each name is the `alert` of a log line and a label of
 * `payments_alerts_total`; alert rules and the runbook use the names.
 */
export const alerts = [
  'amount_mismatch',
  'deliveries_overdue',
  'dispute_unknown',
  'duplicate_payment',
  'duplicate_tracking_code',
  'late_payment',
  'merchant_configuration',
  'outcome_unknown',
  'refund_by_hand',
  'refund_contradicted',
  'refund_outside',
  'refund_pending_long',
  'refund_returned',
  'refund_token_ends',
  'refund_unknown',
  'unknown_money',
  'unknown_reference',
] as const;

export type Alert = (typeof alerts)[number];
