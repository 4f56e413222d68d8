import type { FakeResponse } from './server.ts';

/** A page of a list as Stripe shows it. */
export const pageOf = (all: readonly { id: string }[], query: URLSearchParams): FakeResponse => {
  const after = all.findIndex(({ id }) => id === query.get('starting_after')) + 1;
  const data = all.slice(after, after + Math.min(Number(query.get('limit')), 100));
  return { body: { object: 'list', data, has_more: after + data.length < all.length } };
};

/** A transaction of the balance. */
export interface Transaction extends Labels {
  id: string;
  created: number;
  amount: number;
  currency: string;
  fee: number;
  source: unknown;
}

/** The kind of a transaction of the balance. */
export interface Labels {
  type: string;
  reporting_category?: string;
  description?: string;
}

type Moved = Pick<Transaction, 'amount'> &
  Partial<Pick<Transaction, 'currency' | 'fee' | 'source'>> & { at?: Date };

const payoutLabels = { type: 'payout', reporting_category: 'payout' };

/** A payout as Stripe shows it, and the ids of the transactions that it has paid out. */
interface StripePayout {
  id: string;
  object: 'payout';
  amount: number;
  currency: string;
  created: number;
  arrival_date: number;
  automatic: boolean;
  reconciliation_status: string;
  status: string;
  statement_descriptor: string | null;
  trace_id: { status: string; value: string | null } | null;
  paidOut: string[];
}

/** Stripe's balance: what moves it, its list, and payouts. @param ofPayments what payments moved */
export const newStripeBalance = (ofPayments: () => Transaction[]) => {
  const others: Transaction[] = [];
  const before = new Map([['eur', 0]]);
  const hidden = new Set<string>();
  const payouts = new Map<string, StripePayout>();
  let pagesMade = 0;
  /** The fault of the list of transactions. */
  let bookFault: 'repeats' | 'endless' | 'empty' | undefined;

  const transactions = () => [...ofPayments(), ...others];

  /** Newest first, as Stripe lists them. */
  const listTransactions = (query: URLSearchParams): FakeResponse => {
    const payout = query.get('payout');
    if (payout !== null) {
      const ids = new Set(payouts.get(payout)?.paidOut);
      return pageOf(
        transactions().filter(({ id }) => ids.has(id)),
        query,
      );
    }
    if (query.get('expand[]') !== 'data.source')
      throw new Error('Without it the source is an id only');
    const from = Number(query.get('created[gte]'));
    const to = Number(query.get('created[lt]'));
    const all = transactions()
      .filter(({ id, created }) => !hidden.has(id) && created >= from && created < to)
      .toSorted((one, other) => one.created - other.created)
      .toReversed();
    if (bookFault === 'empty') return { body: { object: 'list', data: [], has_more: true } };
    if (bookFault === 'repeats')
      return { body: { object: 'list', data: all.slice(0, 3), has_more: true } };
    if (bookFault === 'endless') {
      const made = { ...all[0], id: `txn_made_${(pagesMade += 1)}` };
      return { body: { object: 'list', data: [made], has_more: true } };
    }
    return pageOf(all, query);
  };

  /** Half of each amount is pending. */
  const tellBalance = (): FakeResponse => {
    const sums = new Map(before);
    for (const { amount, fee, currency } of transactions())
      sums.set(currency, (sums.get(currency) ?? 0) + amount - fee);
    const part = (of: (sum: number) => number) =>
      [...sums].map(([currency, sum]) => ({ currency, amount: of(sum) }));
    return {
      body: {
        object: 'balance',
        available: part((sum) => Math.floor(sum / 2)),
        pending: part((sum) => Math.ceil(sum / 2)),
      },
    };
  };

  return {
    /** Undefined for another path. */
    answer(pathname: string, query: URLSearchParams): FakeResponse | undefined {
      if (pathname === '/v1/balance_transactions') return listTransactions(query);
      if (pathname === '/v1/balance') return tellBalance();
      const payout = payouts.get(/^\/v1\/payouts\/(po_\w+)$/.exec(pathname)?.[1] ?? '');
      return payout && { body: payout };
    },
    /** Moves the balance in another way than a charge or a refund. @returns the id of the transaction */
    moveBalance(labels: Labels, { at = new Date(), ...moved }: Moved): string {
      const id = `txn_other_${others.length + 1}`;
      const created = Math.floor(at.getTime() / 1000);
      others.push({ id, created, currency: 'eur', fee: 0, source: null, ...labels, ...moved });
      return id;
    },
    payouts,
    /** Pays some transactions out, and lists them at once. @returns the payout as Stripe shows it, which the test may change */
    payOut(
      ids: readonly string[],
      { at = new Date(), ...changes }: Partial<StripePayout> & { at?: Date } = {},
    ) {
      const id = `po_${payouts.size + 1}`;
      const created = Math.floor(at.getTime() / 1000);
      const paidOut = transactions().filter((each) => ids.includes(each.id));
      const amount = paidOut.reduce((sum, each) => sum + each.amount - each.fee, 0);
      const currency = paidOut[0]?.currency ?? 'eur';
      const line = { id: `txn_${id}`, ...payoutLabels, created, currency, fee: 0 };
      const made: StripePayout = {
        ...{ id, object: 'payout', amount, currency, created, arrival_date: created + 2 * 86_400 },
        ...{ automatic: true, reconciliation_status: 'completed', status: 'in_transit' },
        ...{ statement_descriptor: 'SHOP', trace_id: null },
        paidOut: [...ids, line.id],
        ...changes,
      };
      payouts.set(id, made);
      others.push({ ...line, amount: -made.amount, source: made });
      return made;
    },
    /** The balance before the first movement here, in minor units. */
    before,
    /** Movements that the balance has, and the book does not show. */
    hidden,
    /** The book shows this other movement no more. */
    takeBack: (id: string) => {
      others.splice(0, others.length, ...others.filter((each) => each.id !== id));
    },
    /** `repeats`: the first page comes again and again. `endless`: each page is a new one. */
    faultOfBook: (fault: typeof bookFault) => {
      bookFault = fault;
    },
  };
};
