import { expect } from 'vitest';
import { createLateActivities } from '../../activities/late-payments.ts';
import { createBulkhead } from '../../activities/bulkhead.ts';
import type { GatewayStatus, Reversal } from '../../gateways/gateway.ts';
import { createAuditLog } from '../../postgres/audit-log.ts';
import { createGatewayExchanges } from '../../postgres/gateway-exchanges.ts';
import { createGateways } from '../../postgres/gateways.ts';
import { createLatePayments } from '../../postgres/late-payments.ts';
import type { Records } from './records.ts';
import { startRecords } from './records.ts';
import type { silence } from './scripted-gateway.ts';
import { aGateway, inTurn, publicBaseUrl, readableLogger } from './scripted-gateway.ts';

/** One that captures by itself and shows reversals, one that does not show them, and a two-step one. */
const drivers = ['stripe', 'payping', 'zarinpal'] as const;
type DriverName = (typeof drivers)[number];

/** Records with such gateways. */
export const startLateRecords = async (): Promise<Records> => {
  const records = await startRecords();
  for (const slug of drivers)
    await createGateways(records.sql).insert({
      slug,
      driver: slug,
      kind: 'sandbox',
      credentials: null,
    });
  return records;
};

export interface Scene {
  driver?: DriverName;
  /** What is recorded is kept, and the answer of Postgres is lost. */
  answerIsLost?: boolean;
  /** What the last verification before the end was answered. */
  verified?: 'processing';
  inquire: (GatewayStatus | typeof silence)[];
  /** Without it, the gateway takes nothing back. */
  reverse?: (Reversal | typeof silence)[] | (() => Promise<Reversal>);
}

/** A payment that ended unpaid, and what its gateway says then. */
export const lateCase = async (records: Records, scene: Scene) => {
  const { driver = 'stripe', verified, inquire, reverse, answerIsLost = false } = scene;
  const payment = await records.ended('expired', { gateway: driver });
  const said = {
    at: new Date(),
    operation: 'verify' as const,
    code: null,
    message: null,
    durationMs: 1,
  };
  if (verified)
    await createGatewayExchanges(records.sql).insert(payment.id, [{ ...said, result: verified }]);
  const { gatewayOf, calls } = aGateway({
    inquire: inTurn<GatewayStatus>(...inquire),
    ...(reverse && { reverse: Array.isArray(reverse) ? inTurn(...reverse) : reverse }),
  });
  const { logger, alerts } = readableLogger();
  const latePayments = createLatePayments(records.sql);
  const recordInVain = async (...row: Parameters<typeof latePayments.record>): Promise<never> => {
    await latePayments.record(...row);
    throw new Error('The connection is lost');
  };
  let nowMs = Date.now();
  const gatewayBulkhead = createBulkhead({ perOwner: 1 });
  const { resolveLatePayment } = createLateActivities({
    paymentOutcomes: records.paymentOutcomes,
    latePayments: answerIsLost ? { ...latePayments, record: recordInVain } : latePayments,
    gatewayExchanges: createGatewayExchanges(records.sql),
    gatewayOf,
    gatewayBulkhead,
    publicBaseUrl,
    now: () => new Date(nowMs),
    logger,
  });
  const before = await records.snapshot(payment.id);
  const entries = async () => {
    const subject = `payment:${payment.id}`;
    return (await createAuditLog(records.sql).list({ subject, limit: 9 })).toReversed();
  };
  return {
    payment,
    calls,
    alerts,
    takePlace: () => gatewayBulkhead.take(payment.gateway, 'PAY_other'),
    look: ({ last = false } = {}) => resolveLatePayment({ id: payment.id, last }),
    minutesLater(count: number) {
      nowMs += count * 60_000;
    },
    async audited() {
      return (await entries()).map(({ action }) => action.replace('payment.late_payment_', ''));
    },
    /** What else stands there each time. */
    written: async () => (await entries()).map(({ after }) => after),
    /** The payment, its event and its delivery are as they were. */
    async isUntouched() {
      expect(await records.snapshot(payment.id)).toEqual(before);
    },
  };
};
