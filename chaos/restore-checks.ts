import { unpaidDifferences } from '../contract/account-difference.ts';
import { formatMoney } from '../contract/money.ts';
import { connect } from '../postgres/driver/connection.ts';
import type { startStripe } from '../test/fakes/stripe.ts';

type Stripe = Awaited<ReturnType<typeof startStripe>>;

/** Money that moved at the gateway. */
interface Moved {
  kind: 'captured' | 'refunded';
  /** The gateway's id of the transaction. */
  reference: string;
  /** Our id of the payment or the refund. */
  id: string;
  amount: number;
}

/** Amounts: those in the service's records by our ids, those of its differences by kind and the gateway's id. */
export interface Known {
  here: Map<string, number>;
  named: Map<string, number>;
}

const places = ['here', 'named', 'missing'] as const;
type Place = (typeof places)[number];

export interface Accounts {
  sums: { kind: Moved['kind']; place: Place; count: number; amount: number }[];
  problems: string[];
}

const currency = 'EUR';

/** The gateway's own book, which the service does not write. */
export const readBook = ({ charges, refunds }: Pick<Stripe, 'charges' | 'refunds'>): Moved[] => [
  ...charges.map(({ id, amount, source }) => ({
    kind: 'captured' as const,
    reference: id,
    id: (source as { metadata: { payment_id?: string } }).metadata.payment_id ?? '', // A charge.
    amount,
  })),
  ...refunds.map(({ reference, refundId, amount }) => ({
    kind: 'refunded' as const,
    reference: `txn_${reference}`,
    id: refundId ?? '',
    amount,
  })),
];

/** The days of UTC on which money moved at the gateway. */
export const daysOf = ({ charges, refunds }: Pick<Stripe, 'charges' | 'refunds'>): string[] => {
  const times = [
    ...charges.map(({ created }) => new Date(created * 1000)),
    ...refunds.map(({ createdAt }) => createdAt),
  ];
  return [...new Set(times.map((time) => time.toISOString().slice(0, 10)))];
};

export const readKnown = async (databaseUrl: string): Promise<Known> => {
  const sql = connect(databaseUrl, { name: 'payments-restore-drill', max: 1 });
  try {
    const here = await sql<{ id: string; amount: number }[]>`
      select id, amount from payments where status = 'paid' and currency = ${currency}
      union all
      select id, amount from refunds where status <> 'failed' and currency = ${currency}`;
    const named = await sql<{ key: string; amount: number | null }[]>`
      select kind || ' ' || subject as key, abs(their_amount) as amount
      from account_differences where state = 'open'`;
    return {
      here: new Map(here.map(({ id, amount }) => [id, amount])),
      named: new Map(named.map(({ key, amount }) => [key, amount ?? 0])),
    };
  } finally {
    await sql.end();
  }
};

/** The differences that name money which is not here. */
const namedAs = {
  captured: unpaidDifferences,
  refunded: ['refund_unknown', 'reversal_unknown'],
} as const;

/**
 * Finds each movement of the book once: in the service's records, or among the differences.
 * @param options.isMoving payments may have become paid since the comparison
 */
export const account = (
  book: readonly Moved[],
  known: Known,
  { isMoving }: { isMoving: boolean },
): Accounts => {
  const here = new Map(known.here);
  const named = new Map(known.named);
  const take = (from: Map<string, number>, key: string, amount: number) =>
    from.get(key) === amount && from.delete(key);
  const takeAny = (kind: Moved['kind'], reference: string, amount: number) =>
    namedAs[kind].some((name) => take(named, `${name} ${reference}`, amount));
  const placed = book.map((moved) => {
    const { kind, reference, id, amount } = moved;
    let place: Place = 'missing';
    const isHere = take(here, id, amount);
    if ((!isHere || isMoving) && takeAny(kind, reference, amount)) place = 'named';
    if (isHere) place = 'here';
    return { ...moved, place };
  });
  const sums = (['captured', 'refunded'] as const).flatMap((kind) =>
    places.map((place) => {
      const amounts = placed.flatMap((one) =>
        one.kind === kind && one.place === place ? [one.amount] : [],
      );
      const amount = amounts.reduce((sum, each) => sum + each, 0);
      return { kind, place, count: amounts.length, amount };
    }),
  );
  const problems = [
    ...placed.flatMap(({ kind, place, reference, id, amount }) =>
      place === 'missing' ? [`${kind} and not accounted for: ${reference} ${id} ${amount}`] : [],
    ),
    ...[...here.keys()].map((id) => `here, but not in the gateway's book: ${id}`),
    ...[...named.keys()].map((text) => `a difference without money that is missing: ${text}`),
  ];
  return { sums, problems };
};

/** The applications asked for at most one refund of a payment. */
export const findRepeated = (refunds: Stripe['refunds']): string[] =>
  [...Map.groupBy(refunds, ({ payment }) => payment)]
    .filter(([, { length }]) => length > 1)
    .map(([payment, { length }]) => `${payment} was refunded ${length} times`);

export const formatAccounts = ({ sums }: Accounts): string => {
  const rows = (['captured', 'refunded'] as const).map((kind) => {
    const of = sums.filter((one) => one.kind === kind);
    const total = of.reduce((sum, { amount }) => sum + amount, 0);
    const accounted = of.reduce((sum, one) => sum + (one.place === 'missing' ? 0 : one.amount), 0);
    const cells = of.map(({ count, amount }) => `${count} ${formatMoney({ amount, currency })}`);
    return [kind, ...cells, `${Math.floor((10_000 * accounted) / total) / 100} %`];
  });
  return [['', 'recorded here', 'named as a difference', 'missing', 'accounted for'], ...rows]
    .map((row) => row.map((cell, index) => cell.padStart(index === 0 ? 0 : 26)).join(''))
    .join('\n');
};
