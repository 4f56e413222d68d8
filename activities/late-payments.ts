import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter } from '../gateways/gateway.ts';
import { findDriver } from '../gateways/registry.ts';
import type { AuditFacts } from '../postgres/audit-log.ts';
import type { GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { LatePayment, LatePayments, LatePaymentResult } from '../postgres/late-payments.ts';
import type { PaymentWithAccount, PaymentOutcomes } from '../postgres/payment-outcomes.ts';
import { withGatewaySlot, mayYetBeTaken, orUnknown, toOpened } from './gateway-calls.ts';
import type { Log } from './log.ts';
import type { Reply } from './outcome.ts';
import type { Bulkhead } from './bulkhead.ts';

export interface Deps {
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  latePayments: LatePayments;
  gatewayExchanges: GatewayExchanges;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Log, 'info' | 'error'>;
}

/** After a lost answer: longer than any call of ours can be under way. */
const pauseMs = 50_000;
const mostReversals = 3;

export const createLateActivities = (deps: Deps) => {
  const { paymentOutcomes, latePayments, gatewayExchanges, gatewayBulkhead } = deps;
  const { publicBaseUrl, now, logger } = deps;

  /**
   * For one try of 20 s, so each call has one of its own. What it says is kept at once. Inquiries may be a
   * hundred, and must not push out what a verification said: of these the last with each result stays.
   */
  const gatewayOf = (payment: PaymentWithAccount): GatewayAdapter =>
    deps.gatewayOf(payment, (said) =>
      said.operation === 'inquire'
        ? gatewayExchanges.replaceRepeated([{ ...said, paymentId: payment.id }])
        : gatewayExchanges.insert(payment.id, [said]),
    );

  const inquire = (payment: PaymentWithAccount, reference: string): Promise<Reply> =>
    orUnknown(() => gatewayOf(payment).inquire(toOpened(payment, reference, publicBaseUrl)));

  const record = async (
    payment: PaymentWithAccount,
    result: LatePaymentResult | null,
    facts: AuditFacts,
  ) => {
    const { id, gateway, status, amount, currency } = payment;
    const all = { gateway, status, amount, currency, ...facts };
    // Before it is written: a try that is repeated finds it written, and would alert nobody.
    if (result !== 'reversed')
      logger.error({ payment_id: id, gateway, alert: 'late_payment' }, alertOf[result ?? 'found']);
    const isNew = await latePayments.record(id, { result, facts: all, now: now() });
    if (isNew && result === 'reversed')
      logger.info({ payment_id: id, gateway }, 'Late money went back');
  };

  const over = async (
    payment: PaymentWithAccount,
    result: LatePaymentResult,
    facts: AuditFacts = {},
  ): Promise<'over'> => {
    await record(payment, result, facts);
    return 'over';
  };

  /** Tells the gateway to give it back, and asks what became of that. */
  const giveBack = async (
    payment: PaymentWithAccount,
    reference: string,
    reportsReversals: boolean,
  ): Promise<'over' | 'again'> => {
    const asOf = now();
    const begun = await latePayments.beginReversal(payment.id, {
      maxReversals: reportsReversals ? mostReversals : 1,
      lastBefore: new Date(asOf.getTime() - pauseMs),
      now: asOf,
    });
    if (!begun) return 'again';
    const opened = toOpened(payment, reference, publicBaseUrl);
    const reversal = await orUnknown(async () => gatewayOf(payment).reverse?.(opened));
    const after = standingOf(await inquire(payment, reference));
    const isReversed = reversal && 'result' in reversal && reversal.result === 'reversed';
    if (after === 'gone' || (isReversed && !(reportsReversals && after === 'taken')))
      return over(payment, 'reversed');
    if (!reversal || 'state' in reversal) return 'again';
    if (reversal.result === 'reversed') return over(payment, 'by_hand');
    const { code: gateway_code, message: gateway_message } = reversal;
    return over(payment, 'by_hand', { gateway_code, gateway_message });
  };

  const settle = async (
    payment: PaymentWithAccount,
    {
      reference,
      found,
      last,
    }: { reference: string; found: LatePayment | undefined; last: boolean },
  ): Promise<'over' | 'again'> => {
    const { twoStepVerify = false, reportsReversals = false } =
      findDriver(payment.driver)?.capabilities ?? {};
    const answer = await inquire(payment, reference);
    const standing = standingOf(answer);
    if (standing === 'gone') return found ? over(payment, 'reversed') : 'over';
    if (standing === 'coming' && twoStepVerify) {
      // What waits for a verification that never comes is given back by the gateway.
      if (!mayYetBeTaken(await gatewayExchanges.list(payment.id))) return over(payment, 'returns');
      return last ? over(payment, 'by_hand') : 'again';
    }
    if (standing === 'taken') {
      if (!found) await record(payment, null, takenIn(answer));
      // Told before, without an answer, and it does not say what became of that.
      const untold = found !== undefined && found.reversals > 0 && !reportsReversals;
      const exhausted = found !== undefined && found.reversals >= mostReversals;
      if (!gatewayOf(payment).reverse || untold || exhausted || last)
        return over(payment, 'by_hand');
      return giveBack(payment, reference, reportsReversals);
    }
    if (!last) return 'again';
    return found || standing === 'unknown' ? over(payment, 'by_hand') : 'over';
  };

  return {
    /**
     * One try to find out whether money came after a payment's end, and to have it given back where it
     * does not go by itself. Nothing is verified, and the payment stays as it ended.
     * `last`: nobody asks again.
     */
    async resolveLatePayment({ id, last }: LateRequest): Promise<'over' | 'again'> {
      const payment = await paymentOutcomes.get(id);
      if (!payment?.reference || !isTerminal(payment.status) || payment.status === 'paid')
        return 'over';
      const found = await latePayments.get(id);
      if (found?.result) return 'over';
      const { reference } = payment;
      return withGatewaySlot(gatewayBulkhead, payment, () =>
        settle(payment, { reference, found, last }),
      );
    },
  };
};

export interface LateRequest {
  id: string;
  last: boolean;
}

const alertOf: Record<'found' | 'returns' | 'by_hand', string> = {
  found: 'Money was taken for a payment that is not paid: it is to go back',
  returns: 'Money came after the end of a payment: unverified, it goes back by itself',
  by_hand: 'Money of a payment that is not paid may have stayed at the gateway: look after it',
};

/** `taken`: it is ours; `coming`: not yet, or not verified; `gone`: there is none, or none any more. */
const standingOf = ({ state }: Reply): 'taken' | 'coming' | 'gone' | 'unknown' => {
  switch (state) {
    case 'paid':
      return 'taken';
    case 'processing':
      return 'coming';
    case 'waiting':
    case 'failed':
    case 'cancelled':
    case 'expired':
      return 'gone';
    case 'unknown':
      return 'unknown';
  }
};

const takenIn = (answer: Reply): AuditFacts =>
  answer.state === 'paid' ? { taken_amount: answer.amount, taken_currency: answer.currency } : {};
