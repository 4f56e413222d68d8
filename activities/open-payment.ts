import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { Payer } from '../contract/payer.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import { reportUrl } from '../contract/payment-fields.ts';
import type { Status } from '../contract/status.ts';
import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter, OpenResult } from '../gateways/gateway.ts';
import { openingLimits } from '../gateways/http.ts';
import { findDriver } from '../gateways/registry.ts';
import type { GatewayExchanges } from '../postgres/gateways/exchanges.ts';
import { readPayer } from '../postgres/payments/payers.ts';
import type { PaymentOutcomes, PaymentWithAccount } from '../postgres/payments/outcomes.ts';
import type { SecretBox } from '../postgres/secrets/secret-box.ts';
import {
  gatewayUnavailable,
  gatewayUnavailableUntilDeadline,
  retryDelayOf,
} from '../temporal/failures.ts';
import type { Breaker, Candidate } from './breaker.ts';
import type { Bulkhead } from './bulkhead.ts';
import { createFinalizer, type Deps as FinalizerDeps } from './finalize.ts';
import { findPayment } from './find-payment.ts';
import {
  callInSlot,
  toGateway,
  type Unanswered,
  unknownIfSilent,
  wasSentToOpen,
} from './gateway-calls.ts';
import { alertAbout } from './log.ts';
import { failedWith, type Outcome } from './outcome.ts';

export interface Deps extends FinalizerDeps {
  paymentOutcomes: PaymentOutcomes;
  gatewayExchanges: Pick<GatewayExchanges, 'insert' | 'list'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  breaker: Breaker;
  payersBox: Pick<SecretBox, 'open'>;
  publicBaseUrl: string;
}

/**
 * The stage of a payment at the beginning of a run. `payerReturnsAt`: the payer of a sandbox plan comes back then
 * (ISO 8601).
 */
export type Stage =
  | { stage: 'unopened' }
  | { stage: 'open'; payerReturnsAt?: string }
  | { stage: 'ended'; status: Status };

interface Asked {
  answer: OpenResult | Unanswered;
  exchanges: GatewayExchange[];
}

/** By default it is about our account. */
interface Refusal {
  code: string | null;
  message: string | null;
  failureCode: 'amount_not_accepted' | 'merchant_configuration';
}
type Alerted = Parameters<typeof alertAbout>[1];

export interface OpenRequest {
  id: string;
  /** Only read the record. */
  afterDeadline: boolean;
}

