import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import type { LatePaymentResult } from '../postgres/late-payments.ts';
import type {
  AttemptRecord,
  PaymentFilter,
  PaymentSummary,
  PaymentRecord,
} from '../postgres/admin-payments.ts';
import { createAdminPayments } from '../postgres/admin-payments.ts';
import { findApplication } from './applications.ts';
import { Refusal } from './change.ts';

export interface Deps {
  sql: Sql;
  /** Of the Temporal UI, where there is one that is known. */
  workflowUrl: (paymentId: string) => string | null;
}

/** One thing that happened, or is to happen. */
export interface TimelineEntry {
  at: Date;
  what: string;
  details: string | null;
}

export interface PaymentTimeline {
  payment: PaymentRecord;
  /** In order. */
  timeline: TimelineEntry[];
  workflowUrl: string | null;
}

export const createPaymentOperations = ({ sql, workflowUrl }: Deps) => ({
  async find(filter: PaymentFilter, limit: number): Promise<PaymentSummary[]> {
    if (filter.application !== null) await findApplication(sql, filter.application);
    return createAdminPayments(sql).find(filter, limit);
  },

  async get(id: string): Promise<PaymentTimeline> {
    const payment = await createAdminPayments(sql).get(id);
    if (!payment) throw new Refusal(`There is no payment ${id}.`);
    return { payment, timeline: timelineOf(payment), workflowUrl: workflowUrl(id) };
  },
});

const timelineOf = (payment: PaymentRecord): TimelineEntry[] => {
  const moments: (TimelineEntry | undefined)[] = [
    { at: payment.createdAt, what: 'created', details: `through ${payment.gateway}` },
    moment(payment.checkoutAt, 'payer sent to the gateway', payment.gatewayReference),
    moment(payment.inquiredAt, 'gateway asked, no outcome', null),
    ...payment.exchanges.map((exchange) =>
      moment(exchange.at, `gateway: ${exchange.operation}`, saidIn(exchange)),
    ),
    moment(payment.eventAt, payment.status, outcomeOf(payment)),
    moment(
      payment.duplicateOf === null ? null : (payment.eventAt ?? payment.createdAt),
      'duplicate: its order was paid before',
      payment.duplicateOf,
    ),
    moment(payment.latePaymentFoundAt, 'money found after the end', null),
    moment(
      payment.latePaymentResolvedAt,
      'late money',
      payment.latePaymentResult && becameOf[payment.latePaymentResult],
    ),
    ...payment.attempts.map((attempt) =>
      moment(attempt.startedAt, `attempt ${attempt.number} (${attempt.trigger})`, wordsOf(attempt)),
    ),
    moment(payment.nextAttemptAt, 'next attempt due', null),
    payment.eventAt ? undefined : moment(payment.expiresAt, 'expires', null),
  ];
  return moments
    .filter((one): one is TimelineEntry => one !== undefined)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

const becameOf: Record<LatePaymentResult, string> = {
  returns: 'never verified: it goes back by itself',
  reversed: 'it went back',
  by_hand: 'look after it at the gateway: it may have stayed there',
};

const moment = (
  at: Date | null,
  what: string,
  details: string | null,
): TimelineEntry | undefined => (at ? { at, what, details } : undefined);

const outcomeOf = (payment: PaymentRecord): string | null => {
  const { failureCode, gatewayCode, gatewayMessage, trackingCode } = payment;
  const words = [failureCode, gatewayCode, gatewayMessage, trackingCode].filter(Boolean);
  return words.length > 0 ? words.join(' · ') : null;
};

const saidIn = ({ result, code, message, durationMs }: GatewayExchange): string =>
  `${[result, code, message].filter(Boolean).join(' · ')}, ${durationMs} ms`;

const wordsOf = (attempt: AttemptRecord): string => {
  if (!attempt.completedAt) return 'not completed: it is running, or will be repeated';
  const { durationMs, responseStatus, errorClass, error, responseBody } = attempt;
  const answer = errorClass === null ? `delivered (${responseStatus})` : `${errorClass}: ${error}`;
  const body = responseBody === null ? '' : `: ${beginningOf(responseBody)}`;
  return `${answer}, ${durationMs} ms${body}`;
};

/** Of an answer, on one line with all else; the whole is beside the timeline. */
const beginningOf = (body: string): string => (body.length > 200 ? `${body.slice(0, 200)}…` : body);
