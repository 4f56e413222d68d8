import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter, GatewayStatus, OpenedPayment } from '../gateways/gateway.ts';
import { findDriver } from '../gateways/registry.ts';
import type { AuditFacts } from '../postgres/audit-log.ts';
import type { GatewayExchanges } from '../postgres/gateways/exchanges.ts';
import type {
  LatePayment,
  LatePaymentChange,
  LatePaymentResult,
  LatePayments,
} from '../postgres/payments/late-payments.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import type { Bulkhead } from './bulkhead.ts';
import {
  exchangeWith,
  hasCaptured,
  mayStillCapture,
  unknownIfSilent,
  toOpenedPayment,
  type Unanswered,
  withGatewaySlot,
} from './gateway-calls.ts';
import type { Log } from './log.ts';
import { alertAbout } from './log.ts';

export interface Deps {
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  latePayments: LatePayments;
  gatewayExchanges: GatewayExchanges;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
  now: () => Date;
  logger: Pick<Log, 'info' | 'warn' | 'error'>;
}

export interface ResolveLatePaymentRequest {
  id: string;
  /** The workflow does not retry: decide now. */
  last: boolean;
}

type Resolution = 'done' | 'retry';

/** No call of ours to a gateway takes this long, so a reversal without an answer is over by then. */
const reversalPauseMs = 50_000;
const mostReversals = 3;

