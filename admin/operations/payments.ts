import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import type { ListPage } from '../../contract/list.ts';
import { createAdminEvents, type EventSummary } from '../../postgres/admin/events.ts';
import type { AttemptRecord } from '../../postgres/webhooks/deliveries.ts';
import type { PaymentFilter, PaymentPage, PaymentRecord } from '../../postgres/admin/payments.ts';
import { createAdminPayments } from '../../postgres/admin/payments.ts';
import { isTerminal, type Status, type VerificationResult } from '../../contract/status.ts';
import type { AuditAction, AuditFacts } from '../../postgres/audit-log.ts';
import type { TemporalAdmin } from '../../temporal/admin-client.ts';
import { latePaymentWorkflowId } from '../../temporal/start-options.ts';
import { createAdminOrders, type OrderPaymentRow } from '../../postgres/admin/orders.ts';
import { createOrders } from '../../postgres/orders.ts';
import { checkLateMoney } from '../../postgres/payments/late-payments.ts';
import type { VerifyStart } from '../../temporal/workflow-calls.ts';
import { findApplication } from './applications.ts';
import { type Change, NotFound, recordFailure, Refusal } from './change.ts';
import { checkGateway } from './gateways.ts';
import type { Deps } from './deps.ts';
import { labelOf } from './labels.ts';
import { needTemporal } from './need-temporal.ts';

/** A past or expected event in a payment's life. */
export interface TimelineEntry {
  at: Date;
  what: string;
  details: string | null;
}

export interface PaymentTimeline {
  payment: PaymentRecord;
  /** In the order of time. */
  timeline: TimelineEntry[];
  /** The payment's own event and those of its refunds, in the order of recording. */
  events: EventSummary[];
  /** The other payments of its order: who holds it first, then the paid ones, then the newest. */
  others: OrderPaymentRow[];
  workflowUrl: string | null;
}

/** The request of an admin to an open payment's workflow. */
interface Wish {
  action: AuditAction;
  reason: string | null;
  /** For the audit record. */
  after: AuditFacts | null;
  /** @throws Refusal */
  check?: (payment: PaymentRecord) => void;
}

const othersMax = 20;

