import type { RefundStage, RefundStatus } from '../contract/refund.ts';
import { isTerminal } from '../contract/status.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { GatewayAdapter, KnownRefund } from '../gateways/gateway.ts';
import { canReverse } from '../gateways/refundable.ts';
import { findDriver } from '../gateways/registry.ts';
import type { PaymentOutcomes } from '../postgres/payments/outcomes.ts';
import type { RefundEnd, RefundProgress } from '../postgres/refunds/outcomes.ts';
import { refundNotFound, refundPending, retryDelayOf } from '../temporal/failures.ts';
import type { RefundInput } from '../temporal/messages.ts';
import type { Bulkhead } from './bulkhead.ts';
import { findPayment } from './find-payment.ts';
import {
  exchangeWith,
  unknownIfSilent,
  toOpenedPayment,
  type Unanswered,
  withGatewaySlot,
} from './gateway-calls.ts';
import { type Deps as LateDeps, followLateMoney } from './late-refunds.ts';
import { sortRefunds } from './sort-refunds.ts';
import {
  createRefundRecords,
  type Deps as RecordDeps,
  type NextWait,
  type PaymentTry,
  type RefundTry,
} from './refund-records.ts';
import { dayMs, minuteMs } from '../contract/time.ts';

export interface Deps extends RecordDeps, LateDeps {
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  gatewayOf: AdapterOf;
  gatewayBulkhead: Bulkhead;
  publicBaseUrl: string;
}

export interface RefundRequest extends RefundInput {
  /** The events whose deliveries the workflow has begun. */
  delivering?: readonly string[];
}

export interface RefundResult {
  /** The ids of the events to deliver. */
  events: string[];
  /** The refund has not ended: the gateway is asked again after this time. */
  againInMs?: number;
  /** The stage of the refund, in words for who looks at the workflow. */
  says?: string;
}

/** A shorter wait is a retry of the activity, and adds nothing to the history. */
const shortestTimerMs = 10_000;

/** A gateway with keys carries out one refund however often it is told. */
const mostTells = 3;
/** No call of ours to a gateway takes this long, so one without an answer is over by then. */
const tellAgainMs = 50_000;
/** A gateway without keys is watched for so long after it gave no answer: its list may lag behind. */
const watchMs = dayMs;

