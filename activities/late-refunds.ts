import { minuteMs } from '../contract/time.ts';
import type { GatewayStatus } from '../gateways/gateway.ts';
import type { LatePaymentResult, LatePayments } from '../postgres/payments/late-payments.ts';
import type { PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import type { Unanswered } from './gateway-calls.ts';
import { alertAbout, type Log } from './log.ts';
import type { NextWait } from './refund-records.ts';

export interface Deps {
  latePayments: Pick<LatePayments, 'get' | 'record'>;
  now: () => Date;
  logger: Pick<Log, 'warn' | 'error'>;
}

/**
 * Follows refunds that a gateway reports of money that is not paid here. Somebody may have given back what was by hand, and a
 * bank may have sent back what was reversed. While the money is neither, its own workflow asks.
 */
export const followLateMoney = async (
  { latePayments, now, logger }: Deps,
  payment: PaymentWithAccount,
  inquire: () => Promise<GatewayStatus | Unanswered>,
): Promise<NextWait> => {
  const was = (await latePayments.get(payment.id))?.result;
  if (was !== 'by_hand' && was !== 'reversed') return undefined;
  const answer = await inquire();
  if (answer.state === 'unknown') return { says: answer.reason, afterMs: minuteMs };
  const result = resultSince(was, answer);
  if (!result) return undefined;
  if (result === 'by_hand')
    alertAbout(logger, payment, {
      alert: 'late_payment',
      message: 'Money of a payment that is not paid went back, and came back; check it by hand',
    });
  const { gateway, status, amount, currency, gatewayKind } = payment;
  const facts = { gateway, status, amount, currency };
  const isAudited = gatewayKind === 'live';
  await latePayments.record(payment.id, { result, was, facts, now: now(), isAudited });
  return undefined;
};

const resultSince = (
  was: LatePaymentResult,
  answer: GatewayStatus,
): LatePaymentResult | undefined => {
  const hasGoneBack = answer.state === 'failed' && answer.failureCode === 'payment_reversed';
  if (was === 'by_hand') return hasGoneBack ? 'reversed' : undefined;
  return answer.state === 'paid' ? 'by_hand' : undefined;
};
