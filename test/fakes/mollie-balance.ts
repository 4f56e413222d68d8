import { amountText, link, linksOf, pageOf, problem, timeText } from './mollie-lists.ts';
import type { FakeResponse } from './server.ts';

/** A movement of a balance. Amounts are in the smallest units; what was deducted is below zero. */
export interface Moved {
  at?: Date;
  amount: number;
  currency?: string;
  deducted?: Partial<Record<'fees' | 'commissions' | 'repayments' | 'reservations', number>>;
  context?: Record<string, unknown> | null;
}

/** A settlement as Mollie shows it. */
interface Settlement {
  id: string;
  status: string;
  reference: string | null;
  settledAt: string | null;
}

/** Mollie's balances: what moves them, their lists, and settlements. */
export const newMollieBalance = (mode: 'test' | 'live') => {
  const balances = new Map([['EUR', 'bal_aEUR']]);
  const transactions: { id: string; balance: string; at: Date; shown: object }[] = [];
  const settlements = new Map<string, Settlement & Record<string, unknown>>();
  let pageSize = 250;

  const balanceOf = (currency: string): string => {
    const id = balances.get(currency) ?? `bal_b${currency}`;
    balances.set(currency, id);
    return id;
  };

  const showBalance = ([currency, id]: [string, string]) => ({
    ...{ resource: 'balance', id, mode, createdAt: timeText(new Date(0)), currency },
    ...{ description: 'Balance', status: 'active' },
    availableAmount: amountText(0, currency),
    pendingAmount: amountText(0, currency),
    _links: linksOf({ self: link(`/v2/balances/${id}`) }),
  });

  return {
    /** Undefined for another path. */
    answer(path: string, query: URLSearchParams): FakeResponse | undefined {
      const isTest = query.get('testmode') === 'true';
      const [, balance] = /^\/v2\/balances\/(\w+)\/transactions$/.exec(path) ?? [];
      if ((path === '/v2/balances' || balance !== undefined) && isTest !== (mode === 'test'))
        return problem(404, 'No balance exists in this mode');
      if (path === '/v2/balances')
        return pageOf('balances', [...balances].map(showBalance), { path, query });
      if (balance !== undefined) {
        const shown = transactions
          .filter((each) => each.balance === balance)
          .toSorted((one, other) => Number(other.at) - Number(one.at))
          .map(({ id, shown: transaction }) => ({ ...transaction, id }));
        return pageOf('balance_transactions', shown, { path, query }, pageSize);
      }
      const settlement = settlements.get(/^\/v2\/settlements\/(stl_\w+)$/.exec(path)?.[1] ?? '');
      return settlement && { body: settlement };
    },
    /** @returns the id of the transaction */
    moveBalance(
      type: string,
      { at = new Date(), amount, currency = 'EUR', deducted = {}, context = null }: Moved,
    ): string {
      const id = `baltr_${transactions.length + 1}`;
      const parts = Object.entries(deducted);
      const sum = parts.reduce((all, [, part]) => all + part, 0);
      const shown = {
        ...{ resource: 'balance-transaction', type, createdAt: timeText(at), context },
        initialAmount: amountText(amount, currency),
        resultAmount: amountText(amount + sum, currency),
        deductions: parts.length > 0 ? amountText(sum, currency) : null,
        deductionDetails:
          parts.length > 0
            ? Object.fromEntries(parts.map(([name, part]) => [name, amountText(part, currency)]))
            : null,
      };
      transactions.push({ id, balance: balanceOf(currency), at, shown });
      return id;
    },
    /** Pays the owner. @returns the settlement as Mollie shows it, which the test may change */
    settle(amount: number, { at = new Date(), currency = 'EUR' } = {}) {
      const id = `stl_${settlements.size + 1}`;
      const context = { settlementId: id, transferId: `trf_${settlements.size + 1}` };
      this.moveBalance('outgoing-transfer', { at, amount: -amount, currency, context });
      const made = {
        ...{ resource: 'settlement', id, createdAt: timeText(at), reference: '1234567.2611.01' },
        ...{ settledAt: timeText(at), status: 'paidout', amount: amountText(amount, currency) },
        balanceId: balanceOf(currency),
        _links: linksOf({ self: link(`/v2/settlements/${id}`) }),
      };
      settlements.set(id, made);
      return made;
    },
    /** Lists of transactions have so many items. */
    pagesHave: (items: number) => {
      pageSize = items;
    },
  };
};
