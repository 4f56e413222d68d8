import { eventId } from '../../../contract/ids.ts';
import { createEvent } from '../../../contract/event.ts';
import type { GatewayExchange } from '../../../contract/gateway-exchange.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createDeliveries } from '../../../postgres/deliveries.ts';
import { createEvents } from '../../../postgres/events.ts';
import { createGatewayFigures } from '../../../postgres/gateway-figures.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import { createIdempotencyKeys } from '../../../postgres/idempotency-keys.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { createConsoleQueries } from '../../../postgres/console.ts';
import { createAdminEvents, listAttempts } from '../../../postgres/admin-events.ts';
import { createAdminPayments } from '../../../postgres/admin-payments.ts';
import { createPayers } from '../../../postgres/payers.ts';
import { createPayments } from '../../../postgres/payments.ts';
import { createRecentPayments } from '../../../postgres/recent-payments.ts';
import { createReconciliationQueries } from '../../../postgres/reconciliation.ts';
import { everyDelivery } from '../../../postgres/delivery-filter.ts';
import { createReplays } from '../../../postgres/replays.ts';
import { createRetention } from '../../../postgres/retention.ts';
import { createSandboxPayments } from '../../../postgres/sandbox-payments.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createSweeperQueries } from '../../../postgres/sweeper.ts';
import { createAdminTokens } from '../../../postgres/admin-tokens.ts';
import { createTokens } from '../../../postgres/tokens.ts';
import { createWorkflowOutbox } from '../../../postgres/workflow-outbox.ts';
import { createBacklogMetrics } from '../../../postgres/backlog-metrics.ts';
import { everyEvent, everyPayment } from '../data/filters.ts';
import { aPayment } from '../data/payments.ts';
import { noAnswer } from '../data/records.ts';
import { accountStatements } from './account-statements.ts';
import { auditStatements } from './audit-statements.ts';
import { healthStatements } from './health-statements.ts';
import { refundStatements } from './refund-statements.ts';
import { searchStatements } from './search-statements.ts';
import type { Statements } from './statements.ts';

/** Files of `postgres/` whose tables grow only by hand, or lose their rows soon. */
export const smallTableFiles = [
  'account-days.ts',
  'applications.ts',
  'confirmations.ts',
  ...['console-logins.ts', 'console-passkeys.ts', 'console-people.ts', 'console-views.ts'],
  'gateways.ts',
  ...['notice-addresses.ts', 'notice-queue.ts', 'notices.ts'],
  'refund-rules.ts',
  'refused-requests.ts',
  'upkeep-metrics.ts',
  'webhook-secrets.ts',
  'webhook-tests.ts',
];

const fewTokens = 'tokens are issued by hand, and only an admin lists them';

/** Queries that may read a whole table, with the reason. */
export const allowedScans: Readonly<Record<string, string>> = {
  'admin-tokens.ts, list: Seq Scan on tokens': fewTokens,
  'admin-tokens.ts, listToConfirm: Seq Scan on tokens': fewTokens,
  'attention.ts, get: Seq Scan on tokens': fewTokens,
  'attention.ts, get, of live payments: Seq Scan on tokens': fewTokens,
  'admin-tokens.ts, get: Seq Scan on tokens': fewTokens,
  'admin-tokens.ts, revoke: Seq Scan on tokens': fewTokens,
  'console.ts, findToken: Seq Scan on tokens': fewTokens,
  'retention.ts, deletePayments: Seq Scan on late_payments':
    'late payments are rare, and a purge reads the unresolved ones once',
  'reconciliation.ts, listLate: Seq Scan on late_payments': 'late payments are rare',
};

const of = (methods: object, calls: Statements['calls']): Statements => ({ methods, calls });
export const idOf = (n: number) => `PAY_${String(n).padStart(26, '0')}`;
const idsFrom = (first: number, many: number) =>
  Array.from({ length: many }, (_, index) => idOf(first + index));

// Like 1,000 in 5,000,000 rows. With an admin's real batches, reading the whole table would be cheapest here.
const batch = 10;

