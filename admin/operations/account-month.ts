import { accountDifferences } from '../../contract/account-difference.ts';
import { formatMoney } from '../../contract/money.ts';
import type { MovementKind, MovementSum } from '../../contract/movement.ts';
import {
  createAccountDays,
  type DifferenceOwner,
  type OpenDifferences,
  type ReportedBalance,
} from '../../postgres/accounts/days.ts';
import { createMovements } from '../../postgres/accounts/movements.ts';
import { type BookedPayout, createAdminPayouts } from '../../postgres/admin/payouts.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { csvOf, decimalOf } from './csv.ts';

/** The movements of an account, as an accountant groups them. */
export const monthParts = {
  captured: 'Captured',
  refunds: 'Refunds',
  fees: 'Fees',
  chargebacks: 'Chargebacks',
  payouts: 'Payouts',
  elsewhere: 'Refunds elsewhere',
} as const;
type MonthPart = keyof typeof monthParts;
export const monthPartNames = Object.keys(monthParts) as MonthPart[]; // Object.keys widens to string.

const partOf: Record<MovementKind, MonthPart> = {
  payment: 'captured',
  late_payment: 'captured',
  refund: 'refunds',
  refund_returned: 'refunds',
  late_reversal: 'refunds',
  refund_elsewhere: 'elsewhere',
  fee: 'fees',
  chargeback: 'chargebacks',
  chargeback_returned: 'chargebacks',
  payout: 'payouts',
  payout_returned: 'payouts',
};

/** The balance that the gateway reports, beside what is booked. */
interface MonthBalance extends ReportedBalance {
  /** The part of its change that is not booked on these days. Null: it does not report the balance of all of them. */
  notBooked: number | null;
}

/** One currency of a gateway's account in a month. Minor units. */
export interface AccountMonth extends Record<MonthPart, number> {
  gateway: string;
  currency: string;
  /** The growth of the account, without the refunds elsewhere: they moved no money of it. */
  left: number;
  openDifferences: number;
  /** The movements by application and kind. */
  sums: MovementSum[];
  /** Null: the gateway reports none, or the movements are those of one application. */
  balance: MonthBalance | null;
}

export interface MonthOfAccounts {
  accounts: AccountMonth[];
  /** The booked ones. Empty for an application: a payout is of the whole account. */
  payouts: BookedPayout[];
  differences: OpenDifferences[];
}

/** The days of a month, both included. */
interface Month {
  from: string;
  to: string;
}

/** @param text YYYY-MM */
export const monthOf = (text: string): Month => {
  const [year, month] = text.split('-').map(Number);
  const last = new Date(Date.UTC(year ?? 0, month ?? 0, 0));
  return { from: `${text}-01`, to: last.toISOString().slice(0, 10) };
};

const totalOf = (sums: readonly Pick<MovementSum, 'amount'>[]): number =>
  sums.reduce((total, { amount }) => total + amount, 0);

/** One currency of a gateway from all that was found about the gateway. */
const accountOf = (
  gateway: string,
  currency: string,
  found: {
    sums: readonly MovementSum[];
    balances: readonly ReportedBalance[];
    differences: readonly OpenDifferences[];
  },
  { from, to }: Month,
): AccountMonth => {
  const sums = found.sums.filter((sum) => sum.currency === currency);
  const sumOf = (part: MonthPart) => totalOf(sums.filter(({ kind }) => partOf[kind] === part));
  const parts = Object.fromEntries(monthPartNames.map((part) => [part, sumOf(part)])) as Record<
    MonthPart,
    number
  >; // Object.fromEntries widens to string.
  const left = totalOf(sums) - parts.elsewhere;
  const balance = found.balances.find((each) => each.currency === currency);
  const isWhole = balance?.openingDay === from && balance.closingDay === to;
  return {
    gateway,
    currency,
    ...parts,
    left,
    openDifferences: found.differences
      .filter((each) => [each.ourCurrency, each.theirCurrency].includes(currency))
      .reduce((total, { count }) => total + count, 0),
    sums,
    balance: balance
      ? {
          ...balance,
          notBooked: isWhole ? balance.closing - balance.opening - left : null,
        }
      : null,
  };
};

/** One gateway. All of it is of one moment, so that it adds up. */
const addUpGateway = async (
  sql: Sql,
  gateway: string,
  month: Month,
  owner: DifferenceOwner,
): Promise<MonthOfAccounts> => {
  const range = { gateway, ...month };
  const ofAll = owner.application === null;
  const [sums, differences, balances, payouts] = await sql.begin(
    'isolation level repeatable read read only',
    (tx) => {
      const days = createAccountDays(tx);
      return Promise.all([
        createMovements(tx).sum({ ...range, ...owner }),
        days.sumOpen(range, owner),
        ofAll ? days.balances(range, owner) : [],
        ofAll ? createAdminPayouts(tx).listBooked({ ...range, test: owner.test }) : [],
      ]);
    },
  );
  const currencies = new Set([...sums, ...balances].map(({ currency }) => currency));
  const found = { sums, balances, differences };
  const accounts = [...currencies]
    .sort()
    .map((currency) => accountOf(gateway, currency, found, month));
  return { accounts, payouts, differences };
};

