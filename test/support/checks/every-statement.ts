import { eventId } from '../../../contract/ids.ts';
import { createEvent } from '../../../contract/event.ts';
import type { GatewayExchange } from '../../../contract/gateway-exchange.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createAttentionQueries } from '../../../postgres/admin/attention.ts';
import { createAuditLog } from '../../../postgres/audit-log.ts';
import { createDeliveries } from '../../../postgres/webhooks/deliveries.ts';
import { createEvents } from '../../../postgres/webhooks/events.ts';
import { createProofs } from '../../../postgres/gateways/proofs.ts';
import { createGatewayFigures } from '../../../postgres/gateways/figures.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createHealthQueries } from '../../../postgres/console/health.ts';
import { createIdempotencyKeys } from '../../../postgres/payments/idempotency-keys.ts';
import { createLatePayments } from '../../../postgres/payments/late-payments.ts';
import { createConsoleQueries } from '../../../postgres/console/queries.ts';
import { createAdminEvents, listAttempts } from '../../../postgres/admin/events.ts';
import { createAdminOrders } from '../../../postgres/admin/orders.ts';
import { createAdminPayments, everyPayment } from '../../../postgres/admin/payments.ts';
import { createPayers } from '../../../postgres/payments/payers.ts';
import { createPayments } from '../../../postgres/payments/payments.ts';
import { createRecentPayments } from '../../../postgres/admin/recent-payments.ts';
import { createReconciliationQueries } from '../../../postgres/admin/reconciliation.ts';
import { everyDelivery } from '../../../postgres/webhooks/delivery-filter.ts';
import { createReceivers } from '../../../postgres/webhooks/receivers.ts';
import { createReplays } from '../../../postgres/webhooks/replays.ts';
import { createRetention } from '../../../postgres/admin/retention.ts';
import { createSandboxPayments } from '../../../postgres/sandbox/payments.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { createSweeperQueries } from '../../../postgres/payments/sweeper.ts';
import { createAdminTokens } from '../../../postgres/admin/tokens.ts';
import { createTokens } from '../../../postgres/applications/tokens.ts';
import { createWorkflowOutbox } from '../../../postgres/payments/workflow-outbox.ts';
import { createBacklogMetrics } from '../../../postgres/metrics/backlog.ts';
import { anAuditSlice, everyEvent } from '../data/filters.ts';
import { aPayment } from '../data/payments.ts';
import { noAnswer } from '../data/records.ts';
import { accountStatements } from './account-statements.ts';
import { linkStatements } from './link-statements.ts';
import { refundStatements } from './refund-statements.ts';
import { searchStatements } from './search-statements.ts';
import { type Statements, statementsOf } from './statements.ts';

