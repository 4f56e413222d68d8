import type { StatementLine } from './book-entry.ts';

export const payoutStatuses = ['on_its_way', 'paid', 'failed', 'cancelled'] as const;
export type PayoutStatus = (typeof payoutStatuses)[number];

/**
 * Whether the gateway lists what a payout has paid out. `listed`: it does. `later`: not yet. `never`: it does not, because the
 * owner has chosen the amount, or because the gateway reports the sum alone.
 */
export const payoutLinesStates = ['listed', 'later', 'never'] as const;
export type PayoutLinesState = (typeof payoutLinesStates)[number];

/** A gateway's record of a payout: money that goes from the account to the bank account of the owner. */
export interface KnownPayout {
  /** In minor units; negative for money that comes from the bank. */
  amount: number;
  currency: string;
  status: PayoutStatus;
  createdAt: Date;
  /** The day on which the bank should have it, YYYY-MM-DD. */
  arrivesOn: string | null;
  /** The text of the bank statement's line. */
  descriptor: string | null;
  /** The number by which the bank finds it. */
  bankReference: string | null;
  lines: PayoutLinesState;
}

/** A payout as a gateway without a list of all money reports it. */
export interface ListedPayout extends KnownPayout {
  /** The gateway's own. */
  id: string;
  /** Its parts. Empty where the gateway reports the sum alone. */
  paidOut: Omit<StatementLine, 'category' | 'fee' | 'currency' | 'availableOn' | 'payout'>[];
}