/**
 * The month of accounts: sums by kind, payouts as the bank's lines name them, and what is open. Each gateway is some
 * statements, of which one may be long.
 */
export const addUpMonth = async (
  sql: Sql,
  gateways: readonly string[],
  month: Month,
  owner: DifferenceOwner,
): Promise<MonthOfAccounts> => {
  const all: MonthOfAccounts = { accounts: [], payouts: [], differences: [] };
  for (const gateway of gateways) {
    const one = await addUpGateway(sql, gateway, month, owner);
    all.accounts.push(...one.accounts);
    all.payouts.push(...one.payouts);
    all.differences.push(...one.differences);
  }
  return all;
};

/** The part of a payout that no line explains, in minor units; null if its lines are not all here. */
export const restOf = ({ amount, paidOut }: BookedPayout): number | null =>
  paidOut === null ? null : -amount - paidOut;

/** Money for people; null if there is none. */
export const moneyOf = (amount: number | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : formatMoney({ amount, currency });

interface MonthLine {
  gateway: string;
  currency: string | null;
  /** Only what is `booked` moved the account. */
  part: 'balance' | 'booked' | 'elsewhere' | 'open';
  kind: string;
  application?: string | null;
  count?: number;
  amount?: number;
  payout?: BookedPayout;
  ours?: Side;
  theirs?: Side;
  words?: string;
}

type Side = [amount: number | null, currency: string | null];

const linesOf = ({ accounts, payouts, differences }: MonthOfAccounts): MonthLine[] => [
  ...accounts.flatMap((account) => linesOfAccount(account, payouts)),
  ...payouts.filter((payout) => (restOf(payout) ?? 0) !== 0).map(restLine),
  ...differences.map(differenceLine),
];

const linesOfAccount = (
  { gateway, currency, sums, balance }: AccountMonth,
  payouts: readonly BookedPayout[],
): MonthLine[] => {
  const own = { gateway, currency };
  const ofBalance = (kind: string, amount: number | null | undefined, words: string) =>
    typeof amount === 'number' ? [{ ...own, part: 'balance' as const, kind, amount, words }] : [];
  return [
    ...ofBalance('opening', balance?.opening, `before ${balance?.openingDay}`),
    ...sums
      .filter(({ kind }) => partOf[kind] !== 'payouts')
      .map(({ kind, application, count, amount }) => {
        const part = partOf[kind] === 'elsewhere' ? ('elsewhere' as const) : ('booked' as const);
        return { ...own, part, kind, application, count, amount };
      }),
    ...payouts
      .filter((payout) => payout.gateway === gateway && payout.currency === currency)
      .map((payout) => {
        const { kind, amount } = payout;
        return { ...own, part: 'booked' as const, kind, count: 1, amount, payout };
      }),
    ...ofBalance('not_booked', balance?.notBooked, 'moved there, and not booked on these days'),
    ...ofBalance('closing', balance?.closing, `after ${balance?.closingDay}`),
  ];
};

const restLine = (payout: BookedPayout): MonthLine => {
  const { gateway, currency, amount, paidOut } = payout;
  return {
    ...({ gateway, currency, part: 'open', kind: 'payout_rest', payout } as const),
    words: 'its lines give another amount than the payout',
    ours: [paidOut, currency],
    theirs: [-amount, currency],
  };
};

const differenceLine = (each: OpenDifferences): MonthLine => {
  const { gateway, kind, count, ourCurrency, theirCurrency } = each;
  return {
    ...({ gateway, currency: ourCurrency ?? theirCurrency, part: 'open', kind, count } as const),
    words: accountDifferences[kind],
    ours: [each.ours, ourCurrency],
    theirs: [each.theirs, theirCurrency],
  };
};

const decimal = ([amount, currency]: Side) =>
  amount === null || currency === null ? null : decimalOf({ amount, currency });

const nothing: Side = [null, null];

const columns = csvOf<[MonthLine, string]>({
  month: (_, month) => month,
  gateway: ({ gateway }) => gateway,
  currency: ({ currency }) => currency,
  part: ({ part }) => part,
  kind: ({ kind }) => kind,
  application: ({ application = null }) => application,
  count: ({ count = null }) => count,
  amount_minor: ({ amount = null }) => amount,
  amount: ({ amount = null, currency }) => decimal([amount, currency]),
  day: ({ payout }) => payout?.day ?? null,
  payout: ({ payout }) => payout?.id ?? null,
  bank_day: ({ payout }) => payout?.arrivesOn ?? null,
  bank_reference: ({ payout }) => payout?.bankReference ?? null,
  bank_text: ({ payout }) => payout?.descriptor ?? null,
  ours: ({ ours = nothing }) => decimal(ours),
  theirs: ({ theirs = nothing }) => decimal(theirs),
  theirs_currency: ({ theirs = nothing }) => theirs[1],
  words: ({ words = null }) => words,
});

/**
 * The lines of a CSV file. `opening`, `booked` and `not_booked` of an account and currency add up to `closing`.
 * @param month YYYY-MM
 */
export async function* fileOfMonth(found: MonthOfAccounts, month: string): AsyncGenerator<string> {
  yield columns.heading;
  for (const line of linesOf(found)) yield columns.line(line, month);
}
