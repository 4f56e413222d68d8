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
import { csvOf, decimalOf } from './csv.ts';
import type { Deps } from './deps.ts';

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

const currenciesOf = ({ ourCurrency, theirCurrency }: OpenDifferences) =>
  new Set([ourCurrency, theirCurrency]);

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
  const parts = Object.fromEntries(
    Object.keys(monthParts).map((part) => [part, sumOf(part as MonthPart)]),
  ) as Record<MonthPart, number>; // Object.keys and Object.fromEntries widen to string.
  const left = totalOf(sums) - parts.elsewhere;
  const balance = found.balances.find((each) => each.currency === currency);
  const isWhole = balance?.openingDay === from && balance.closingDay === to;
  return {
    gateway,
    currency,
    ...parts,
    left,
    openDifferences: found.differences
      .filter((each) => currenciesOf(each).has(currency))
      .reduce((count, each) => count + each.count, 0),
    sums,
    balance: balance
      ? {
          ...balance,
          notBooked: isWhole ? balance.closing - balance.opening - left : null,
        }
      : null,
  };
};

/** The month of accounts: sums by kind, payouts as the bank's lines name them, and what is open. */
export const createAccountMonths = ({ sql }: Pick<Deps, 'sql'>) => {
  /** All of it is of one moment, so that it adds up. */
  const ofGateway = async (
    gateway: string,
    { from, to }: Month,
    owner: DifferenceOwner,
  ): Promise<MonthOfAccounts> => {
    const range = { gateway, from, to };
    const ofAll = owner.application === null;
    const [sums, differences, balances, booked] = await sql.begin(
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
    const currencies = new Set([
      ...sums.map(({ currency }) => currency),
      ...balances.map(({ currency }) => currency),
    ]);
    const found = { sums, balances, differences };
    return {
      accounts: [...currencies]
        .sort()
        .map((currency) => accountOf(gateway, currency, found, { from, to })),
      payouts: booked,
      differences,
    };
  };

  return {
    /** Gateway by gateway: each is some statements, of which one may be long. */
    async get(
      gateways: readonly string[],
      month: Month,
      owner: DifferenceOwner,
    ): Promise<MonthOfAccounts> {
      const all: MonthOfAccounts[] = [];
      for (const gateway of gateways) all.push(await ofGateway(gateway, month, owner));
      return {
        accounts: all.flatMap(({ accounts }) => accounts),
        payouts: all.flatMap((each) => each.payouts),
        differences: all.flatMap(({ differences }) => differences),
      };
    },

    /** The lines of a CSV file. `opening`, `booked` and `not_booked` of an account and currency add up to `closing`. */
    async *exportLines(
      gateways: readonly string[],
      month: Month,
      owner: DifferenceOwner,
    ): AsyncGenerator<string> {
      yield columns.heading;
      for (const gateway of gateways) {
        const lines = linesOf(await ofGateway(gateway, month, owner));
        yield lines.map((line) => columns.line(line, month)).join('');
      }
    },
  };
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
  amount?: number | null;
  payout?: BookedPayout;
  ours?: Side;
  theirs?: Side;
  words?: string;
}

interface Side {
  amount: number | null;
  currency: string | null;
}

const linesOf = ({ accounts, payouts, differences }: MonthOfAccounts): MonthLine[] => [
  ...accounts.flatMap((account) => linesOfAccount(account, payouts)),
  ...payouts.filter((payout) => (restOf(payout) ?? 0) !== 0).map(restLine),
  ...differences.map(differenceLine),
];

const linesOfAccount = (
  { gateway, currency, sums, balance }: AccountMonth,
  payouts: readonly BookedPayout[],
): MonthLine[] => {
  const ofBalance = (kind: string, amount: number | null, words: string): MonthLine[] =>
    amount === null ? [] : [{ gateway, currency, part: 'balance', kind, amount, words }];
  const own = payouts.filter((each) => each.gateway === gateway && each.currency === currency);
  return [
    ...(balance ? ofBalance('opening', balance.opening, `before ${balance.openingDay}`) : []),
    ...sums
      .filter(({ kind }) => partOf[kind] !== 'payouts')
      .map(({ kind, application, count, amount }): MonthLine => {
        const part = partOf[kind] === 'elsewhere' ? 'elsewhere' : 'booked';
        return { gateway, currency, part, kind, application, count, amount };
      }),
    ...own.map((payout): MonthLine => {
      const { kind, amount } = payout;
      return { gateway, currency, part: 'booked', kind, count: 1, amount, payout };
    }),
    ...(balance
      ? [
          ...ofBalance(
            'not_booked',
            balance.notBooked,
            'moved there, and not booked on these days',
          ),
          ...ofBalance('closing', balance.closing, `after ${balance.closingDay}`),
        ]
      : []),
  ];
};

const restLine = (payout: BookedPayout): MonthLine => ({
  ...({ gateway: payout.gateway, currency: payout.currency, part: 'open' } as const),
  ...{ kind: 'payout_rest', payout, words: 'its lines give another amount than the payout' },
  ours: { amount: payout.paidOut, currency: payout.currency },
  theirs: { amount: -payout.amount, currency: payout.currency },
});

const differenceLine = (each: OpenDifferences): MonthLine => ({
  ...({ gateway: each.gateway, currency: each.ourCurrency ?? each.theirCurrency } as const),
  part: 'open',
  ...{ kind: each.kind, count: each.count, words: accountDifferences[each.kind] },
  ours: { amount: each.ours, currency: each.ourCurrency },
  theirs: { amount: each.theirs, currency: each.theirCurrency },
});

const decimal = ({ amount, currency }: Side) =>
  amount === null || currency === null ? null : decimalOf({ amount, currency });

const nothing: Side = { amount: null, currency: null };

const columns = csvOf<[MonthLine, Month]>({
  month: (_, { from }) => from.slice(0, 7),
  gateway: ({ gateway }) => gateway,
  currency: ({ currency }) => currency,
  part: ({ part }) => part,
  kind: ({ kind }) => kind,
  application: ({ application = null }) => application,
  count: ({ count = null }) => count,
  amount_minor: ({ amount = null }) => amount,
  amount: ({ amount = null, currency }) => decimal({ amount, currency }),
  day: ({ payout }) => payout?.day ?? null,
  payout: ({ payout }) => payout?.id ?? null,
  bank_day: ({ payout }) => payout?.arrivesOn ?? null,
  bank_reference: ({ payout }) => payout?.bankReference ?? null,
  bank_text: ({ payout }) => payout?.descriptor ?? null,
  ours: ({ ours = nothing }) => decimal(ours),
  theirs: ({ theirs = nothing }) => decimal(theirs),
  theirs_currency: ({ theirs = nothing }) => theirs.currency,
  words: ({ words = null }) => words,
});
