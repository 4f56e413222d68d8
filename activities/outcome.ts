import { formatMoney } from '../contract/money.ts';
import type { FailureCode } from '../contract/failure-codes.ts';
import type { Payment } from '../contract/payment.ts';
import type { CancelledBy, TerminalStatus } from '../contract/status.ts';
import type { GatewayStatus } from '../gateways/gateway.ts';
import type { ReportedFee } from '../contract/reported-fee.ts';
import type { ProviderMessage } from '../postgres/payments/outcomes.ts';
import type { Unanswered } from './gateway-calls.ts';

/** The end of a payment. */
export interface Outcome {
  status: TerminalStatus;
  /** Also of captured money that is not paid here. */
  trackingCode: string | null;
  cardPanMasked: string | null;
  failureCode: FailureCode | null;
  cancelledBy: CancelledBy | null;
  /** The fee that the gateway reported for a paid payment. */
  reportedFee: ReportedFee | null;
  /** For admins only. */
  providerMessage: ProviderMessage;
}

const noDetails = {
  trackingCode: null,
  cardPanMasked: null,
  failureCode: null,
  cancelledBy: null,
  reportedFee: null,
  providerMessage: { code: null, message: null },
};

export const expired: Outcome = { ...noDetails, status: 'expired' };

/** The reason of an application is in Postgres: see `cancel_request_reason`. */
export const cancelledBy = (by: CancelledBy): Outcome => ({
  ...noDetails,
  status: 'cancelled',
  cancelledBy: by,
});

export const failedWith = (
  failureCode: FailureCode,
  providerMessage: ProviderMessage = noDetails.providerMessage,
): Outcome => ({ ...noDetails, status: 'failed', failureCode, providerMessage });

/** The outcome that a gateway's answer means for a payment. Undefined while there is none. */
export const outcomeOf = (
  payment: Payment,
  answer: GatewayStatus | Unanswered,
): Outcome | undefined => {
  switch (answer.state) {
    case 'paid': {
      const { amount, currency, trackingCode, cardPanMasked, fee } = answer;
      // Compared with our own record: the receipt of a cheap payment must not pay for an expensive order.
      if (amount !== payment.amount || currency !== payment.currency)
        return {
          ...failedWith('amount_mismatch', {
            code: null,
            message: formatMoney({ amount, currency }),
          }),
          trackingCode,
        };
      return {
        ...noDetails,
        status: 'paid',
        trackingCode,
        cardPanMasked,
        reportedFee: fee ?? null,
      };
    }
    case 'failed':
      return {
        ...failedWith(answer.failureCode, { code: answer.code, message: answer.message }),
        trackingCode: answer.trackingCode ?? null,
      };
    case 'cancelled':
      return cancelledBy('payer');
    case 'expired':
      return expired;
    case 'unconfirmed':
      // The record decides whether another payment has paid the order, or only holds it.
      return failedWith('order_already_paid');
    case 'waiting':
    case 'processing':
    case 'unknown':
      return undefined;
  }
};
