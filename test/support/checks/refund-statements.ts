import { disputeId } from '../../../contract/ids.ts';
import {
  createAdminDisputes,
  everyDispute as everyAdminDispute,
} from '../../../postgres/admin-disputes.ts';
import { createAdminRefunds } from '../../../postgres/admin-refunds.ts';
import { createDisputes } from '../../../postgres/disputes.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { everyRefund } from '../../../postgres/refund-filter.ts';
import { createRefundOutcomes } from '../../../postgres/refund-outcomes.ts';
import { createRefunds } from '../../../postgres/refunds.ts';
import { createSandboxRefunds } from '../../../postgres/sandbox-refunds.ts';
import { everyDispute } from '../data/filters.ts';
import { aRefund } from '../data/refund-cases.ts';
import type { Statements } from './statements.ts';

const refundOf = (n: number) => `REFUND_${String(n).padStart(26, '0')}`;

/** Calls every method about refunds, by file. */
export const refundStatements = (
  db: Sql,
  {
    owner,
    idOf,
    now,
  }: {
    owner: { application: string; test: boolean };
    idOf: (n: number) => string;
    now: Date;
  },
): Record<string, Statements> => {
  const ownOnes = { ...everyRefund, ...owner };
  const page = { after: null, limit: 21 };
  const nextPage = { after: { at: now, id: refundOf(7) }, limit: 21 };
  const sandboxRefunds = createSandboxRefunds(db);
  const adminRefunds = createAdminRefunds(db);
  const refunds = createRefunds(db);
  const disputes = createDisputes(db);
  const adminDisputes = createAdminDisputes(db);
  const refundOutcomes = createRefundOutcomes(db);
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
    'disputes.ts': {
      methods: disputes,
      calls: {
        requestLook: () => disputes.requestLook(idOf(7)),
        claimLooks: () => disputes.claimLooks(50),
        recordLook: () => disputes.recordLook({ id: idOf(7), number: 1 }, [dispute], now),
        get: () => disputes.get(disputeId('stripe', 'dp_1'), owner),
        list: () => disputes.list({ ...owner, ...everyDispute }, page),
        'list, of a payment': () =>
          disputes.list({ ...owner, ...everyDispute, paymentId: idOf(7) }, page),
      },
    },
    'admin-disputes.ts': {
      methods: adminDisputes,
      calls: {
        list: () => adminDisputes.list({ ...everyAdminDispute, test: owner.test }, page),
        'list, of a gateway': () =>
          adminDisputes.list({ ...everyAdminDispute, test: owner.test, gateway: 'sandbox' }, page),
        'list, of a payment': () =>
          adminDisputes.list({ ...everyAdminDispute, paymentId: idOf(7) }, page),
        'list, of both modes': () => adminDisputes.list(everyAdminDispute, nextPage),
        listToAnswer: () => adminDisputes.listToAnswer(owner.test, 50),
        get: () => adminDisputes.get(disputeId('stripe', 'dp_1')),
      },
    },
    'sandbox-refunds.ts': {
      methods: sandboxRefunds,
      calls: {
        list: () => sandboxRefunds.list('R7'),
        listBook: () =>
          sandboxRefunds.listBook(
            { from: new Date(), to: new Date() },
            { at: new Date(), reference: '' },
            10,
          ),
        tell: () => sandboxRefunds.tell('R7', { id: refundOf(7), amount: 1 }),
        makeAtDashboard: () => sandboxRefunds.makeAtDashboard('R7', 1),
      },
    },
    'refunds.ts': {
      methods: refunds,
      calls: {
        insert: () => refunds.insert(aRefund({ id: idOf(7), ...owner }, { amount: 1 })),
        'insert, of an admin': () =>
          refunds.insert(
            aRefund(
              { id: idOf(7), ...owner },
              { amount: 1, requestedBy: 'admin', fingerprint: null },
            ),
          ),
        getPayment: () => refunds.getPayment(idOf(7), owner),
        'getPayment, of anybody': () => refunds.getPayment(idOf(7)),
        getPaymentId: () => refunds.getPaymentId('REFUND_1'),
        getLimit: () => refunds.getLimit(owner, 'EUR'),
        get: () => refunds.get(refundOf(7), owner),
        list: () => refunds.list(ownOnes, page),
        'list, of a payment': () => refunds.list({ ...ownOnes, paymentId: idOf(7) }, page),
        'list, of an order and a status': () =>
          refunds.list({ ...ownOnes, orderId: 'order-7', status: 'pending' }, nextPage),
        requestCancel: () => refunds.requestCancel(refundOf(7)),
      },
    },
    'admin-refunds.ts': {
      methods: adminRefunds,
      calls: {
        list: () => adminRefunds.list({ ...everyRefund, application: owner.application }, page),
        'list, of a payment': () => adminRefunds.list({ ...everyRefund, paymentId: idOf(7) }, page),
        'list, by hand': () =>
          adminRefunds.list({ ...everyRefund, status: 'pending', stage: 'by_hand' }, page),
        settle: () => adminRefunds.settle(refundOf(7), 'failed'),
        'list, the next page': () => adminRefunds.list(everyRefund, nextPage),
        get: () => adminRefunds.get(refundOf(7)),
        cancel: () => adminRefunds.cancel(refundOf(7), 'any'),
        cancelOf: () => adminRefunds.cancelOf(owner.application, 100),
        sumReserved: () => adminRefunds.sumReserved(owner.application, 'any'),
        resume: () => adminRefunds.resume(owner.application),
        release: () => adminRefunds.release(refundOf(7)),
        overRule: () => adminRefunds.overRule(idOf(7), 5, 'ada'),
        approvalAbove: () => adminRefunds.approvalAbove('EUR'),
        setApprovalAbove: () => adminRefunds.setApprovalAbove('EUR', 1),
        'setApprovalAbove, none': () => adminRefunds.setApprovalAbove('EUR', null),
        setLimit: () => adminRefunds.setLimit(owner.application, 'EUR', 1),
        'setLimit, none': () => adminRefunds.setLimit(owner.application, 'EUR', null),
        listLimits: () => adminRefunds.listLimits(owner.application),
      },
    },
    'refund-outcomes.ts': {
      methods: refundOutcomes,
      calls: {
        get: () => refundOutcomes.get(refundOf(7)),
        announce: () => refundOutcomes.announce({ id: refundOf(7), paymentId: idOf(7) }, now),
        listRecorded: () => refundOutcomes.listRecorded(idOf(7)),
        getStanding: () => refundOutcomes.getStanding({ id: refundOf(7), paymentId: idOf(7) }),
        markTold: () => refundOutcomes.markTold(refundOf(7), { timesTold: 0, now }),
        recordProgress: () =>
          refundOutcomes.recordProgress(
            { id: refundOf(7), paymentId: idOf(7) },
            { stage: 'sent', facts: undefined, dueAt: now, now, exchanges: [] },
          ),
        finishRefund: () =>
          refundOutcomes.finishRefund(
            { id: refundOf(7), paymentId: idOf(7) },
            {
              status: 'succeeded',
              failureCode: null,
              providerMessage: { code: null, message: null },
              gatewayReference: null,
              bankReference: null,
            },
            { now, exchanges: [] },
          ),
        recordMadeAtGateway: () =>
          refundOutcomes.recordMadeAtGateway(
            idOf(8),
            { id: refundOf(8), gatewayReference: 're_8', amount: 1, bankReference: null },
            { waiting: undefined, now },
          ),
      },
    },
  };
};