/** Files of `postgres/` whose tables grow only by hand, or lose their rows soon. */
export const smallTableFiles = [
  'accounts/days.ts',
  ...['admin/confirmations.ts', 'applications/applications.ts'],
  ...['console/logins.ts', 'console/passkeys.ts', 'console/people.ts', 'console/views.ts'],
  ...['gateways/gateways.ts', 'gateways/renewals.ts'],
  ...['notices/addresses.ts', 'notices/queue.ts', 'notices/notices.ts'],
  'refunds/rules.ts',
  'applications/refused-requests.ts',
  'metrics/upkeep.ts',
  'secrets/webhook-secrets.ts',
  'webhooks/webhook-tests.ts',
];

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
  const filled = { owner, idOf, now };
  const route = 'POST /api/v1/payments';
  const record = {
    ...{ route, key: 'new', fingerprint: Buffer.alloc(32), keptFor: '1 day' },
    ...{ status: 201, location: '', body: '' },
  };
  const paymentWith = (id: string) => aPayment({ id, application });
  const ended = { ...paymentWith(idOf(2)), status: 'expired' as const };
  const lost = { ...ended, status: 'failed', failureCode: 'order_already_paid' } as const;
  const attempt = { number: 1, round: 1, scheduledAt: now, startedAt: now };
  const result = {
    ...{ durationMs: 1, errorClass: null, error: null },
    ...{ responseStatus: 200, responseBody: null, responseTruncated: false },
  };
  const exchange: GatewayExchange = {
    ...({ operation: 'inquire', result: 'waiting' } as const),
    ...{ at: now, code: null, message: null, durationMs: 5 },
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
    ...({ delivery: 'delivered', to: now, matched: 1, perSecond: 10 } as const),
  };
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

  return {
    'payments/payments.ts': statementsOf(createPayments(db), {
      insert: [paymentWith('PAY_NEW'), record],
      'insert, of an order that is paid once': [
        paymentWith('PAY_NEW'),
        record,
        { isPaidOnce: true },
      ],
      get: [idOf(7), owner],
      list: [
        { ...owner, orderId: null, status: null, from: null, to: null },
        { after: null, limit: 21, offset: 9_980 },
      ],
      getForPayer: [idOf(7)],
      getOutcomeForPayer: [idOf(7)],
      getForReport: [idOf(7)],
      getByTrackingCode: ['sandbox', 'T7'],
      getByReference: ['sandbox', 'R7'],
      sendToGateway: [[idOf(7)], now],
      claimLateSearch: [idOf(count)],
      unclaimLateSearch: [idOf(count)],
      recordLostCheckout: [idOf(7), now],
      recordReturnProof: [idOf(7), 'R7', 'a proof'],
      recordCancelReason: [idOf(7), 'Out of stock'],
    }),
    'admin/recent-payments.ts': statementsOf(createRecentPayments(db), {
      count: [[application]],
      countOver: [application, 10],
      countOpen: [application],
    }),
    ...accountStatements(db, filled),
    'applications/tokens.ts': statementsOf(createTokens(db), {
      issue: [{ application, mode: 'test', name: 'new' }],
      authenticate: ['svc_test_x'],
    }),
    'admin/tokens.ts': statementsOf(createAdminTokens(db), {
      list: [application, 100],
      listToConfirm: ['live', 50],
      get: [application, '0123456789abcdef'],
      endIn: [application, '0123456789abcdef', 7],
      revoke: [application, '0123456789abcdef'],
    }),
    'orders.ts': statementsOf(createOrders(db), {
      claim: [idOf(count)],
      listOpen: [paymentWith(idOf(7))],
      release: [idOf(7)],
    }),
    'payments/outcomes.ts': statementsOf(createPaymentOutcomes(db), {
      get: [idOf(7)],
      reportKey: [idOf(7), 'k'.repeat(32)],
      recordOpened: [
        idOf(7),
        {
          reference: 'x',
          redirect: { method: 'GET', url: '' },
          exchanges: [exchange],
        },
      ],
      recordInquiry: [
        idOf(7),
        {
          becomesProcessing: true,
          answer: 'waiting',
          isTwoStep: false,
          now,
          exchanges: [exchange],
        },
      ],
      'recordInquiry, while it is verified': [
        idOf(7),
        {
          becomesProcessing: true,
          answer: 'processing',
          isTwoStep: true,
          now,
          exchanges: [exchange],
        },
      ],
      flagDuplicates: [
        {
          ...paymentWith(idOf(7)),
          trackingCode: 'T-7',
          isPaidOnce: true,
        },
      ],
      finalize: [ended, createEvent(ended, now), noAnswer],
      'finalize, as lost to another payment': [
        { ...lost, paidAt: null },
        createEvent(lost, now),
        noAnswer,
      ],
    }),
    'webhooks/deliveries.ts': statementsOf(createDeliveries(db), {
      get: [eventId(idOf(count))],
      postpone: [eventId(idOf(count)), now],
      exists: [eventId(idOf(count))],
      replay: [
        eventId(idOf(count)),
        {
          from: ['pending', 'exhausted', 'delivered'],
          trigger: 'admin',
          now,
        },
      ],
      beginAttempt: [eventId(idOf(count)), attempt],
      completeAttempt: [
        eventId(idOf(count)),
        1,
        {
          result,
          consequence: { status: 'delivered' },
          completedAt: now,
        },
      ],
    }),
    'webhooks/events.ts': statementsOf(createEvents(db), {
      get: [eventId(idOf(count)), owner],
      list: [anyEvent, { after: null, limit: 21 }],
      'list, of a payment': [
        { ...anyEvent, paymentId: idOf(count), order: 'asc' },
        { after: null, limit: 21 },
      ],
      'list, with bodies': [
        { ...anyEvent, order: 'asc', include: 'payload' },
        { after: null, limit: 101 },
      ],
    }),
    'gateways/exchanges.ts': statementsOf(createGatewayExchanges(db), {
      insert: [idOf(7), [exchange]],
      replaceRepeated: [idsFrom(1, 10).map((paymentId) => ({ ...exchange, paymentId }))],
      list: [idOf(7)],
      'list, of a refund': [idOf(7), 'REFUND_7'],
      'insert, of a refund': [idOf(7), [exchange], 'REFUND_7'],
    }),
    'gateways/figures.ts': statementsOf(createGatewayFigures(db), {
      calls: ['sandbox', new Date(now.getTime() - 1_000)],
      silentSince: ['sandbox'],
      lastError: ['sandbox'],
    }),
    'gateways/proofs.ts': statementsOf(createProofs(db), {
      claim: ['sandbox', idOf(7), 'new'],
      'claim, of another': ['sandbox', idOf(7), `PROOF_${idOf(8)}`],
      listClaimed: ['sandbox', idOf(8)],
      nextOrderNumber: [],
    }),
    'payments/late-payments.ts': statementsOf(createLatePayments(db), {
      get: [idOf(count)],
      keepTrackingCode: [idOf(count - 3), 'T-1'],
      record: [idOf(count - 3), { result: 'returns', facts: {}, now }],
      beginReversal: [idOf(count), { maxReversals: 3, lastBefore: now, now }],
    }),
    'payments/idempotency-keys.ts': statementsOf(createIdempotencyKeys(db), {
      get: [owner, route, 'key-7'],
      deleteExpired: [10],
    }),
    'payments/payers.ts': statementsOf(createPayers(db), { eraseOld: [10] }),
    'sandbox/payments.ts': statementsOf(createSandboxPayments(db), {
      open: [{ paymentId: idOf(7), amount: 1, currency: 'EUR', returnUrl: '' }],
      get: ['R7'],
      getByPayment: [idOf(7)],
      choose: [idOf(7), { state: 'paid', refusal: null }],
      verify: ['R7'],
      getDispute: ['R7'],
      expire: ['R8'],
    }),
    ...refundStatements(db, filled),
    ...linkStatements(db, { ...filled, count }),
    'payments/sweeper.ts': statementsOf(createSweeperQueries(db), {
      listGatewaysInUse: [],
      claimForInquiry: ['sandbox', 10],
      markInquired: [[idOf(7)]],
      unclaim: [['PAY_1', 'PAY_2']],
      listEndedUnpaid: ['sandbox', ['R1', 'R2']],
      claimStalledPayments: [10],
      listPostponedApplications: [],
      listPostponed: [application, 10],
      countPostponed: [[eventId(idOf(1)), eventId(idOf(2))]],
      countOverdueDeliveries: [100],
      claimOverdueDeliveries: [10],
      claimOverdueRefunds: [10],
    }),
    'payments/workflow-outbox.ts': statementsOf(createWorkflowOutbox(db), {
      delete: [[idOf(1), idOf(2)]],
      count: [10_001],
      list: [{ limit: 100, age: '5 seconds' }],
    }),
    'metrics/backlog.ts': statementsOf(
      { measure: createBacklogMetrics(db).measure },
      { measure: [] },
    ),

    // The queries of the admin commands.
    'admin/payments.ts': statementsOf(createAdminPayments(db), {
      list: [everyPayment, wholePage],
      'list, of one': [{ ...everyPayment, id: idOf(7) }, wholePage],
      'list, by order': [{ ...everyPayment, orderId: 'order-7' }, wholePage],
      'list, with every filter of the index': [
        { ...everyPayment, ...filteredList, status: 'failed' },
        filteredList,
      ],
      'list, searched': [
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
      ],
      get: [idOf(7)],
      applicationOf: [idOf(7)],
    }),
    'admin/orders.ts': statementsOf(createAdminOrders(db), {
      list: [{ ...owner, orderId: 'order-7' }, 101],
      listPaidTwice: [true, 50],
      check: [{ ...owner, orderId: 'order-7' }],
    }),
    'admin/events.ts': statementsOf(
      { ...createAdminEvents(db), listAttempts },
      {
        list: [{ ...everyDelivery, delivery: 'exhausted' }, wholePage],
        'list, of every status': [everyDelivery, wholePage],
        'list, of one error': [
          { ...everyDelivery, delivery: 'exhausted', errorClass: 'tls' },
          wholePage,
        ],
        'list, with every filter': [
          {
            ...filteredList,
            delivery: 'delivered',
            kind: 'payment.paid',
            errorClass: 'timeout',
            eventIds: null,
          },
          filteredList,
        ],
        'list, undelivered': [{ ...everyDelivery, delivery: 'undelivered' }, wholePage],
        listOfPayment: [idOf(count)],
        find: [eventId(idOf(count))],
        get: [eventId(idOf(count))],
        listAttempts: [db, eventId(idOf(count))],
      },
    ),
    'console/queries.ts': statementsOf(createConsoleQueries(db), {
      countByHour: [false, new Date(now.getTime() - 60_000)],
      countByGateway: [true, new Date(now.getTime() - 60_000)],
      oldestOpen: [false],
      waiting: [true],
      findMode: ['payment', idOf(7)],
      'findMode, of a refund': ['refund', 'REFUND_1'],
      'findMode, of an event': ['event', eventId(idOf(count))],
      'findMode, of a replay': ['replay', 'RPL_1'],
      'findMode, of a difference': ['difference', '1'],
      findByEvent: [eventId(idOf(count))],
      findByText: ['order-7', { applications: null, test: false }, 20],
      'findByText, of one application': ['order-7', { applications: ['shop'], test: true }, 20],
      findToken: ['svc_test_0000'],
    }),
    'webhooks/replays.ts': statementsOf(createReplays(db), {
      insert: [{ ...replay, ...ofOwner, id: 'RPL_1' }],
      insertOfOperator: [{ ...replay, id: 'RPL_2' }],
      getRunningId: [{ application, test: true, trigger: 'application' }],
      'getRunningId, of an operator': [{ application: null, test: null, trigger: 'admin' }],
      get: ['RPL_1', { application, test: true }],
      find: ['RPL_1'],
      list: [50, false],
      listRunning: [5, true],
      countMatching: [replay, 10],
      'countMatching, of one error': [{ ...replay, delivery: 'exhausted', errorClass: 'tls' }, 10],
      'countMatching, of the selected': [{ ...replay, eventIds: [eventId(idOf(count))] }, 10],
      listNext: [{ ...replay, ...running, after: undefined }, 10],
      'listNext, of one application': [
        { ...replay, ...running, application, after: { at: now, id: eventId('x') } },
        10,
      ],
      requestStop: ['RPL_1'],
      getForWorker: ['RPL_1'],
      listResults: ['RPL_1', { after: 0, limit: 100 }],
      end: ['RPL_1', 'done'],
    }),
    'audit-log.ts': statementsOf(createAuditLog(db), {
      insert: [
        {
          ...({ actor: 'ada', action: 'payment.heal', via: 'cli' } as const),
          ...{ subject: `payment:${idOf(7)}`, before: null, after: null, reason: null },
        },
      ],
      insertDuplicate: ['payment.duplicate', idOf(7), {}],
      insertRefusedLogin: ['link'],
      verify: [],
      has: [{ id: 1, hash: '00' }],
      list: [{ subject: null, limit: 50 }],
      'list, of a payment': [{ subject: `payment:${idOf(7)}`, limit: 50 }],
      'list, of a person and a time, with a text': [anAuditSlice],
      searchedBackTo: [anAuditSlice],
      'searchedBackTo, of all': [{ subject: null, limit: 50 }],
    }),
    'webhooks/receivers.ts': statementsOf(createReceivers(db), {
      sweep: [now],
      get: [application, true],
    }),
    'console/health.ts': statementsOf(createHealthQueries(db), {
      receiver: [application, false, new Date(0)],
      failures: [false, { since: new Date(0), until: now }, 20],
    }),
    'admin/attention.ts': statementsOf(createAttentionQueries(db), {
      get: [true],
      'get, of live payments': [false],
      list: ['money', { test: true, gateway: null }, 50],
      'list, silent': ['silent', { test: true, gateway: 'sandbox' }, 50],
      'list, unopened': ['unopened', { test: true, gateway: null }, 50],
      opensNothing: [null],
      'list, orders': ['orders', { test: false, gateway: null }, 50],
      'list, overdue': ['overdue', { test: false, gateway: null }, 50],
    }),
    ...searchStatements(db, filled),
    'admin/reconciliation.ts': statementsOf(createReconciliationQueries(db), {
      listOpen: [{ after: undefined, limit: 200 }],
      listUndelivered: [{ after: undefined, limit: 200 }],
      filterInProgress: [idsFrom(count / 2, 200)],
      listLate: [{ after: undefined, limit: 200 }],
      filterLate: [idsFrom(count / 2, 200)],
      listUnfinished: [null, batch],
      listRefunds: [{ after: undefined, limit: 200 }],
      filterRefunding: [[idOf(7)]],
      listWrongTotals: [null, batch],
      filterExisting: [idsFrom(count / 2, 200)],
    }),
    'admin/retention.ts': statementsOf(createRetention(db), {
      deleteResponseBodies: [new Date(), batch],
      findRefusedLogin: [],
      forgetReasons: [new Date(0), batch],
      deletePayments: [new Date(), 1_000],
      deleteLinks: [new Date(), idOf(1).replace('PAY', 'LNK'), 1_000],
      recordPurge: [],
    }),
  };
};
