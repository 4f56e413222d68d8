import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type {
  AttemptRecord,
  PaymentFilter,
  PaymentRecord,
  PaymentSummary,
} from '../postgres/admin-payments.ts';
import { createAdminPayments } from '../postgres/admin-payments.ts';
import type { LatePaymentResult } from '../postgres/late-payments.ts';
import { findApplication } from './applications.ts';
import { Refusal } from './change.ts';
import type { Deps } from './deps.ts';

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
  workflowUrl: string | null;
}

export const createPaymentOperations = ({
  sql,
  workflowUrl,
}: Pick<Deps, 'sql' | 'workflowUrl'>) => ({
  async find(filter: PaymentFilter, limit: number): Promise<PaymentSummary[]> {
    if (filter.application !== null) await findApplication(sql, filter.application);
    return createAdminPayments(sql).find(filter, limit);
  },

  async get(id: string): Promise<PaymentTimeline> {
    const payment = await createAdminPayments(sql).get(id);
    if (!payment) throw new Refusal(`There is no payment ${id}.`);
    return { payment, timeline: createTimeline(payment), workflowUrl: workflowUrl(id) };
  },
});

const createTimeline = (payment: PaymentRecord): TimelineEntry[] => {
  const entries: (TimelineEntry | undefined)[] = [
    { at: payment.createdAt, what: 'created', details: `through ${payment.gateway}` },
    entry(payment.checkoutAt, 'payer sent to the gateway', payment.gatewayReference),
    entry(payment.inquiredAt, 'inquiry without an outcome', null),
    ...payment.exchanges.map((exchange) =>
      entry(exchange.at, `gateway: ${exchange.operation}`, describeExchange(exchange)),
    ),
    entry(payment.eventAt, payment.status, describeOutcome(payment)),
    entry(
      payment.duplicateOf === null ? null : (payment.eventAt ?? payment.createdAt),
      'duplicate: another payment of the order was paid before',
      payment.duplicateOf,
    ),
    entry(payment.latePaymentFoundAt, 'money found after the end', null),
    entry(
      payment.latePaymentResolvedAt,
      'late money',
      payment.latePaymentResult && lateResults[payment.latePaymentResult],
    ),
    ...payment.attempts.map((attempt) =>
      entry(
        attempt.startedAt,
        `attempt ${attempt.number} (${attempt.trigger})`,
        describeAttempt(attempt),
      ),
    ),
    entry(payment.nextAttemptAt, 'next attempt due', null),
    payment.eventAt ? undefined : entry(payment.expiresAt, 'expires', null),
  ];
  return entries
    .filter((found): found is TimelineEntry => found !== undefined)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

const lateResults: Record<LatePaymentResult, string> = {
  returns: 'not verified: the gateway returns it by itself',
  reversed: 'reversed',
  by_hand: 'check it at the gateway: the money may have stayed there',
};

const entry = (at: Date | null, what: string, details: string | null): TimelineEntry | undefined =>
  at ? { at, what, details } : undefined;

const describeOutcome = (payment: PaymentRecord): string | null => {
  const { failureCode, gatewayCode, gatewayMessage, trackingCode } = payment;
  const facts = [failureCode, gatewayCode, gatewayMessage, trackingCode].filter(Boolean);
  return facts.length > 0 ? facts.join(' · ') : null;
};

const describeExchange = ({ result, code, message, durationMs }: GatewayExchange): string =>
  `${[result, code, message].filter(Boolean).join(' · ')}, ${durationMs} ms`;

const describeAttempt = (attempt: AttemptRecord): string => {
  if (!attempt.completedAt) return 'not completed: it is running, or will be repeated';
  const { durationMs, responseStatus, errorClass, error, responseBody } = attempt;
  const result = errorClass === null ? `delivered (${responseStatus})` : `${errorClass}: ${error}`;
  const body = responseBody === null ? '' : `: ${shorten(responseBody)}`;
  return `${result}, ${durationMs} ms${body}`;
};

/** For the timeline. The payment holds the whole body. */
const shorten = (body: string): string => (body.length > 200 ? `${body.slice(0, 200)}…` : body);