export const createPaymentOperations = ({
  sql,
  change,
  temporal,
  now,
  workflowUrl,
}: Pick<Deps, 'sql' | 'change' | 'temporal' | 'now' | 'workflowUrl'>) => {
  const payments = createAdminPayments(sql);

  const find = async (id: string): Promise<PaymentRecord> => {
    const payment = await payments.get(id);
    if (!payment) throw new NotFound(`There is no payment ${id}.`);
    return payment;
  };

  /**
   * Records what an admin wants of an open payment, then asks its workflow.
   * @returns the payment's status after it, and whether the gateway answered
   * @throws Refusal if the payment has ended, or without Temporal
   */
  const askWorkflow = async (
    id: string,
    { action, reason, after, check = () => {} }: Wish,
    ask: (
      workflows: TemporalAdmin,
      payment: PaymentRecord & VerifyStart,
    ) => Promise<VerificationResult>,
  ): Promise<{ status: Status; isAnswered: boolean }> => {
    const workflows = await needTemporal(temporal);
    const wanted: Change = { action, subject: `payment:${id}`, reason };
    const payment = await change(wanted, async () => {
      const found = await find(id);
      if (isTerminal(found.status)) throw new Refusal(`${id} is ${found.status}.`);
      check(found);
      return { result: found, before: { status: found.status }, after };
    });
    // Unique, so that an admin's request shares no result with an earlier one.
    const asked = { ...payment, verifyWindow: now().getTime() };
    const { kind } = await recordFailure(change, wanted, () =>
      needTemporal(() => ask(workflows, asked)),
    );
    const { status } = await find(id);
    return { status, isAnswered: kind !== 'unknown' };
  };

  return {
    async list(filter: PaymentFilter, page: ListPage): Promise<PaymentPage> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      if (filter.gateway !== null) await checkGateway(sql, filter.gateway);
      if (filter.id !== null) await find(filter.id);
      return payments.list(filter, page);
    },

    /** Undefined: there is no such payment. */
    applicationOf: (id: string): Promise<string | undefined> => payments.applicationOf(id),

    async get(id: string): Promise<PaymentTimeline> {
      const payment = await find(id);
      const [events, ofOrder] = await Promise.all([
        createAdminEvents(sql).listOfPayment(id),
        createAdminOrders(sql).list(payment, othersMax + 1),
      ]);
      return {
        payment,
        timeline: createTimeline(payment),
        events,
        others: ofOrder.filter((other) => other.id !== id).slice(0, othersMax),
        workflowUrl: workflowUrl(id),
      };
    },

    /**
     * Has the gateway asked about an open payment now.
     * @returns the payment's status after it, and whether the gateway answered
     * @throws Refusal if the payment has ended or is not at its gateway yet, or without Temporal
     */
    verify: (id: string, reason: string | null) =>
      askWorkflow(
        id,
        {
          action: 'payment.verify',
          reason,
          after: null,
          check({ gatewayReference }) {
            if (gatewayReference === null)
              throw new Refusal(`${id} is not open at its gateway yet.`);
          },
        },
        (workflows, payment) =>
          workflows.verify(payment, { returned: payment.status === 'processing' }),
      ),

    /**
     * Skips the time until the next step of a test payment, the search for late money included: the workflow's clock
     * jumps there. Only `npm start` offers it.
     * @throws Refusal if the payment waits for nothing, or is a live one
     */
    async skipToNextStep(id: string, reason: string | null): Promise<void> {
      const payment = await find(id);
      if (!payment.test) throw new Refusal('Time is skipped for test payments only.');
      const workflows = await needTemporal(temporal);
      const late = latePaymentWorkflowId(id);
      const own = nextStepOf(payment, now());
      const isSearched =
        own === undefined && (await needTemporal(() => workflows.running([late]))).has(late);
      const wait = isSearched ? untilLateMoney(payment, now()) : own;
      if (wait === undefined) throw new Refusal(`${id} waits for nothing.`);
      await needTemporal(() => workflows.skipTime(isSearched ? late : id, wait));
      await change({ action: 'payment.skip_time', subject: `payment:${id}`, reason }, async () => ({
        before: null,
        after: { seconds: Math.round(wait / 1000) },
      }));
    },

    /**
     * Takes the order from an open payment that holds it: the payment of its order that asks next may have it. Money
     * that is captured for this one afterwards is late money.
     * @throws Refusal
     */
    async releaseOrder(id: string, reason: string): Promise<void> {
      await change(
        { action: 'payment.release_order', subject: `payment:${id}`, reason },
        async (tx) => {
          if (!(await createOrders(tx).release(id))) throw cannotRelease(await find(id));
          return { before: null, after: null };
        },
      );
    },

    /** Records that a person has looked after money that the gateway may have kept. */
    async check(id: string, reason: string): Promise<void> {
      await change({ action: 'payment.checked', subject: `payment:${id}`, reason }, async (tx) => {
        if (!(await checkLateMoney(tx, id, now())))
          throw new Refusal(`${id} has no money that somebody must check.`);
        return { before: null, after: null };
      });
    },

    /**
     * Calls a payment off, as its application can.
     * @returns the payment's status after it, and whether the gateway answered
     * @throws Refusal if the payment has ended, or without Temporal
     */
    cancel: (id: string, reason: string) =>
      askWorkflow(
        id,
        { action: 'payment.cancel', reason, after: { cancel_requested: true } },
        // The reason is for the audit log: the application sees that of the payment.
        (workflows, payment) => workflows.cancel(payment, { by: 'admin' }),
      ),
  };
};

const cannotRelease = ({ id, status, orderClaimedAt }: PaymentRecord): Refusal => {
  if (status === 'paid')
    return new Refusal(
      `${id} is paid: another payment can pay its order once refunds and lost chargebacks have taken all of the money.`,
    );
  return new Refusal(
    orderClaimedAt === null
      ? `${id} does not hold its order.`
      : `${id} has just claimed the order, and its gateway may be taking the money: try again in two minutes.`,
  );
};

const spareMs = 2_000;

/** The wait of the payment's workflow for its next step, in milliseconds; undefined if it waits for nothing. */
const nextStepOf = (
  { status, expiresAt, nextAttemptAt }: PaymentRecord,
  now: Date,
): number | undefined => {
  const step = isTerminal(status) ? nextAttemptAt : expiresAt;
  return step ? Math.max(0, step.getTime() - now.getTime()) + spareMs : undefined;
};

