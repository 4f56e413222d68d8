import type { ErrorCode } from '../contract/errors.ts';
import { formatMoney } from '../contract/money.ts';
import { amountLeft, type Refundable, type RefundBasis } from '../contract/payment-fields.ts';
import { findDriver } from './registry.ts';

/** Why a payment cannot be refunded so. */
export interface RefundProblem {
  code: Extract<
    ErrorCode,
    | 'PAYMENT_NOT_REFUNDABLE'
    | 'REFUND_EXCEEDS_PAYMENT'
    | 'REFUND_IN_PROGRESS'
    | 'REFUND_NOT_SUPPORTED'
    | 'REFUNDABLE_AMOUNT_CHANGED'
  >;
  message: string;
}

/** A reversal is not begun in the last minutes of its time. */
const spareMs = 5 * 60_000;

/** Whether a refund of this amount may undo the payment instead: the whole amount, soon after the payment. */
export const canReverse = (
  payment: { driver: string; amount: number; amountRefunded: number; paidAt: Date | null },
  amount: number,
  now: Date,
): boolean => {
  const reversal = findDriver(payment.driver)?.capabilities.reversal;
  if (!reversal || !payment.paidAt) return false;
  const isWhole = amount === payment.amount && payment.amountRefunded === 0;
  return isWhole && now.getTime() - payment.paidAt.getTime() < reversal.windowMs - spareMs;
};

/** The refunds of an account. Undefined if it has none, or not the credentials for them. */
const termsOf = ({ driver, hasRefundCredentials }: RefundBasis) => {
  const refund = findDriver(driver)?.capabilities.refund;
  return refund && (refund.credentials === null || hasRefundCredentials) ? refund : undefined;
};

/** When the account stops giving the money of a payment back. Null: without a limit, or not paid. */
const refundableUntil = (payment: RefundBasis): Date | null => {
  const refund = termsOf(payment);
  const reversal = findDriver(payment.driver)?.capabilities.reversal;
  const windowMs = refund ? refund.windowMs : (reversal?.windowMs ?? spareMs) - spareMs;
  return windowMs === null || !payment.paidAt
    ? null
    : new Date(payment.paidAt.getTime() + windowMs);
};

/**
 * The most that the account can still give back of a payment, in minor units, once the pending refunds have succeeded, and
 * until when.
 */
export const refundableOf = (payment: RefundBasis, now: Date): Refundable => {
  const left = amountLeft(payment);
  const { step = 1 } =
    findDriver(payment.driver)?.capabilities.currencies.get(payment.currency) ?? {};
  const amountRefunded = payment.amountRefunded + payment.amountRefundPending;
  const later = { ...payment, amountRefunded, amountRefundPending: 0 };
  const isPossible = (amount: number) => !findRefundProblem(later, { amount }, now);
  return {
    refundable: [left, left - (left % step)].find(isPossible) ?? 0,
    refundableUntil: refundableUntil(payment),
  };
};

interface WantedRefund {
  amount: number;
  /** The rest that the caller believes in. */
  refundableAmount?: number | undefined;
  /** A person has given it back outside of the gateway. */
  recorded?: boolean;
}

/**
 * Checks a refund by what was paid, and by what the gateway can do. Undefined if it is possible.
 * @param wanted.amount what is left, if everything is to go back
 */
export const findRefundProblem = (
  payment: RefundBasis,
  { amount, refundableAmount: believed, recorded = false }: WantedRefund,
  now: Date,
): RefundProblem | undefined => {
  const capabilities = findDriver(payment.driver)?.capabilities;
  const { status, amountRefunded, amountRefundPending } = payment;
  const left = amountLeft(payment);
  const money = (sum: number) => formatMoney({ amount: sum, currency: payment.currency });
  const notSupported = (message: string): RefundProblem => ({
    code: 'REFUND_NOT_SUPPORTED',
    message,
  });
  if (status !== 'paid')
    return { code: 'PAYMENT_NOT_REFUNDABLE', message: `The payment is ${status}.` };
  // Before everything about the gateway, whose refusals advise to give the money back another way: it would go twice.
  if (left === 0)
    return { code: 'REFUND_EXCEEDS_PAYMENT', message: 'Nothing is left of the payment.' };
  if (
    believed !== undefined &&
    believed !== left &&
    believed !== refundableOf(payment, now).refundable
  )
    return { code: 'REFUNDABLE_AMOUNT_CHANGED', message: `${money(left)} is left of the payment.` };
  if (amount > left)
    return { code: 'REFUND_EXCEEDS_PAYMENT', message: `${money(left)} is left of the payment.` };
  if (recorded) return undefined;
  if (!capabilities?.refund && !capabilities?.reversal)
    return notSupported('The gateway gives no money back through this service.');
  const refund = termsOf(payment);
  if (capabilities.refund && !refund && !canReverse(payment, payment.amount, now))
    return notSupported('The account at the gateway has no credentials for refunds.');
  const until = refundableUntil(payment);
  if (until && until <= now)
    return notSupported('The gateway gives money back only for a while, and that is over.');
  if (amountRefundPending > 0 && refund?.several !== 'parallel')
    return { code: 'REFUND_IN_PROGRESS', message: 'Another refund of the payment is pending.' };
  if (canReverse(payment, amount, now)) return undefined;
  if (!refund) return notSupported('The gateway gives the whole amount back, and no part of it.');
  if (amountRefunded > 0 && refund.several === 'once')
    return notSupported('The gateway makes one refund of a payment.');
  if (amount !== payment.amount && !refund.partial)
    return notSupported('The gateway gives the whole amount back, and no part of it.');
  if (amount < refund.least)
    return notSupported(`The gateway gives back ${money(refund.least)} or more.`);
  const { step = 1 } = capabilities.currencies.get(payment.currency) ?? {};
  if (amount % step !== 0)
    return notSupported(`The gateway gives back whole multiples of ${money(step)}.`);
  return undefined;
};