export const createRefundActivities = (deps: Deps) => {
  const { paymentOutcomes, refundOutcomes, gatewayOf, gatewayBulkhead, publicBaseUrl, now } = deps;
  const records = createRefundRecords(deps);

  /** Each call has an adapter of its own, because the calls of one adapter share 20 seconds. */
  const callGateway = async <T>(
    { payment, exchanges }: PaymentTry,
    call: (gateway: GatewayAdapter) => Promise<T>,
  ): Promise<T | Unanswered> => {
    const called = await exchangeWith(gatewayOf, payment, (gateway) =>
      unknownIfSilent(() => call(gateway)),
    );
    exchanges.push(...called.exchanges);
    if ('fault' in called) throw called.fault;
    return called.result;
  };

  /** @returns what the gateway knows, and the refunds of the payment that Postgres has */
  const listKnown = async (current: PaymentTry) => {
    const recorded = await refundOutcomes.listRecorded(current.payment.id);
    const references = recorded.flatMap(({ gatewayReference }) => gatewayReference ?? []);
    const known: KnownRefund[] | Unanswered = await callGateway(
      current,
      async (gateway) => gateway.refunds?.(current.opened, references) ?? [],
    );
    return { known, recorded };
  };

  /** Tells the gateway, after it did not know the refund. */
  const tell = async (current: RefundTry): Promise<NextWait> => {
    const { refund, payment, opened } = current;
    const { id, amount, timesTold } = refund;
    if (!(await refundOutcomes.markTold(id, { timesTold, now: now() })))
      return { says: 'Another try was first, or the refund was called off', afterMs: 1_000 };
    const toldAt = refund.toldAt ?? now();
    const next: RefundTry = { ...current, refund: { ...refund, timesTold: timesTold + 1, toldAt } };
    const wanted = { id, amount, timesTold, toldAt: refund.toldAt };
    const isReversible = canReverse(payment, amount, now());
    const answer = await callGateway(
      next,
      async (gateway) => gateway.refund?.(opened, { ...wanted, isReversible }) ?? noCredentials,
    );
    if ('state' in answer)
      return records.wait(next, 'The gateway gave no usable answer', { afterMs: tellAgainMs });
    if (answer.result === 'accepted') return records.record(next, answer.refund);
    const { failureCode, code, message } = answer;
    const refused: RefundEnd = {
      ...ownEnd,
      status: 'failed',
      failureCode,
      providerMessage: { code, message },
      timesTold: timesTold + 1,
    };
    // After silence a refusal is no outcome: "already refunded" may mean this refund.
    if (timesTold === 0 && (await records.finish(next, refused))) return undefined;
    return records.wait(next, 'The gateway refused a refund that it may have carried out before', {
      afterMs: tellAgainMs,
    });
  };

  /** Asks the gateway what it knows, and tells it if it may not know the refund. */
  const advance = async (current: RefundTry): Promise<NextWait> => {
    const { refund, payment } = current;
    const keyed = findDriver(payment.driver)?.capabilities.refund?.keyed ?? false;
    const { known, recorded } = await listKnown(current);
    if (!Array.isArray(known)) {
      if (refund.status !== 'pending') return { says: known.reason, afterMs: minuteMs };
      return records.waitUnanswered(current, known.reason);
    }
    const sorted = sortRefunds(refund, known, { keyed, recorded });
    if (sorted.madeAtGateway.length > 0) {
      await records.recordMadeAtGateway(current, sorted, refund.id);
      const after = await refundOutcomes.get(refund.id);
      if (after?.status !== refund.status) return undefined;
    }
    if (sorted.unattributed)
      return records.leaveToAdmin(
        current,
        'The gateway has a refund like one that it was never told',
      );
    if (sorted.ours) return records.record(current, sorted.ours);
    if (refund.status !== 'pending') return undefined;
    const mayTell = refund.timesTold === 0 || (keyed && refund.timesTold < mostTells);
    if (mayTell && !refund.waitsForApplication && !refund.isDisputed) return tell(current);
    if (refund.toldAt && now().getTime() - refund.toldAt.getTime() > watchMs)
      return records.leaveToAdmin(current, 'Nobody knows whether a gateway gave money back');
    return records.waitUnanswered(current, 'The gateway does not list the refund');
  };

  /** The gateway reported a refund that Postgres does not have. */
  const findMadeAtGateway = async (current: PaymentTry): Promise<NextWait> => {
    const { known, recorded } = await listKnown(current);
    if (!Array.isArray(known)) return { says: known.reason, afterMs: minuteMs };
    await records.recordMadeAtGateway(
      current,
      sortRefunds(undefined, known, { keyed: true, recorded }),
    );
    return undefined;
  };

  /** @throws ApplicationFailure GatewayBusy */
  const step = async (current: PaymentTry, refund?: RefundProgress): Promise<NextWait> => {
    const { payment, opened } = current;
    if (isTerminal(payment.status) && payment.status !== 'paid')
      return withGatewaySlot(gatewayBulkhead, payment, () =>
        followLateMoney(deps, payment, () => callGateway(current, (at) => at.inquire(opened))),
      );
    const end = refund && endUnasked(refund);
    if (refund && end) {
      await records.finish({ ...current, refund }, end);
      return undefined;
    }
    if (refund?.waitsForApplication && refund.timesTold === 0)
      return records.wait({ ...current, refund }, 'The application of the refund is disabled');
    if (refund && !mayChange(refund)) return undefined;
    return withGatewaySlot(gatewayBulkhead, payment, () =>
      refund ? advance({ ...current, refund }) : findMadeAtGateway(current),
    );
  };

  return {
    /**
     * Gives the money of a refund back: asks the gateway what it knows, tells it at most once where it has no keys, and
     * records the end. The workflow asks again later unless the refund has ended or an admin must find out.
     * @returns the events to deliver
     * @throws ApplicationFailure GatewayBusy, RefundPending, RefundNotFound
     */
    async refundPayment({ id, paymentId, delivering = [] }: RefundRequest): Promise<RefundResult> {
      const payment = await findPayment(paymentOutcomes, paymentId);
      if (payment.reference === null) throw refundNotFound(id);
      const opened = toOpenedPayment(payment, payment.reference, publicBaseUrl);
      const current: PaymentTry = { payment, opened, exchanges: [] };
      const recorded = await refundOutcomes.get(id);
      // A gateway may report an id of ours with another payment: what it knows of this one is recorded.
      const refund = recorded?.paymentId === paymentId ? recorded : undefined;
      if (refund?.requestedBy === 'admin' && refund.status === 'pending' && !refund.toConfirm)
        await refundOutcomes.announce(refund, now());
      const wait = await step(current, refund).then(
        (next) => next && { ...next, failure: refundPending(next.says, next.afterMs) },
        waitForSlot,
      );
      const { status, stage, events } = await refundOutcomes.getStanding({ id, paymentId });
      if (!wait) return { events: events.map((event) => event.id), says: saysOf(status, stage) };
      const due = events.filter((event) => event.isPending && !delivering.includes(event.id));
      if (due.length === 0 && wait.afterMs < shortestTimerMs) throw wait.failure;
      return { events: due.map((event) => event.id), againInMs: wait.afterMs, says: wait.says };
    },
  };
};