/** A plan's payer pays an hour after the deadline at the latest. */
const untilLateMoney = ({ expiresAt }: PaymentRecord, now: Date): number =>
  Math.max(0, expiresAt.getTime() - now.getTime()) + 3_600_000 + spareMs;

const createTimeline = (payment: PaymentRecord): TimelineEntry[] => {
  const entries: (TimelineEntry | undefined)[] = [
    { at: payment.createdAt, what: 'created', details: `through ${payment.gateway}` },
    entry(payment.checkoutAt, 'payer sent to the gateway', payment.gatewayReference),
    ...payment.exchanges.map((exchange) =>
      entry(exchange.at, whomAsked(exchange, payment), describeExchange(exchange)),
    ),
    entry(payment.eventAt, labelOf('status', payment.status), describeOutcome(payment)),
    entry(
      payment.duplicateOf === null ? null : (payment.eventAt ?? payment.createdAt),
      'duplicate: another payment of the order was paid before',
      payment.duplicateOf,
    ),
    entry(payment.latePaymentFoundAt, 'money found after the end', null),
    entry(
      payment.latePaymentResolvedAt,
      'money that came after the end',
      payment.latePaymentResult && labelOf('latePayment', payment.latePaymentResult),
    ),
    ...payment.attempts.map((attempt) =>
      entry(
        attempt.startedAt,
        `attempt ${attempt.number} (${labelOf('by', attempt.trigger)})`,
        describeAttempt(attempt),
      ),
    ),
    entry(payment.latePaymentCheckedAt, 'checked by a person', null),
    entry(
      payment.nextAttemptAt,
      `attempt ${(payment.attempts.at(-1)?.number ?? 0) + 1} is due`,
      null,
    ),
    payment.eventAt ? undefined : entry(payment.expiresAt, 'deadline', atDeadline(payment)),
  ];
  return entries
    .filter((found): found is TimelineEntry => found !== undefined)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

const entry = (at: Date | null, what: string, details: string | null): TimelineEntry | undefined =>
  at ? { at, what, details } : undefined;

/** Silence of the gateway is no outcome, so an open payment may outlive its deadline. */
const atDeadline = ({ gatewayReference }: PaymentRecord): string =>
  gatewayReference === null
    ? 'it ends unless the gateway has opened it by then'
    : 'the gateway is asked until it says how the payment ended';

const describeOutcome = (payment: PaymentRecord): string | null => {
  const { failureCode, cancelledBy, cancellationReason } = payment;
  const { gatewayCode, gatewayMessage, trackingCode } = payment;
  const facts = [
    failureCode && labelOf('failure', failureCode),
    cancelledBy && labelOf('by', cancelledBy),
    cancellationReason,
    gatewayCode,
    gatewayMessage,
    trackingCode,
  ].filter(Boolean);
  return facts.length > 0 ? facts.join(' · ') : null;
};

/** An opening may have asked another gateway than the one that the payment is at. */
const whomAsked = (
  { operation, gateway }: GatewayExchange,
  { candidates }: PaymentRecord,
): string => {
  const asked = labelOf('exchange', operation);
  return candidates && gateway ? `${asked} (${gateway})` : asked;
};

export const describeExchange = ({ result, code, message, durationMs }: GatewayExchange): string =>
  `${[labelOf('exchangeResult', result), code, message].filter(Boolean).join(' · ')}, ${durationMs} ms`;

const describeAttempt = (attempt: AttemptRecord): string => {
  if (!attempt.completedAt) return 'not completed: it is running, or will be repeated';
  const { durationMs, responseStatus, errorClass, error, responseBody } = attempt;
  const result =
    errorClass === null
      ? `delivered (${responseStatus})`
      : `${labelOf('attemptError', errorClass)}: ${error}`;
  const body = responseBody === null ? '' : `: ${shorten(responseBody)}`;
  return `${result}, ${durationMs} ms${body}`;
};

/** For the timeline. The payment holds the whole body. */
const shorten = (body: string): string => (body.length > 200 ? `${body.slice(0, 200)}…` : body);
