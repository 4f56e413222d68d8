import type { FailureCode } from '../contract/failure-codes.ts';
import type { Payment } from '../contract/payment.ts';
import type { TerminalStatus } from '../contract/status.ts';
import type { GatewayStatus } from '../gateways/gateway.ts';
import type { ProviderMessage } from '../postgres/payment-outcomes.ts';

/** How a payment ends, as far as it was not known before. */
export interface Outcome {
  status: TerminalStatus;
  trackingCode: string | null;
  cardPanMasked: string | null;
  failureCode: FailureCode | null;
  words: ProviderMessage;
}

const nothing = {
  trackingCode: null,
  cardPanMasked: null,
  failureCode: null,
  words: { code: null, message: null },
};

export const expired: Outcome = { ...nothing, status: 'expired' };

export const failedWith = (
  failureCode: FailureCode,
  words: ProviderMessage = nothing.words,
): Outcome => ({
  ...nothing,
  status: 'failed',
  failureCode,
  words,
});

/** What a gateway answered; `unknown`: it gave no usable answer. */
export type Reply = GatewayStatus | { state: 'unknown' };

/** The outcome that a gateway's answer means for a payment; undefined while there is none. */
export const outcomeOf = (payment: Payment, answer: Reply): Outcome | undefined => {
  switch (answer.state) {
    case 'paid': {
      const { amount, currency, trackingCode, cardPanMasked } = answer;
      // Money is compared with our own record: a cheap receipt must not pay for a dear order.
      if (amount !== payment.amount || currency !== payment.currency)
        return failedWith('amount_mismatch', { code: null, message: `${amount} ${currency}` });
      return { ...nothing, status: 'paid', trackingCode, cardPanMasked };
    }
    case 'failed':
      return failedWith(answer.failureCode, { code: answer.code, message: answer.message });
    case 'cancelled':
      return { ...nothing, status: 'cancelled' };
    case 'expired':
      return expired;
    case 'waiting':
    case 'processing':
    case 'unknown':
      return undefined;
  }
};
