import type { FailureCode } from '../contract/failure.ts';
import type { Redirect } from '../contract/payment.ts';

/** What a gateway is told about a payment. Amount in minor units of the currency. */
export interface GatewayPayment {
  id: string;
  amount: number;
  currency: string;
  description: string | null;
  expiresAt: Date;
  /** Where the payer's browser comes back to: our own return page. */
  returnUrl: string;
}

/** A payment the gateway knows; the reference is from our record, never from a browser. */
export interface OpenedPayment extends GatewayPayment {
  reference: string;
}

export type Opening =
  | { result: 'opened'; reference: string; redirect: Redirect }
  | { result: 'refused'; code: string; message: string };

/** What a gateway says of a payment. `waiting`: the payer has not decided; `settling`: money is on its way. */
export type Answer =
  | {
      state: 'paid';
      amount: number;
      currency: string;
      trackingCode: string | null;
      /** First six digits, asterisks, last four; null where the gateway does not give them. */
      cardPanMasked: string | null;
    }
  | { state: 'failed'; failureCode: FailureCode; code: string | null; message: string | null }
  | { state: 'cancelled' | 'expired' | 'waiting' | 'settling' };

/**
 * One payment provider. Every call has its own time limit and may be repeated.
 * A call throws {@link GatewaySilence} when there was no usable answer: that is never an outcome.
 */
export interface GatewayAdapter {
  open(payment: GatewayPayment): Promise<Opening>;
  /** Confirms the payment where the payer has paid, and says how it stands. */
  verify(payment: OpenedPayment): Promise<Answer>;
  /** Says how it stands without changing anything; paid money that waits for verification is `settling`. */
  inquire(payment: OpenedPayment): Promise<Answer>;
  /** Makes it unpayable. False where the gateway refuses, so that it must be read again. */
  expire?(payment: OpenedPayment): Promise<boolean>;
}

/** Timeout, 5xx or nonsense: the gateway did not say anything that can be relied on. */
export class GatewaySilence extends Error {}
