import { createAdminEvents, type EventSummary } from '../../postgres/admin/events.ts';
import { createAdminPayments, type PaymentRecord } from '../../postgres/admin/payments.ts';
import { createAdminRefunds, type RefundRecord } from '../../postgres/admin/refunds.ts';
import { type AuditRecord, createAuditLog } from '../../postgres/audit-log.ts';
import { createGatewayExchanges } from '../../postgres/gateways/exchanges.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import { NotFound } from './change.ts';
import type { Deps } from './deps.ts';
import { labelOf } from './labels.ts';
import { describeExchange, type TimelineEntry } from './payments.ts';

/** A refund with its payment and everything that happened to it. */
export interface RefundDetails {
  refund: RefundRecord;
  payment: PaymentRecord;
  /** In the order of time. */
  timeline: TimelineEntry[];
  /** The refund's own events, in the order of recording. */
  events: EventSummary[];
  /** The records of the admins who asked for it and confirmed it; undefined for those who may not see the audit log. */
  asked: AuditRecord | undefined;
  confirmed: AuditRecord | undefined;
  workflowUrl: string | null;
}

/** A refund has a handful of records. */
const recordsMax = 50;

const byPerson = ({ at, action, actor, reason, after }: AuditRecord): TimelineEntry => {
  const settled = after?.['settled_as'];
  const as = settled === undefined ? '' : ` as ${String(settled)}`;
  return { at, what: `${actor} ${labelOf('audit', action)}${as}`, details: reason };
};

const timelineOf = (
  refund: RefundRecord,
  records: readonly AuditRecord[],
  exchanges: readonly GatewayExchange[],
): TimelineEntry[] => {
  const { createdAt, token, requestedBy, succeededAt, failedAt, failureCode, expectedAt, status } =
    refund;
  const entry = (at: Date | null, what: string, details: string | null): TimelineEntry[] =>
    at === null ? [] : [{ at, what, details }];
  const hasAsker = records.some(({ action }) => action === 'refund.create');
  const asker = token === null ? labelOf('requester', requestedBy) : `token ${token}`;
  return [
    ...(hasAsker ? [] : entry(createdAt, `asked for by ${asker}`, null)),
    ...records.map(byPerson),
    ...exchanges.flatMap((exchange) =>
      entry(exchange.at, labelOf('exchange', exchange.operation), describeExchange(exchange)),
    ),
    ...entry(succeededAt, 'succeeded', null),
    ...entry(failedAt, 'failed', failureCode && labelOf('refundFailure', failureCode)),
    ...(status === 'pending' ? entry(expectedAt, 'expected by the gateway', null) : []),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());
};

/** Reads one refund with what belongs to it. */
export const createRefundDetails = ({ sql, workflowUrl }: Pick<Deps, 'sql' | 'workflowUrl'>) => {
  const auditLog = createAuditLog(sql);

  const recordsOf = async ({ id, application, cancelRequested }: RefundRecord) => {
    const [own, ofAll] = await Promise.all([
      auditLog.list({ subject: `refund:${id}`, limit: recordsMax }),
      cancelRequested
        ? auditLog.list({
            subject: `application:${application}`,
            action: 'application.cancel_refunds',
            limit: recordsMax,
          })
        : [],
    ]);
    const names = (refunds: unknown) => Array.isArray(refunds) && refunds.includes(id);
    return [...own, ...ofAll.filter(({ after }) => names(after?.['refunds']))];
  };

  return {
    /** Undefined: there is no such refund. */
    async applicationOf(id: string): Promise<string | undefined> {
      return (await createAdminRefunds(sql).get(id))?.application;
    },

    /**
     * @param options.withAudit the person may see the audit log
     * @throws NotFound
     */
    async details(id: string, { withAudit }: { withAudit: boolean }): Promise<RefundDetails> {
      const found = await createAdminRefunds(sql).get(id);
      // It tells what an admin has asked for in other applications.
      const refund = found && { ...found, ...(!withAudit && { overRule: null }) };
      const payment = refund && (await createAdminPayments(sql).get(refund.paymentId));
      if (!refund || !payment) throw new NotFound(`There is no refund ${id}.`);
      const [records, exchanges, events] = await Promise.all([
        withAudit ? recordsOf(refund) : [],
        createGatewayExchanges(sql).list(payment.id, id),
        createAdminEvents(sql).listOfPayment(payment.id),
      ]);
      return {
        refund,
        payment,
        timeline: timelineOf(refund, records, exchanges),
        events: events.filter(({ refundId }) => refundId === id),
        asked: records.find(({ action }) => action === 'refund.create'),
        confirmed: records.find(({ action }) => action === 'refund.confirm'),
        workflowUrl: workflowUrl(id),
      };
    },
  };
};