export const createLatePaymentActivities = (deps: Deps) => {
  const { paymentOutcomes, latePayments, gatewayExchanges, gatewayBulkhead } = deps;
  const { gatewayOf, publicBaseUrl, now, logger } = deps;

  /**
   * Calls the gateway and stores the exchanges at once. Each call has an adapter of its own, because the
   * calls of one adapter share 20 seconds. Repeated inquiries keep only the last exchange with each result:
   * there may be a hundred, and they must not evict the verifications.
   */
  const callGateway = async <T>(
    payment: PaymentWithAccount,
    call: (gateway: GatewayAdapter) => Promise<T>,
  ): Promise<T | Unanswered> => {
    const { id } = payment;
    const called = await exchangeWith(gatewayOf, payment, (gateway) =>
      unknownIfSilent(() => call(gateway)),
    );
    for (const exchange of called.exchanges)
      if (exchange.operation === 'inquire')
        await gatewayExchanges.replaceRepeated([{ ...exchange, paymentId: id }]);
      else await gatewayExchanges.insert(id, [exchange]);
    if ('fault' in called) throw called.fault;
    return called.result;
  };

  /** It keeps the gateway's number of captured money, by which disputes and refunds lead here. */
  const inquire = async (payment: PaymentWithAccount, opened: OpenedPayment) => {
    const answer = await callGateway(payment, (gateway) => gateway.inquire(opened));
    const code = 'trackingCode' in answer ? answer.trackingCode : null;
    if (code && payment.trackingCode === null)
      await latePayments.keepTrackingCode(payment.id, code);
    return answer;
  };

  /** Alerts admins and writes the audit log. */
  const record = async (
    payment: PaymentWithAccount,
    result: LatePaymentResult | null,
    { captured, details }: { captured?: Captured; details?: AuditFacts | undefined },
  ) => {
    const { id, application, gateway, status, amount, currency } = payment;
    const logged = { payment_id: id, application, gateway };
    const message = messageOf[result ?? 'found'];
    // The money of a payment whose order another one has paid goes back, as its payer was promised.
    const isExpected = result === 'reversed' || payment.failureCode === 'order_already_paid';
    const needsPerson = result === 'by_hand' || !isExpected;
    // The alert comes first: a retry finds the record and would not alert.
    if (needsPerson) alertAbout(logger, payment, { alert: 'late_payment', message });
    const facts = {
      ...{ gateway, status, amount, currency },
      ...(captured && { taken_amount: captured.amount, taken_currency: captured.currency }),
      ...details,
    };
    const isAudited = payment.gatewayKind === 'live';
    const isNew = await latePayments.record(id, { result, captured, facts, now: now(), isAudited });
    if (isNew && !needsPerson) logger.info(logged, message);
  };

  const finish = async (
    payment: PaymentWithAccount,
    result: LatePaymentResult,
    details?: AuditFacts,
  ): Promise<'done'> => {
    await record(payment, result, { details });
    return 'done';
  };

  /** Reverses the payment at the gateway, then inquires what became of it. */
  const reverse = async (
    payment: PaymentWithAccount,
    opened: OpenedPayment,
    { reportsReversals }: { reportsReversals: boolean },
  ): Promise<Resolution> => {
    const beganAt = now();
    const mayBegin = await latePayments.beginReversal(payment.id, {
      maxReversals: reportsReversals ? mostReversals : 1,
      lastBefore: new Date(beganAt.getTime() - reversalPauseMs),
      now: beganAt,
    });
    if (!mayBegin) return 'retry';
    const reversal = await callGateway(payment, async (gateway) => gateway.reverse?.(opened));
    const money = moneyAt(await inquire(payment, opened));
    const isConfirmed = reversal && 'result' in reversal && reversal.result === 'reversed';
    const isContradicted = reportsReversals && money === 'captured';
    if (money === 'none' || (isConfirmed && !isContradicted)) return finish(payment, 'reversed');
    if (!reversal || 'state' in reversal || reversal.result === 'pending') return 'retry';
    if (reversal.result === 'reversed') return finish(payment, 'by_hand');
    const { code: gateway_code, message: gateway_message } = reversal;
    return finish(payment, 'by_hand', { gateway_code, gateway_message });
  };

  const resolve = async (
    payment: PaymentWithAccount,
    opened: OpenedPayment,
    { found, last }: { found: LatePayment | undefined; last: boolean },
  ): Promise<Resolution> => {
    const { twoStepVerify = false, reportsReversals = false } =
      findDriver(payment.driver)?.capabilities ?? {};
    const answer = await inquire(payment, opened);
    const money = moneyAt(answer);

    if (money === 'none') return found ? finish(payment, 'reversed') : 'done';
    if (money === 'captured') {
      if (!found) await record(payment, null, { captured: capturedIn(answer) });
      const reversals = found?.reversals ?? 0;
      // The answer to an earlier reversal was lost, and an inquiry does not show what became of it.
      const isUncertain = reversals > 0 && !reportsReversals;
      const canReverse = driverCanReverse(payment);
      if (!canReverse || isUncertain || reversals >= mostReversals || last)
        return finish(payment, 'by_hand');
      return reverse(payment, opened, { reportsReversals });
    }
    if (money === 'on_its_way' && twoStepVerify) {
      // A two-step gateway returns money that nobody verifies.
      if (!mayStillCapture(await gatewayExchanges.list(payment.id)))
        return finish(payment, 'returns');
      return last ? finish(payment, 'by_hand') : 'retry';
    }
    if (!last) return 'retry';
    return found || money === 'unknown' ? finish(payment, 'by_hand') : 'done';
  };

  const driverCanReverse = (payment: PaymentWithAccount): boolean =>
    gatewayOf(payment).reverse !== undefined;

  return {
    /**
     * Finds out whether money came after a payment's end, and has it reversed unless the gateway returns
     * it by itself. It never verifies, and the payment does not change.
     * @throws ApplicationFailure GatewayBusy
     */
    async resolveLatePayment({ id, last }: ResolveLatePaymentRequest): Promise<Resolution> {
      const payment = await paymentOutcomes.get(id);
      if (!payment?.reference || !isTerminal(payment.status) || payment.status === 'paid')
        return 'done';
      const stored = await latePayments.get(id);
      // A try that Temporal has given up may have verified money that the gateway would have returned.
      const isCaptured =
        stored?.result === 'returns' && hasCaptured(await gatewayExchanges.list(id));
      if (stored?.result && !isCaptured) return 'done';
      const found = isCaptured ? undefined : stored;
      const opened = toOpenedPayment(payment, payment.reference, publicBaseUrl);
      return withGatewaySlot(gatewayBulkhead, payment, () =>
        resolve(payment, opened, { found, last }),
      );
    },
  };
};

const messageOf: Record<'found' | LatePaymentResult, string> = {
  found: 'Money was captured for a payment that is not paid; it will be reversed',
  returns: 'Money came after the end of a payment; the gateway returns it',
  reversed: 'Late payment reversed',
  by_hand: 'Money of a payment that is not paid may still be at the gateway; check it by hand',
};

/** `on_its_way`: not captured yet, or not verified. `none`: never captured, or reversed. */
const moneyAt = ({
  state,
}: GatewayStatus | Unanswered): 'captured' | 'on_its_way' | 'none' | 'unknown' => {
  switch (state) {
    case 'paid':
      return 'captured';
    case 'processing':
    case 'unconfirmed':
      return 'on_its_way';
    case 'waiting':
    case 'failed':
    case 'cancelled':
    case 'expired':
      return 'none';
    case 'unknown':
      return 'unknown';
  }
};

type Captured = LatePaymentChange['captured'];

const capturedIn = (answer: GatewayStatus | Unanswered): Captured =>
  answer.state === 'paid' ? { amount: answer.amount, currency: answer.currency } : undefined;
