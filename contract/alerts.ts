/**
 * What no machine can settle, by name: the `alert` of a log line and the label that it is counted by.
 * Rules and runbooks hold the names, so they are for ever.
 */
export const alerts = [
  'amount_mismatch',
  'deliveries_overdue',
  'duplicate',
  'gateway_silent',
  'late_payment',
  'merchant_configuration',
  'tracking_code_twice',
] as const;

export type Alert = (typeof alerts)[number];