export const createOpenPayment = (deps: Deps) => {
  const { paymentOutcomes, gatewayExchanges, breaker, payersBox, publicBaseUrl, logger } = deps;
  const { finalize, afterFinalized } = createFinalizer(deps);

  const readEnded = async (payment: PaymentWithAccount): Promise<Stage> => {
    // It is done before the first delivery is over, and alerts once.
    if (payment.delivery === 'pending' && payment.round === 1) await afterFinalized(payment);
    return { stage: 'ended', status: payment.status };
  };

  const endUnsent = async (
    payment: PaymentWithAccount,
    outcome: Outcome,
    exchanges: readonly GatewayExchange[] = [],
  ): Promise<Stage> => {
    // An earlier try may have opened the payment, and its payer may be at the gateway now.
    const result = await finalize(payment, outcome, { exchanges, onlyIfUnsent: true });
    return result.kind === 'ended' ? { stage: 'ended', status: result.status } : { stage: 'open' };
  };

  const payerOf = ({
    id,
    payer: sealed,
    payerLocale: locale,
  }: PaymentWithAccount): Payer | null => {
    const payer = readPayer(payersBox, { id, sealed, locale }, (error) => {
      const facts = { payment_id: id, err: error };
      logger.warn(facts, 'Could not decrypt the data of a payer; the gateway gets none');
    });
    return Object.keys(payer).length > 0 ? payer : null;
  };

  /** Opens the payment once more if the gateway refuses it for the data of its payer: a typing error there costs no sale. */
  const openAt = async (
    gateway: GatewayAdapter,
    payment: PaymentWithAccount,
    payer: Payer | null,
  ): Promise<OpenResult> => {
    const reportsTo = await reportUrlOf(deps, payment);
    const opening = { ...toGateway(payment, publicBaseUrl), reportUrl: reportsTo };
    const answer = await gateway.open(payer === null ? opening : { ...opening, payer });
    if (payer === null || answer.result !== 'refused' || !answer.isAboutPayer) return answer;
    const facts = { payment_id: payment.id, gateway: payment.gateway, code: answer.code };
    logger.warn(
      facts,
      'The gateway refused the data of a payer; it opens the payment without them',
    );
    return gateway.open(opening);
  };

  /** Asks one gateway to open the payment. */
  const ask = async (
    payment: PaymentWithAccount,
    { account, isLast }: Candidate,
    { payer, withinMs }: { payer: Payer | null; withinMs: number },
  ): Promise<Asked> => {
    const isOnly = payment.candidates === null;
    const severalMs = isLast ? openingLimits.lastTryMs : openingLimits.tryMs;
    const { result, exchanges } = await callInSlot(
      deps,
      { ...account, id: payment.id },
      (gateway) => unknownIfSilent(() => openAt(gateway, { ...payment, ...account }, payer)),
      { withinMs, tryMs: isOnly ? undefined : severalMs },
    );
    const { gateway } = account;
    return { answer: result, exchanges: exchanges.map((each) => ({ ...each, gateway })) };
  };

  const alertAboutRefusal = (payment: Alerted, { code, failureCode }: Refusal) => {
    if (failureCode !== 'merchant_configuration') return;
    const message = 'The gateway refused to open a payment';
    alertAbout(logger, payment, { alert: 'merchant_configuration', message, facts: { code } });
  };

  /** Asks the gateways in turn, until one opens the payment. It ends only if all of them refuse it in this try. */
  const open = async (payment: PaymentWithAccount): Promise<Stage> => {
    const { id, candidates } = payment;
    const exchanges: GatewayExchange[] = [];
    const refusals: Refusal[] = [];
    const failures: unknown[] = [];
    const payer = payerOf(payment);
    for await (const candidate of breaker.inTurn(payment)) {
      const { account } = candidate;
      // A retry after the deadline would come too late.
      const withinMs = payment.timeLeftMs / 2;
      const asked = await ask(payment, candidate, { payer, withinMs }).catch((error: unknown) => {
        failures.push(error);
      });
      // Its slots are in use, or the fault is ours: it was not asked.
      if (!asked) continue;
      const { answer } = asked;
      exchanges.push(...asked.exchanges);
      if ('state' in answer) {
        failures.push(gatewayUnavailable(answer.reason));
        await breaker.failed(account);
      } else if (answer.result === 'refused') {
        const { code, message, failureCode = 'merchant_configuration' } = answer;
        const refusal: Refusal = { code, message, failureCode };
        refusals.push(refusal);
        alertAboutRefusal({ ...payment, ...account }, refusal);
        const isAboutAccount = failureCode === 'merchant_configuration';
        await (isAboutAccount ? breaker.failed(account) : breaker.succeeded(account));
      } else {
        const gateway = candidates && account.gateway;
        const isRecorded = await paymentOutcomes.recordOpened(id, {
          ...answer,
          gateway,
          exchanges,
        });
        await breaker.succeeded(account);
        if (isRecorded) return openStage(answer.payer?.returnsAt);
        const current = await findPayment(paymentOutcomes, id);
        return isTerminal(current.status) ? readEnded(current) : openStage(current.payerReturnsAt);
      }
    }
    const [refusal] = refusals.toSorted(accountFirst);
    if (failures.length === 0 && refusal) {
      const { failureCode, code, message } = refusal;
      return endUnsent(payment, failedWith(failureCode, { code, message }), exchanges);
    }
    if (exchanges.length > 0) await gatewayExchanges.insert(id, exchanges);
    throw failures.toSorted(soonestFirst)[0];
  };

  /**
   * Reads how far the payment has come, and opens it at its gateway if that is still to be done.
   * @throws ApplicationFailure GatewayUnavailable, GatewayBusy
   */
  const openPayment = async ({ id, afterDeadline }: OpenRequest): Promise<Stage> => {
    const payment = await findPayment(paymentOutcomes, id);
    if (isTerminal(payment.status)) return readEnded(payment);
    if (payment.reference !== null) return openStage(payment.payerReturnsAt);
    if (afterDeadline) return { stage: 'unopened' };
    if (payment.orderIsPaid) {
      const stage = await endUnsent(payment, failedWith('order_already_paid'));
      // The order was given back meanwhile, or another try has opened the payment.
      return stage.stage === 'ended' ? stage : openPayment({ id, afterDeadline });
    }
    if (payment.timeLeftMs > 0) return open(payment);
    if (wasSentToOpen(await gatewayExchanges.list(id))) throw gatewayUnavailableUntilDeadline();
    return { stage: 'unopened' };
  };

  return { openPayment };
};

/** The provider reports changes there, if its driver takes reports. Every opening of a payment has the same address. */
const reportUrlOf = async (
  { paymentOutcomes, publicBaseUrl }: Pick<Deps, 'paymentOutcomes' | 'publicBaseUrl'>,
  { id, driver }: Pick<PaymentWithAccount, 'id' | 'driver'>,
): Promise<string | undefined> => {
  if (!findDriver(driver)?.takesReports) return undefined;
  const key = await paymentOutcomes.reportKey(id, randomBytes(24).toString('base64url'));
  return key && reportUrl(id, key, publicBaseUrl);
};

/** The account is to be corrected, whatever another gateway does not take. */
const accountFirst = (one: Refusal, other: Refusal): number =>
  Number(other.failureCode === 'merchant_configuration') -
  Number(one.failureCode === 'merchant_configuration');

/** A fault of ours comes first, then the gateway with the next free slot, then silence. */
const soonestFirst = (one: unknown, other: unknown): number => urgencyOf(one) - urgencyOf(other);

const urgencyOf = (failure: unknown): number => {
  if (!(failure instanceof ApplicationFailure)) return -1;
  return retryDelayOf(failure) ?? Number.MAX_SAFE_INTEGER;
};

const openStage = (payerReturnsAt: Date | null | undefined): Stage => ({
  stage: 'open',
  ...(payerReturnsAt && { payerReturnsAt: payerReturnsAt.toISOString() }),
});
