import { disputeId } from '../../../contract/ids.ts';
import {
  createAdminDisputes,
  everyDispute as everyAdminDispute,
} from '../../../postgres/admin/disputes.ts';
import { createApprovals } from '../../../postgres/admin/approvals.ts';
import { createAdminRefunds } from '../../../postgres/admin/refunds.ts';
import { createDisputes } from '../../../postgres/payments/disputes.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { everyRefund } from '../../../postgres/refunds/filter.ts';
import { createRefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../../postgres/refunds/refunds.ts';
import { createSandboxRefunds } from '../../../postgres/sandbox/refunds.ts';
import { everyDispute } from '../data/filters.ts';
import { aRefund, refundEnd } from '../data/refund-cases.ts';
import { type Filled, type Statements, statementsOf } from './statements.ts';

const refundOf = (n: number) => `REFUND_${String(n).padStart(26, '0')}`;

/** Calls every method about refunds, by file. */
export const refundStatements = (
  db: Sql,
  { owner, idOf, now }: Filled,
): Record<string, Statements> => {
  const ownOnes = { ...everyRefund, ...owner };
  const page = { after: null, limit: 21 };
  const nextPage = { after: { at: now, id: refundOf(7) }, limit: 21 };
  const dispute = {
    gatewayReference: 'dp_1',
    stage: 'chargeback',
    status: 'needs_response',
    amount: 1,
    currency: 'EUR',
    reason: 'fraudulent',
    networkReason: null,
    respondBy: now,
    openedAt: now,
  } as const;
  return {
    'payments/disputes.ts': statementsOf(createDisputes(db), {
      requestLook: [idOf(7)],
      claimLooks: [50],
      recordLook: [{ paymentId: idOf(7), number: 1 }, [dispute], now],
      get: [disputeId('stripe', 'dp_1'), owner],
      list: [{ ...owner, ...everyDispute }, page],
      'list, of a payment': [{ ...owner, ...everyDispute, paymentId: idOf(7) }, page],
    }),
    'admin/disputes.ts': statementsOf(createAdminDisputes(db), {
      list: [{ ...everyAdminDispute, test: owner.test }, page],
      'list, of a gateway': [{ ...everyAdminDispute, test: owner.test, gateway: 'sandbox' }, page],
      'list, of a payment': [{ ...everyAdminDispute, paymentId: idOf(7) }, page],
      'list, of both modes': [everyAdminDispute, nextPage],
      listToAnswer: [owner.test, 50],
      listOfPayments: [[idOf(7), idOf(8)], 50],
      get: [disputeId('stripe', 'dp_1')],
    }),
    'sandbox/refunds.ts': statementsOf(createSandboxRefunds(db), {
      list: ['R7'],
      listBook: [{ from: new Date(), to: new Date() }, { at: new Date(), id: '' }, 10],
      tell: ['R7', { id: refundOf(7), amount: 1 }],
      makeAtDashboard: ['R7', 1],
    }),
    'refunds/refunds.ts': statementsOf(createRefunds(db), {
      insert: [aRefund({ id: idOf(7), ...owner }, { amount: 1 })],
      'insert, of an admin': [
        aRefund({ id: idOf(7), ...owner }, { amount: 1, requestedBy: 'admin', fingerprint: null }),
      ],
      getPayment: [idOf(7), owner],
      'getPayment, of anybody': [idOf(7)],
      getPaymentId: ['REFUND_1'],
      listToRecheck: [idOf(7)],
      getLimit: [owner, 'EUR'],
      get: [refundOf(7), owner],
      list: [ownOnes, page],
      'list, of a payment': [{ ...ownOnes, paymentId: idOf(7) }, page],
      'list, of an order and a status': [
        { ...ownOnes, orderId: 'order-7', status: 'pending' },
        nextPage,
      ],
      requestCancel: [refundOf(7)],
    }),
    'admin/approvals.ts': statementsOf(createApprovals(db, 'link'), {
      list: [],
      get: ['EUR'],
      set: ['EUR', 1],
      'set, none': ['EUR', null],
    }),
    'admin/refunds.ts': statementsOf(createAdminRefunds(db), {
      list: [{ ...everyRefund, application: owner.application }, page],
      'list, of a payment': [{ ...everyRefund, paymentId: idOf(7) }, page],
      'list, by hand': [{ ...everyRefund, status: 'pending', stage: 'by_hand' }, page],
      settle: [refundOf(7), 'failed'],
      'list, the next page': [everyRefund, nextPage],
      get: [refundOf(7)],
      cancel: [refundOf(7), 'any'],
      cancelOf: [owner.application, 100],
      sumReserved: [owner.application, 'any'],
      resume: [owner.application],
      release: [refundOf(7)],
      overRule: [idOf(7), 5, 'ada'],
      setLimit: [owner.application, 'EUR', 1],
      'setLimit, none': [owner.application, 'EUR', null],
      listLimits: [owner.application],
    }),
    'refunds/outcomes.ts': statementsOf(createRefundOutcomes(db), {
      get: [refundOf(7)],
      announce: [{ id: refundOf(7), paymentId: idOf(7) }, now],
      listRecorded: [idOf(7)],
      getStanding: [{ id: refundOf(7), paymentId: idOf(7) }],
      markTold: [refundOf(7), { timesTold: 0, now }],
      recordProgress: [
        { id: refundOf(7), paymentId: idOf(7) },
        { stage: 'sent', facts: undefined, dueAt: now, now, exchanges: [] },
      ],
      finishRefund: [{ id: refundOf(7), paymentId: idOf(7) }, refundEnd(), { now, exchanges: [] }],
      recordMadeAtGateway: [
        idOf(8),
        { id: refundOf(8), gatewayReference: 're_8', amount: 1, bankReference: null },
        { waiting: undefined, now },
      ],
    }),
  };
};
