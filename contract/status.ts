/** The final states of a payment, each with an event of its name. */
export const terminalStatuses = ['paid', 'failed', 'cancelled', 'expired'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

/** The states of a payment. After `processing` comes only a final state. */
export const statuses = ['pending', 'processing', ...terminalStatuses] as const;
export type Status = (typeof statuses)[number];

export const isTerminal = (status: Status): status is TerminalStatus =>
  status !== 'pending' && status !== 'processing';

/** Who called a payment off. */
export const cancelledBy = ['payer', 'application', 'admin'] as const;
export type CancelledBy = (typeof cancelledBy)[number];

/** The state of a delivery. `none`: the application had no webhook URL when the payment ended. */
export const deliveryStatuses = ['pending', 'delivered', 'exhausted', 'none'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Who began a round of attempts. The schedule began the first one, when the payment ended. */
export const roundTriggers = ['schedule', 'admin', 'application'] as const;
export type RoundTrigger = (typeof roundTriggers)[number];

/**
 * The answer of a gateway without an outcome. `waiting`: nobody has paid. `processing`: the money is on its way. `unknown`:
 * the gateway gave no usable answer.
 */
export type WaitingAnswer = 'waiting' | 'processing' | 'unknown';

/** The result of a verification. */
export type VerificationResult = { kind: 'ended'; status: Status } | { kind: WaitingAnswer };
