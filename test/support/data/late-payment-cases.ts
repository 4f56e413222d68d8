import { expect } from 'vitest';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { createLatePaymentActivities } from '../../../activities/late-payments.ts';
import type { GatewayStatus, Reversal } from '../../../gateways/gateway.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createLatePayments } from '../../../postgres/payments/late-payments.ts';
import { startRecords, type Records } from './records.ts';
import {
  aGateway,
  inTurn,
  publicBaseUrl,
  readableLogger,
  type silence,
} from '../service/scripted-gateway.ts';

/** One driver that captures by itself and shows reversals, one that does not show them, one in two steps. */
const drivers = ['stripe', 'payping', 'zarinpal'] as const;
type DriverName = (typeof drivers)[number];

/** Records with a gateway of each driver. */
export const startLateRecords = async (): Promise<Records> => {
  const records = await startRecords();
  for (const driver of drivers) await records.addGateway(driver);
  return records;
};

type Deps = Parameters<typeof createLatePaymentActivities>[0];
/** The activity of late payments, with real records and what a test gives. */
export const lateActivities = (records: Records, deps: Pick<Deps, 'gatewayOf'> & Partial<Deps>) =>
  createLatePaymentActivities({
    paymentOutcomes: records.paymentOutcomes,
    latePayments: createLatePayments(records.sql),
    gatewayExchanges: createGatewayExchanges(records.sql),
    gatewayBulkhead: createBulkhead({ perOwner: 250 }),
    publicBaseUrl,
    now: () => new Date(),
    logger: readableLogger().logger,
    ...deps,
  });

export interface LateCase {
  driver?: DriverName;
  /** Postgres stores the record, but its answer is lost. */
  answerIsLost?: boolean;
  /** The answer to the last verification before the end. */
  verified?: 'processing';
  inquire: (GatewayStatus | typeof silence)[];
  /** Absent: the gateway cannot reverse. */
  reverse?: (Reversal | typeof silence)[] | (() => Promise<Reversal>);
}

/** A payment that ended unpaid, with a scripted gateway. */
export const lateCase = async (records: Records, given: LateCase) => {
  const { driver = 'stripe', verified, inquire, reverse, answerIsLost = false } = given;
  const payment = await records.ended('expired', { gateway: driver });
  const verifiedAs = (result: 'processing' | 'paid') =>
    createGatewayExchanges(records.sql).insert(payment.id, [
      { at: new Date(), operation: 'verify', result, code: null, message: null, durationMs: 1 },
    ]);
  if (verified) await verifiedAs(verified);
  const { gatewayOf, calls } = aGateway({
    inquire: inTurn<GatewayStatus>(...inquire),
    ...(reverse && { reverse: Array.isArray(reverse) ? inTurn(...reverse) : reverse }),
  });
  const { logger, alerts } = readableLogger();
  const latePayments = createLatePayments(records.sql);
  const recordAndFail = async (...row: Parameters<typeof latePayments.record>): Promise<never> => {
    await latePayments.record(...row);
    throw new Error('The connection is lost');
  };
  let nowMs = Date.now();
  const gatewayBulkhead = createBulkhead({ perOwner: 1 });
  const { resolveLatePayment } = lateActivities(records, {
    ...(answerIsLost && { latePayments: { ...latePayments, record: recordAndFail } }),
    gatewayOf,
    gatewayBulkhead,
    now: () => new Date(nowMs),
    logger,
  });
  const before = await records.snapshot(payment.id);
  const auditEntries = async () => {
    const subject = `payment:${payment.id}`;
    return (await createAuditLog(records.sql).list({ subject, limit: 9 })).toReversed();
  };
  return {
    payment,
    calls,
    alerts,
    verifiedAs,
    acquireSlot: () => gatewayBulkhead.acquire(payment.gateway, 'PAY_other'),
    resolve: ({ last = false } = {}) => resolveLatePayment({ id: payment.id, last }),
    minutesLater(count: number) {
      nowMs += count * 60_000;
    },
    async audited() {
      return (await auditEntries()).map(({ action }) =>
        action.replace('payment.late_payment_', ''),
      );
    },
    /** The facts of each audit entry. */
    auditedFacts: async () => (await auditEntries()).map(({ after }) => after),
    /** The payment, its event and its delivery are as they were, but for the gateway's number of the money. */
    async isUnchanged() {
      await records.sql`update payments set tracking_code = null where id = ${payment.id}`;
      expect(await records.snapshot(payment.id)).toEqual(before);
    },
  };
};
