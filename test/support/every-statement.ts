import { eventOf } from '../../contract/event.ts';
import type { GatewayExchange } from '../../contract/gateway-exchange.ts';
import { createAuditLog } from '../../postgres/audit-log.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { createDeliveries } from '../../postgres/deliveries.ts';
import { createGatewayExchanges } from '../../postgres/gateway-exchanges.ts';
import { createIdempotencyKeys } from '../../postgres/idempotency-keys.ts';
import { createLatePayments } from '../../postgres/late-payments.ts';
import { createAdminPayments } from '../../postgres/admin-payments.ts';
import { createPayments } from '../../postgres/payments.ts';
import { createReconciliationQueries } from '../../postgres/reconciliation.ts';
import { createRetention } from '../../postgres/retention.ts';
import { createSandboxPayments } from '../../postgres/sandbox-payments.ts';
import { createPaymentOutcomes } from '../../postgres/payment-outcomes.ts';
import { createSweeperQueries } from '../../postgres/sweeper.ts';
import { createAdminTokens } from '../../postgres/admin-tokens.ts';
import { createTokens } from '../../postgres/tokens.ts';
import { createWorkflowOutbox } from '../../postgres/workflow-outbox.ts';
import { createBacklogMetrics } from '../../postgres/backlog-metrics.ts';
import { aPayment, noWords } from './records.ts';

/** Files of `postgres/` whose tables only people add to: one row an application, an account, a secret. */
export const small = ['applications.ts', 'gateways.ts', 'webhook-secrets.ts'];

const fewTokens = 'tokens are made by hand, and only an admin asks for those of an application';

/** What may read a whole table, and why. */
export const exceptions: Readonly<Record<string, string>> = {
  'token-records.ts, list: Seq Scan on tokens': fewTokens,
  'token-records.ts, get: Seq Scan on tokens': fewTokens,
  'token-records.ts, revoke: Seq Scan on tokens': fewTokens,
  'retention.ts, dropPayments: Seq Scan on late_payments':
    'late money is rare, and a purge looks once for all of it that is open',
  'reconciliation.ts, listLate: Seq Scan on late_payments': 'late money is rare',
};

interface Statements {
  methods: object;
  /** By the method that sends it; several ways to call one have a comma behind its name. */
  calls: Record<string, () => Promise<unknown>>;
}

export const idOf = (n: number) => `PAY_${String(n).padStart(26, '0')}`;
const idsFrom = (first: number, many: number) =>
  Array.from({ length: many }, (_, index) => idOf(first + index));

/**
 * Of an admin's batches of 1,000 and more: of 100,000 rows they are so many that to read all is cheapest.
 * These are as few as those are of 10,000,000.
 */
const share = 10;

/**
 * Every statement on tables that grow, by its file in `postgres/`, to be asked of what fill.ts makes.
 */
