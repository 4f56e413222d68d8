/** The states that a payment ends in, each with an event of its name. */
export const terminalStatuses = ['paid', 'failed', 'cancelled', 'expired'] as const;
export type TerminalStatus = (typeof terminalStatuses)[number];

/** The states of a payment, contract section 2. `processing` is left only for a terminal state. */
export const statuses = ['pending', 'processing', ...terminalStatuses] as const;
export type Status = (typeof statuses)[number];

export const isTerminal = (status: Status): status is TerminalStatus =>
  status !== 'pending' && status !== 'processing';

/** The sending of a payment's one event; `none` where there was no webhook URL when it ended. */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'none';

/** What is known after asking a gateway. `unknown`: it gave no usable answer. */
export type VerificationResult =
  { kind: 'ended'; status: Status } | { kind: 'waiting' | 'processing' | 'unknown' };