/** No slot of the gateway is free. */
const waitForSlot = (error: unknown) => {
  const afterMs = retryDelayOf(error);
  if (afterMs === undefined) throw error;
  const failure = error as Error; // Only ours have a delay.
  return { says: failure.message, afterMs, failure };
};

const saysOf = (status: RefundStatus | undefined, stage: RefundStage | null): string => {
  if (status === 'succeeded') return 'The money has gone back';
  if (status === 'failed') return 'The refund has failed, and no money has gone back';
  if (status === undefined) return 'The gateway does not know the refund';
  return stage === 'by_hand'
    ? 'An admin must find out what the gateway did'
    : 'A second admin must confirm it';
};

/** The credentials have changed since the refund was made. */
const noCredentials = {
  result: 'refused',
  failureCode: 'merchant_configuration',
  ...{ code: null, message: 'The account has no credentials for refunds' },
} as const;

const ownEnd = {
  providerMessage: { code: null, message: null },
  gatewayReference: null,
  bankReference: null,
};

/** The end of a refund without a question to the gateway: a person has decided it, or a bank has taken its money. */
const endUnasked = (refund: RefundProgress): RefundEnd | undefined => {
  const { status, timesTold, cancelRequested, settledAs, method, toConfirm, isDisputed } = refund;
  if (status !== 'pending') return undefined;
  if (settledAs)
    return { ...ownEnd, status: settledAs, failureCode: settledAs === 'failed' ? 'unknown' : null };
  if (cancelRequested && timesTold === 0)
    return { ...ownEnd, status: 'failed', failureCode: 'cancelled', timesTold };
  if (isDisputed && timesTold === 0 && method !== 'recorded')
    return { ...ownEnd, status: 'failed', failureCode: 'disputed', timesTold };
  // A person has given the money back already.
  return method === 'recorded' && !toConfirm
    ? { ...ownEnd, status: 'succeeded', failureCode: null }
    : undefined;
};

/** The gateway may have news of it: it is pending, its money may have come back, or the gateway contradicts its end. */
const mayChange = ({ status, timesTold, method, stage, toConfirm }: RefundProgress): boolean =>
  method !== 'recorded' &&
  stage !== 'by_hand' &&
  !toConfirm &&
  (status !== 'failed' || timesTold > 0);