export const everyStatement = (
  db: Sql,
  { application, count }: { application: string; count: number },
): Record<string, Statements> => {
  const now = new Date();
  const owner = { application, test: true };
  const route = 'POST /api/v1/payments';
  const record = {
    ...{ route, key: 'new', fingerprint: Buffer.alloc(32), status: 201, location: '', body: '' },
    expiresAt: now,
  };
  const one = (id: string) => aPayment({ id, application });
  const ended = { ...one(idOf(2)), status: 'expired' as const };
  const attempt = { number: 1, round: 1, scheduledAt: now, startedAt: now };
  const result = {
    ...{ durationMs: 1, responseStatus: 200, errorClass: null, error: null, responseBody: null },
    responseTruncated: false,
  };
  const exchange: GatewayExchange = {
    ...{ at: now, operation: 'inquire', result: 'waiting', code: null, message: null },
    durationMs: 5,
  };
  const all = { id: null, orderId: null, application: null, status: null, delivery: null };

  const auditLog = createAuditLog(db);
  const deliveries = createDeliveries(db);
  const exchanges = createGatewayExchanges(db);
  const idempotencyKeys = createIdempotencyKeys(db);
  const latePayments = createLatePayments(db);
  const records = createAdminPayments(db);
  const payments = createPayments(db);
  const reconciliation = createReconciliationQueries(db);
  const retention = createRetention(db);
  const sandboxPayments = createSandboxPayments(db);
  const paymentOutcomes = createPaymentOutcomes(db);
  const sweep = createSweeperQueries(db);
  const tokenRecords = createAdminTokens(db);
  const tokens = createTokens(db);
  const outbox = createWorkflowOutbox(db);
  const workLeft = createBacklogMetrics(db);
  return {
    'payments.ts': {
      methods: payments,
      calls: {
        insert: () => payments.insert(one('PAY_NEW'), record),
        get: () => payments.get(idOf(7), owner),
        list: () =>
          payments.list(owner, {
            ...{ orderId: undefined, status: undefined, from: undefined, to: undefined },
            ...{ after: undefined, limit: 21, offset: 9_980 },
          }),
        getForPayer: () => payments.getForPayer(idOf(7)),
        getByReference: () => payments.getByReference('sandbox', 'R7'),
        isOpened: () => payments.isOpened(idOf(7)),
        sendToGateway: () => payments.sendToGateway(idOf(7), now),
      },
    },
    'tokens.ts': {
      methods: tokens,
      calls: {
        issue: () => tokens.issue({ application, mode: 'test', name: 'new' }),
        authenticate: () => tokens.authenticate('svc_test_x'),
      },
    },
    'token-records.ts': {
      methods: tokenRecords,
      calls: {
        list: () => tokenRecords.list(application, 100),
        get: () => tokenRecords.get(application, '0123456789abcdef'),
        revoke: () => tokenRecords.revoke(application, '0123456789abcdef'),
      },
    },
    'paymentOutcomes.ts': {
      methods: paymentOutcomes,
      calls: {
        get: () => paymentOutcomes.get(idOf(7)),
        open: () =>
          paymentOutcomes.open(idOf(7), {
            ...{ reference: 'x', redirect: { method: 'GET', url: '' }, exchanges: [exchange] },
          }),
        wait: () =>
          paymentOutcomes.wait(idOf(7), {
            ...{ processing: true, unanswered: false, now, exchanges: [exchange] },
          }),
        flagDuplicates: () =>
          paymentOutcomes.flagDuplicates({ ...one(idOf(7)), trackingCode: 'T-7' }),
        end: () => paymentOutcomes.end(ended, eventOf(ended, now), noWords),
      },
    },
    'deliveries.ts': {
      methods: deliveries,
      calls: {
        get: () => deliveries.get(idOf(count)),
        beginRound: () => deliveries.beginRound(idOf(count), now),
        beginAttempt: () => deliveries.beginAttempt(idOf(count), attempt),
        completeAttempt: () =>
          deliveries.completeAttempt(idOf(count), 1, {
            result,
            consequence: { status: 'delivered' },
            completedAt: now,
          }),
      },
    },
    'gateway-exchanges.ts': {
      methods: exchanges,
      calls: {
        insert: () => exchanges.insert(idOf(7), [exchange]),
        insertRepeated: () =>
          exchanges.insertRepeated(idsFrom(1, 10).map((paymentId) => ({ ...exchange, paymentId }))),
        list: () => exchanges.list(idOf(7)),
      },
    },
    'late-money.ts': {
      methods: latePayments,
      calls: {
        get: () => latePayments.get(idOf(count)),
        record: () => latePayments.record(idOf(count - 3), { result: 'returns', facts: {}, now }),
        beginReversal: () =>
          latePayments.beginReversal(idOf(count), { most: 3, notAfter: now, now }),
      },
    },
    'idempotency-keys.ts': {
      methods: idempotencyKeys,
      calls: {
        get: () => idempotencyKeys.get(owner, route, 'key-7'),
        deleteExpired: () => idempotencyKeys.deleteExpired(10),
      },
    },
    'sandbox-payments.ts': {
      methods: sandboxPayments,
      calls: {
        open: () =>
          sandboxPayments.open({ paymentId: idOf(7), amount: 1, currency: 'EUR', returnUrl: '' }),
        get: () => sandboxPayments.get('R7'),
        getByPayment: () => sandboxPayments.getByPayment(idOf(7)),
        choose: () => sandboxPayments.choose(idOf(7), { state: 'paid', refusal: null }),
        verify: () => sandboxPayments.verify('R7'),
        expire: () => sandboxPayments.expire('R8'),
      },
    },
    'sweep.ts': {
      methods: sweep,
      calls: {
        gatewaysInUse: () => sweep.gatewaysInUse(),
        claimForInquiry: () => sweep.claimForInquiry('sandbox', 10),
        markInquired: () => sweep.markInquired([idOf(7)]),
        releaseClaims: () => sweep.releaseClaims(['PAY_1', 'PAY_2']),
        listEndedUnpaid: () => sweep.listEndedUnpaid('sandbox', ['R1', 'R2']),
        claimStalledPayments: () => sweep.claimStalledPayments(10),
        countOverdueDeliveries: () => sweep.countOverdueDeliveries(100),
        claimOverdueDeliveries: () => sweep.claimOverdueDeliveries(10),
      },
    },
    'workflow-outbox.ts': {
      methods: outbox,
      calls: {
        delete: () => outbox.delete([idOf(1), idOf(2)]),
        count: () => outbox.count(10_001),
        list: () => outbox.list({ limit: 100, age: '5 seconds' }),
      },
    },
    'work-left.ts': { methods: workLeft, calls: { look: () => workLeft.look() } },

    // What an admin asks for at a terminal.
    'payment-records.ts': {
      methods: records,
      calls: {
        find: () => records.find(all, 50),
        'find, by status': () => records.find({ ...all, status: 'failed' }, 50),
        'find, by order': () => records.find({ ...all, orderId: 'order-7' }, 50),
        'find, exhausted': () => records.find({ ...all, delivery: 'exhausted' }, 50),
        get: () => records.get(idOf(7)),
        listExhausted: () => records.listExhausted(application, { after: '', limit: 100 }),
        countExhausted: () => records.countExhausted(application),
        deliveryStatus: () => records.deliveryStatus(idOf(7)),
      },
    },
    'audit-log.ts': {
      methods: auditLog,
      calls: {
        insert: () =>
          auditLog.insert({
            ...{ actor: 'ada', action: 'payment.heal', subject: `payment:${idOf(7)}` },
            ...{ before: null, after: null, reason: null },
          }),
        list: () => auditLog.list({ subject: null, limit: 50 }),
        'list, of a payment': () => auditLog.list({ subject: `payment:${idOf(7)}`, limit: 50 }),
      },
    },
    'reconciliation.ts': {
      methods: reconciliation,
      calls: {
        listOpen: () => reconciliation.listOpen({ after: undefined, limit: 200 }),
        listUndelivered: () => reconciliation.listUndelivered({ after: undefined, limit: 200 }),
        stillInProgress: () => reconciliation.stillInProgress(idsFrom(count / 2, 200)),
        listLate: () => reconciliation.listLate({ after: undefined, limit: 200 }),
        stillLate: () => reconciliation.stillLate(idsFrom(count / 2, 200)),
        listUnfinished: () => reconciliation.listUnfinished(null, share),
        existing: () => reconciliation.existing(idsFrom(count / 2, 200)),
      },
    },
    'retention.ts': {
      methods: retention,
      calls: {
        dropBodies: () => retention.dropBodies(new Date(), share),
        dropPayments: () => retention.dropPayments(new Date(), share),
      },
    },
  };
};
