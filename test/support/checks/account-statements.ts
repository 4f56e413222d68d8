import { createAccountComparison } from '../../../postgres/account-comparison.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createGatewayEntries } from '../../../postgres/gateway-entries.ts';
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
