import { createAccountComparison } from '../../../postgres/account-comparison.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createAccountStatement } from '../../../postgres/account-statement.ts';
import { createAdminPayouts } from '../../../postgres/admin-payouts.ts';
import { createGatewayEntries } from '../../../postgres/gateway-entries.ts';
import { createPayouts } from '../../../postgres/payouts.ts';
import { createMovements } from '../../../postgres/movements.ts';
import { everyMovement } from '../data/filters.ts';
import type { Statements } from './statements.ts';

const accountDay = { gateway: 'sandbox', day: '2000-01-01' };

/** Calls every method about movements and the books of gateways, by file. */
export const accountStatements = (
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
  const comparison = createAccountComparison(db);
  const entries = createGatewayEntries(db);
  const movements = createMovements(db);
  const statement = createAccountStatement(db);
  const payouts = createPayouts(db);
  const adminPayouts = createAdminPayouts(db);
  const line = {
    ...({ id: 'txn_1', at: now, kind: 'payout', type: 'payout', category: 'payout' } as const),
    ...{ amount: -1, fee: 0, currency: 'EUR', availableOn: now, entry: 'txn_1', payout: 'po_1' },
  };
  const look = { gateway: 'sandbox', id: 'po_1' };
  const known = {
    ...({ amount: 1, currency: 'EUR', status: 'paid', createdAt: now, lines: 'listed' } as const),
    ...{ arrivesOn: accountDay.day, descriptor: 'SHOP', bankReference: 'TRACE' },
  };
  const found = { words: ['TRACE'], amounts: [{ amount: 1, currency: 'EUR' }] };
  const everyPayout = { gateway: null, test: false, find: null };
  const days = {
    ...({ gateway: 'sandbox', application: null, test: null } as const),
    ...{ from: accountDay.day, to: accountDay.day },
  };
  const everyOne = { ...owner, ...everyMovement };
  const page = { after: null, limit: 21 };
  const entry = {
    ...({ reference: 'SBX', kind: 'refund' } as const),
    ...{ at: now, amount: -1, currency: 'EUR', fee: null },
    payment: { reference: `REF_${idOf(7)}`, trackingCode: 'T-1', id: idOf(7) },
    refundId: 'REFUND_1',
  };
  return {
    'movements.ts': {
      methods: movements,
      calls: {
        sum: () => movements.sum({ ...days, test: false }),
        async export() {
          const all = { ...days, ...owner };
          for await (const _ of movements.export(all)) return;
        },
        list: () => movements.list(everyOne, page),
        'list, of a payment': () => movements.list({ ...everyOne, paymentId: idOf(7) }, page),
        'list, of a kind and a time': () =>
          movements.list(
            { ...everyOne, kind: 'chargeback', from: new Date(0), to: now },
            { after: { at: now, id: `payment:${idOf(7)}` }, limit: 21 },
          ),
      },
    },
    'gateway-entries.ts': {
      methods: entries,
      calls: {
        forgetAnswers: () => entries.forgetAnswers(accountDay),
        recordEntries: () => entries.recordEntries('sandbox', [entry]),
        forgetUnlisted: () => entries.forgetUnlisted(accountDay, '2026-11-20T00:00:00Z'),
        listToAsk: () => entries.listToAsk(accountDay, { after: 'payment:', limit: 10 }),
        recordAnswers: () =>
          entries.recordAnswers([{ id: `payment:${idOf(7)}`, result: 'absent' }]),
      },
    },
    'account-statement.ts': {
      methods: statement,
      calls: {
        recordLines: () => statement.recordLines('sandbox', [line]),
        forgetUnlisted: () => statement.forgetUnlisted(accountDay, '2026-11-20T00:00:00Z'),
        recordTold: () => statement.recordTold(accountDay, [{ currency: 'EUR', amount: 1 }]),
      },
    },
    'payouts.ts': {
      methods: payouts,
      calls: {
        claimLooks: () => payouts.claimLooks(10),
        recordLines: () => payouts.recordLines(look, ['txn_1'], null),
        recordLook: () => payouts.recordLook(look, known),
        recordListed: () =>
          payouts.recordListed(accountDay, [
            { ...known, id: 'po_2', paidOut: [{ ...line, entry: null }] },
          ]),
      },
    },
    'admin-payouts.ts': {
      methods: adminPayouts,
      calls: {
        list: () => adminPayouts.list(everyPayout, page),
        "list, of the bank's line": () =>
          adminPayouts.list({ ...everyPayout, gateway: 'sandbox', find: found }, page),
        'list, after one': () =>
          adminPayouts.list(everyPayout, { after: { at: now, id: 'po_1' }, limit: 21 }),
        get: () => adminPayouts.get('sandbox', 'po_1'),
        sum: () => adminPayouts.sum('sandbox', 'po_1'),
        lines: () => adminPayouts.lines('sandbox', 'po_1', { after: '', limit: 51 }),
      },
    },
    'account-comparison.ts': {
      methods: comparison,
      calls: {
        getDay: () => comparison.getDay(accountDay),
        listDue: () => comparison.listDue(),
        findDifferences: () => comparison.findDifferences(accountDay),
        listUnpaid: () => comparison.listUnpaid(accountDay, 10),
        recordWorkflows: () => comparison.recordWorkflows([1], [1]),
        finishDay: () => comparison.finishDay(accountDay, 'list'),
      },
    },
  };
};