/** Calls every method of `postgres/` that queries a growing table, by file. The data is that of fill.ts. */
export const everyStatement = (
  db: Sql,
  { application, count }: { application: string; count: number },
): Record<string, Statements> => {
  const now = new Date();
  const owner = { application, test: true };
  const route = 'POST /api/v1/payments';
  const record = {
    route,
    key: 'new',
    fingerprint: Buffer.alloc(32),
    status: 201,
    location: '',
    body: '',
    keptFor: '1 day',
  };
  const paymentWith = (id: string) => aPayment({ id, application });
  const ended = { ...paymentWith(idOf(2)), status: 'expired' as const };
  const attempt = { number: 1, round: 1, scheduledAt: now, startedAt: now };
  const result = {
    durationMs: 1,
    responseStatus: 200,
    errorClass: null,
    error: null,
    responseBody: null,
    responseTruncated: false,
  };
  const exchange: GatewayExchange = {
    at: now,
    operation: 'inquire',
    result: 'waiting',
    code: null,
    message: null,
    durationMs: 5,
  };
  const anyEvent = { ...owner, ...everyEvent };
  const wholePage = { after: null, limit: 51 };
  const filteredList = {
    application,
    test: true,
    from: new Date(now.getTime() - count * 900),
    to: now,
    after: { at: now, id: '00000000-0000-0000-0000-000000000000' },
    limit: 51,
  };

  const replay = {
    ...everyDelivery,
    delivery: 'delivered',
    to: now,
    matched: 1,
    perSecond: 10,
  } as const;
  const ofOwner = { application, test: true, from: new Date(0) };
  const running = {
    id: 'RPL_1',
    trigger: 'admin',
    status: 'running',
    stopRequested: false,
    begun: 0,
    refused: 0,
    createdAt: now,
    endedAt: null,
    isWithoutUrl: false,
  } as const;

  const replays = createReplays(db);
  const deliveries = createDeliveries(db);
  const events = createEvents(db);
  const gatewayFigures = createGatewayFigures(db);
  const exchanges = createGatewayExchanges(db);
  const idempotencyKeys = createIdempotencyKeys(db);
  const payers = createPayers(db);
  const latePayments = createLatePayments(db);
  const adminPayments = createAdminPayments(db);
  const adminEvents = createAdminEvents(db);
  const consoleQueries = createConsoleQueries(db);
  const payments = createPayments(db);
  const recentPayments = createRecentPayments(db);
  const reconciliation = createReconciliationQueries(db);
  const retention = createRetention(db);
  const sandboxPayments = createSandboxPayments(db);
  const orders = createOrders(db);
  const paymentOutcomes = createPaymentOutcomes(db);
  const sweeper = createSweeperQueries(db);
  const adminTokens = createAdminTokens(db);
  const tokens = createTokens(db);
  const outbox = createWorkflowOutbox(db);
  const backlogMetrics = createBacklogMetrics(db);
  return {
    'payments.ts': of(payments, {
      insert: () => payments.insert(paymentWith('PAY_NEW'), record),
      'insert, of an order that is paid once': () =>
        payments.insert(paymentWith('PAY_NEW'), record, { isPaidOnce: true }),
      get: () => payments.get(idOf(7), owner),
      list: () =>
        payments.list(
          { ...owner, orderId: null, status: null, from: null, to: null },
          { after: null, limit: 21, offset: 9_980 },
        ),
      getForPayer: () => payments.getForPayer(idOf(7)),
      getByTrackingCode: () => payments.getByTrackingCode('sandbox', 'T7'),
      getByReference: () => payments.getByReference('sandbox', 'R7'),
      sendToGateway: () => payments.sendToGateway(idOf(7), now),
      claimLateSearch: () => payments.claimLateSearch(idOf(count)),
      releaseLateSearch: () => payments.releaseLateSearch(idOf(count)),
      recordLostCheckout: () => payments.recordLostCheckout(idOf(7), now),
      recordCancelReason: () => payments.recordCancelReason(idOf(7), 'Out of stock'),
    }),
    'recent-payments.ts': of(recentPayments, {
      count: () => recentPayments.count([application]),
      countOver: () => recentPayments.countOver(application, 10),
      countOpen: () => recentPayments.countOpen(application),
    }),
    ...accountStatements(db, { owner, idOf, now }),
    'tokens.ts': of(tokens, {
      issue: () => tokens.issue({ application, mode: 'test', name: 'new' }),
      authenticate: () => tokens.authenticate('svc_test_x'),
    }),
    'admin-tokens.ts': of(adminTokens, {
      list: () => adminTokens.list(application, 100),
      listToConfirm: () => adminTokens.listToConfirm('live', 50),
      get: () => adminTokens.get(application, '0123456789abcdef'),
      revoke: () => adminTokens.revoke(application, '0123456789abcdef'),
    }),
    'orders.ts': of(orders, {
      claim: () => orders.claim(idOf(count)),
      listOpen: () => orders.listOpen(paymentWith(idOf(7))),
      listOthers: () => orders.listOthers(paymentWith(idOf(7))),
      release: () => orders.release(idOf(7)),
    }),
    'payment-outcomes.ts': of(paymentOutcomes, {
      get: () => paymentOutcomes.get(idOf(7)),
      recordOpened: () =>
        paymentOutcomes.recordOpened(idOf(7), {
          reference: 'x',
          redirect: { method: 'GET', url: '' },
          exchanges: [exchange],
        }),
      recordInquiry: () =>
        paymentOutcomes.recordInquiry(idOf(7), {
          becomesProcessing: true,
          answer: 'waiting',
          isTwoStep: false,
          now,
          exchanges: [exchange],
        }),
      'recordInquiry, while it is verified': () =>
        paymentOutcomes.recordInquiry(idOf(7), {
          becomesProcessing: true,
          answer: 'processing',
          isTwoStep: true,
          now,
          exchanges: [exchange],
        }),
      flagDuplicates: () =>
        paymentOutcomes.flagDuplicates({
          ...paymentWith(idOf(7)),
          trackingCode: 'T-7',
          isPaidOnce: true,
        }),
      finalize: () => paymentOutcomes.finalize(ended, createEvent(ended, now), noAnswer),
      'finalize, as lost to another payment': () => {
        const lost = { ...ended, status: 'failed', failureCode: 'order_already_paid' } as const;
        return paymentOutcomes.finalize(
          { ...lost, paidAt: null },
          createEvent(lost, now),
          noAnswer,
        );
      },
    }),
    'deliveries.ts': of(deliveries, {
      get: () => deliveries.get(eventId(idOf(count))),
      postpone: () => deliveries.postpone(eventId(idOf(count)), now),
      exists: () => deliveries.exists(eventId(idOf(count))),
      replay: () =>
        deliveries.replay(eventId(idOf(count)), {
          from: ['pending', 'exhausted', 'delivered'],
          trigger: 'admin',
          now,
        }),
      beginAttempt: () => deliveries.beginAttempt(eventId(idOf(count)), attempt),
      completeAttempt: () =>
        deliveries.completeAttempt(eventId(idOf(count)), 1, {
          result,
          consequence: { status: 'delivered' },
          completedAt: now,
        }),
    }),
    'events.ts': of(events, {
      get: () => events.get(eventId(idOf(count)), owner),
      list: () => events.list(anyEvent, { after: null, limit: 21 }),
      'list, of a payment': () =>
        events.list(
          { ...anyEvent, paymentId: idOf(count), order: 'asc' },
          { after: null, limit: 21 },
        ),
      'list, with bodies': () =>
        events.list({ ...anyEvent, order: 'asc', include: 'payload' }, { after: null, limit: 101 }),
    }),
    'gateway-exchanges.ts': of(exchanges, {
      insert: () => exchanges.insert(idOf(7), [exchange]),
      replaceRepeated: () =>
        exchanges.replaceRepeated(idsFrom(1, 10).map((paymentId) => ({ ...exchange, paymentId }))),
      list: () => exchanges.list(idOf(7)),
      'list, of a refund': () => exchanges.list(idOf(7), 'REFUND_7'),
      'insert, of a refund': () => exchanges.insert(idOf(7), [exchange], 'REFUND_7'),
    }),
    'gateway-figures.ts': of(gatewayFigures, {
      calls: () => gatewayFigures.calls('sandbox', new Date(now.getTime() - 1_000)),
      silentSince: () => gatewayFigures.silentSince('sandbox'),
      lastError: () => gatewayFigures.lastError('sandbox'),
    }),
    'late-payments.ts': of(latePayments, {
      get: () => latePayments.get(idOf(count)),
      keepTrackingCode: () => latePayments.keepTrackingCode(idOf(count - 3), 'T-1'),
      record: () => latePayments.record(idOf(count - 3), { result: 'returns', facts: {}, now }),
      beginReversal: () =>
        latePayments.beginReversal(idOf(count), { maxReversals: 3, lastBefore: now, now }),
    }),
    'idempotency-keys.ts': of(idempotencyKeys, {
      get: () => idempotencyKeys.get(owner, route, 'key-7'),
      deleteExpired: () => idempotencyKeys.deleteExpired(10),
    }),
    'payers.ts': of(payers, { eraseOld: () => payers.eraseOld(10) }),
    'sandbox-payments.ts': of(sandboxPayments, {
      open: () =>
        sandboxPayments.open({ paymentId: idOf(7), amount: 1, currency: 'EUR', returnUrl: '' }),
      get: () => sandboxPayments.get('R7'),
      getByPayment: () => sandboxPayments.getByPayment(idOf(7)),
      choose: () => sandboxPayments.choose(idOf(7), { state: 'paid', refusal: null }),
      verify: () => sandboxPayments.verify('R7'),
      getDispute: () => sandboxPayments.getDispute('R7'),
      expire: () => sandboxPayments.expire('R8'),
    }),
    ...refundStatements(db, { owner, idOf, now }),
    'sweeper.ts': of(sweeper, {
      listGatewaysInUse: () => sweeper.listGatewaysInUse(),
      claimForInquiry: () => sweeper.claimForInquiry('sandbox', 10),
      markInquired: () => sweeper.markInquired([idOf(7)]),
      releaseClaims: () => sweeper.releaseClaims(['PAY_1', 'PAY_2']),
      listEndedUnpaid: () => sweeper.listEndedUnpaid('sandbox', ['R1', 'R2']),
      claimStalledPayments: () => sweeper.claimStalledPayments(10),
      listPostponedApplications: () => sweeper.listPostponedApplications(),
      listPostponed: () => sweeper.listPostponed(application, 10),
      countPostponed: () => sweeper.countPostponed([eventId(idOf(1)), eventId(idOf(2))]),
      countOverdueDeliveries: () => sweeper.countOverdueDeliveries(100),
      claimOverdueDeliveries: () => sweeper.claimOverdueDeliveries(10),
      claimOverdueRefunds: () => sweeper.claimOverdueRefunds(10),
    }),
    'workflow-outbox.ts': of(outbox, {
      delete: () => outbox.delete([idOf(1), idOf(2)]),
      count: () => outbox.count(10_001),
      list: () => outbox.list({ limit: 100, age: '5 seconds' }),
    }),
    'backlog-metrics.ts': {
      methods: { measure: backlogMetrics.measure },
      calls: { measure: () => backlogMetrics.measure() },
    },

    // The queries of the admin commands.
    'admin-payments.ts': of(adminPayments, {
      list: () => adminPayments.list(everyPayment, wholePage),
      'list, of one': () => adminPayments.list({ ...everyPayment, id: idOf(7) }, wholePage),
      'list, by order': () =>
        adminPayments.list({ ...everyPayment, orderId: 'order-7' }, wholePage),
      'list, with every filter of the index': () =>
        adminPayments.list({ ...everyPayment, ...filteredList, status: 'failed' }, filteredList),
      'list, searched': () =>
        adminPayments.list(
          {
            ...everyPayment,
            ...filteredList,
            gateway: 'sandbox',
            failureCode: 'card_declined',
            orderPrefix: 'order-',
            currency: 'EUR',
            amountFrom: 1,
            amountTo: 10_000,
          },
          filteredList,
        ),
      get: () => adminPayments.get(idOf(7)),
      applicationOf: () => adminPayments.applicationOf(idOf(7)),
    }),
    'admin-events.ts': {
      methods: { ...adminEvents, listAttempts },
      calls: {
        list: () => adminEvents.list({ ...everyDelivery, delivery: 'exhausted' }, wholePage),
        'list, of every status': () => adminEvents.list(everyDelivery, wholePage),
        'list, of one error': () =>
          adminEvents.list(
            { ...everyDelivery, delivery: 'exhausted', errorClass: 'tls' },
            wholePage,
          ),
        'list, with every filter': () =>
          adminEvents.list(
            {
              ...filteredList,
              delivery: 'delivered',
              kind: 'payment.paid',
              errorClass: 'timeout',
              eventIds: null,
            },
            filteredList,
          ),
        'list, undelivered': () =>
          adminEvents.list({ ...everyDelivery, delivery: 'undelivered' }, wholePage),
        listOfPayment: () => adminEvents.listOfPayment(idOf(count)),
        find: () => adminEvents.find(eventId(idOf(count))),
        get: () => adminEvents.get(eventId(idOf(count))),
        listAttempts: () => listAttempts(db, eventId(idOf(count))),
      },
    },
    'console.ts': of(consoleQueries, {
      countByHour: () => consoleQueries.countByHour(false, new Date(now.getTime() - 60_000)),
      countByGateway: () => consoleQueries.countByGateway(true, new Date(now.getTime() - 60_000)),
      oldestOpen: () => consoleQueries.oldestOpen(false),
      waiting: () => consoleQueries.waiting(true),
      findMode: () =>
        Promise.all([
          consoleQueries.findMode('payment', idOf(7)),
          consoleQueries.findMode('refund', 'REFUND_1'),
          consoleQueries.findMode('event', eventId(idOf(count))),
          consoleQueries.findMode('replay', 'RPL_1'),
          consoleQueries.findMode('difference', '1'),
        ]),
      findByEvent: () => consoleQueries.findByEvent(eventId(idOf(count))),
      findByText: () =>
        Promise.all([
          consoleQueries.findByText('order-7', { applications: null, test: false }, 20),
          consoleQueries.findByText('order-7', { applications: ['shop'], test: true }, 20),
        ]),
      findToken: () => consoleQueries.findToken('svc_test_0000'),
    }),
    'replays.ts': of(replays, {
      insert: () => replays.insert({ ...replay, ...ofOwner, id: 'RPL_1' }),
      insertOfOperator: () => replays.insertOfOperator({ ...replay, id: 'RPL_2' }),
      getRunningId: () => replays.getRunningId({ application, test: true, trigger: 'application' }),
      'getRunningId, of an operator': () =>
        replays.getRunningId({ application: null, test: null, trigger: 'admin' }),
      get: () => replays.get('RPL_1', { application, test: true }),
      find: () => replays.find('RPL_1'),
      list: () => replays.list(50, false),
      listRunning: () => replays.listRunning(5, true),
      countMatching: () => replays.countMatching(replay, 10),
      'countMatching, of one error': () =>
        replays.countMatching({ ...replay, delivery: 'exhausted', errorClass: 'tls' }, 10),
      'countMatching, of the selected': () =>
        replays.countMatching({ ...replay, eventIds: [eventId(idOf(count))] }, 10),
      listNext: () => replays.listNext({ ...replay, ...running, after: undefined }, 10),
      'listNext, of one application': () =>
        replays.listNext(
          { ...replay, ...running, application, after: { at: now, id: eventId('x') } },
          10,
        ),
      requestStop: () => replays.requestStop('RPL_1'),
      getForWorker: () => replays.getForWorker('RPL_1'),
      listResults: () => replays.listResults('RPL_1', { after: 0, limit: 100 }),
      end: () => replays.end('RPL_1', 'done'),
    }),
    ...auditStatements(db, { idOf }),
    ...healthStatements(db, { application, now }),
    ...searchStatements(db, { application }),
    'reconciliation.ts': of(reconciliation, {
      listOpen: () => reconciliation.listOpen({ after: undefined, limit: 200 }),
      listUndelivered: () => reconciliation.listUndelivered({ after: undefined, limit: 200 }),
      filterInProgress: () => reconciliation.filterInProgress(idsFrom(count / 2, 200)),
      listLate: () => reconciliation.listLate({ after: undefined, limit: 200 }),
      filterLate: () => reconciliation.filterLate(idsFrom(count / 2, 200)),
      listUnfinished: () => reconciliation.listUnfinished(null, batch),
      listRefunds: () => reconciliation.listRefunds({ after: undefined, limit: 200 }),
      filterRefunding: () => reconciliation.filterRefunding([idOf(7)]),
      listWrongTotals: () => reconciliation.listWrongTotals(null, batch),
      filterExisting: () => reconciliation.filterExisting(idsFrom(count / 2, 200)),
    }),
    'retention.ts': of(retention, {
      deleteResponseBodies: () => retention.deleteResponseBodies(new Date(), batch),
      findRefusedLogin: () => retention.findRefusedLogin(),
      forgetReasons: () => retention.forgetReasons(new Date(0), batch),
      deletePayments: () => retention.deletePayments(new Date(), batch),
      recordPurge: retention.recordPurge,
    }),
  };
};
