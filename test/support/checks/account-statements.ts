import { createAccountComparison } from '../../../postgres/accounts/comparison.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createAccountStatement } from '../../../postgres/accounts/statement.ts';
import { createAdminPayouts } from '../../../postgres/admin/payouts.ts';
import { createGatewayEntries } from '../../../postgres/accounts/gateway-entries.ts';
import { createPayouts } from '../../../postgres/accounts/payouts.ts';
import { createMovements } from '../../../postgres/accounts/movements.ts';
import { everyMovement } from '../data/filters.ts';
import { type Filled, type Statements, statementsOf } from './statements.ts';

const accountDay = { gateway: 'sandbox', day: '2000-01-01' };

/** Calls every method about movements and the books of gateways, by file. */
export const accountStatements = (
  db: Sql,
  { owner, idOf, now }: Filled,
): Record<string, Statements> => {
  const line = {
    ...({ id: 'txn_1', at: now, kind: 'payout', type: 'payout', category: 'payout' } as const),
    ...{ amount: -1, fee: 0, currency: 'EUR', availableOn: now, source: 'ch_1', payout: 'po_1' },
  };
  const look = { gateway: 'sandbox', id: 'po_1' };
  const known = {
    ...({ amount: 1, currency: 'EUR', status: 'paid', createdAt: now, lines: 'listed' } as const),
    ...{ arrivesOn: accountDay.day, descriptor: 'SHOP', bankReference: 'TRACE' },
  };
  const found = {
    ...{ words: ['TRACE'], amounts: [{ amount: 1, currency: 'EUR' }] },
    descriptors: ['SHOP'],
  };
  const everyPayout = { gateway: null, test: false, find: null };
  const days = {
    ...({ gateway: 'sandbox', application: null, test: null } as const),
    ...{ from: accountDay.day, to: accountDay.day },
  };
  const everyOne = { ...owner, ...everyMovement };
  const page = { after: null, limit: 21 };
  const entry = {
    ...({ id: 'SBX', source: 'SBX', kind: 'refund' } as const),
    ...{ at: now, amount: -1, currency: 'EUR', fee: null },
    payment: { reference: `REF_${idOf(7)}`, trackingCode: 'T-1', id: idOf(7) },
    refundId: 'REFUND_1',
  };
  return {
    'accounts/movements.ts': statementsOf(createMovements(db), {
      sum: [{ ...days, test: false }],
      export: [{ ...days, ...owner }],
      list: [everyOne, page],
      'list, of a payment': [{ ...everyOne, paymentId: idOf(7) }, page],
      'list, of a kind and a time': [
        { ...everyOne, kind: 'chargeback', from: new Date(0), to: now },
        { after: { at: now, id: `payment:${idOf(7)}` }, limit: 21 },
      ],
    }),
    'accounts/gateway-entries.ts': statementsOf(createGatewayEntries(db), {
      forgetAnswers: [accountDay],
      recordEntries: [accountDay, [entry]],
      forgetUnlisted: [accountDay, '2026-11-20T00:00:00Z'],
      listToAsk: [accountDay, { after: 'payment:', limit: 10 }],
      recordAnswers: [[{ id: `payment:${idOf(7)}`, result: 'absent' }]],
    }),
    'accounts/statement.ts': statementsOf(createAccountStatement(db), {
      recordLines: [accountDay, [line]],
      forgetUnlisted: [accountDay, '2026-11-20T00:00:00Z'],
      recordReported: [accountDay, [{ currency: 'EUR', amount: 1 }]],
    }),
    'accounts/payouts.ts': statementsOf(createPayouts(db), {
      claimLooks: [10],
      recordPaidOut: [look, ['txn_1'], null],
      recordLook: [look, known],
      recordListed: [accountDay, [{ ...known, id: 'po_2', paidOut: [{ ...line, source: null }] }]],
    }),
    'admin/payouts.ts': statementsOf(createAdminPayouts(db), {
      list: [everyPayout, page],
      "list, of the bank's line": [{ ...everyPayout, gateway: 'sandbox', find: found }, page],
      'list, after one': [everyPayout, { after: { at: now, id: 'po_1' }, limit: 21 }],
      get: ['sandbox', 'po_1'],
      listBooked: [{ ...days, test: false }],
      sum: ['sandbox', 'po_1'],
      lines: ['sandbox', 'po_1', { after: '', limit: 51 }],
    }),
    'accounts/comparison.ts': statementsOf(createAccountComparison(db), {
      getDay: [accountDay],
      listDue: [],
      findDifferences: [accountDay],
      listUnpaid: [accountDay, 10],
      recordWorkflows: [[1], [1]],
      finishDay: [accountDay, 'list'],
    }),
  };
};
