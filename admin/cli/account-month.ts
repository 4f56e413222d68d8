import { accountDifferences } from '../../contract/account-difference.ts';
import { formatMoney } from '../../contract/money.ts';
import {
  type AccountMonth,
  moneyOf,
  type MonthOfAccounts,
  monthPartNames,
  monthParts,
  restOf,
} from '../operations/account-month.ts';
import type { BookedPayout } from '../../postgres/admin/payouts.ts';
import { labelOf } from '../operations/labels.ts';
import { type CommandSpec, findEmptyPeriod, Misuse, option, textOf } from './commands.ts';
import type { Io } from './io.ts';
import { table } from './output.ts';

const sumRow = (account: AccountMonth) => {
  const money = (amount: number) => formatMoney({ amount, currency: account.currency });
  const { gateway, currency, left, openDifferences, balance } = account;
  return {
    account: `${gateway} ${currency}`,
    ...Object.fromEntries(monthPartNames.map((part) => [monthParts[part], money(account[part])])),
    'left there': money(left),
    'balance at the end': balance && money(balance.closing),
    'not booked': moneyOf(balance?.notBooked ?? null, currency),
    'open differences': openDifferences,
  };
};

const payoutRow = (payout: BookedPayout) => ({
  ...{ gateway: payout.gateway, payout: payout.id, day: payout.day },
  amount: formatMoney({ amount: -payout.amount, currency: payout.currency }),
  status: payout.status && labelOf('payoutStatus', payout.status),
  'at the bank on': payout.arrivesOn,
  "bank's text": payout.descriptor,
  "bank's reference": payout.bankReference,
  'in no line': moneyOf(restOf(payout), payout.currency),
});

const textOfMonth = ({ accounts, payouts, differences }: MonthOfAccounts): string =>
  [
    table(accounts.map(sumRow), 'No money moved in this month.'),
    table(payouts.map(payoutRow), 'No payout was booked in this month.'),
    table(
      differences.map((each) => ({
        ...{ gateway: each.gateway, open: accountDifferences[each.kind], count: each.count },
        ours: moneyOf(each.ours, each.ourCurrency),
        theirs: moneyOf(each.theirs, each.theirCurrency),
      })),
      'No difference of this month is open.',
    ),
  ].join('\n\n');

/** @throws Misuse */
const monthArgument = (text: string): string => {
  const isMonth = /^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text);
  const problem = isMonth ? findEmptyPeriod(`${text}-01`) : `"${text}" is no month like 2026-11`;
  if (problem !== null) throw new Misuse(`${problem}.`);
  return text;
};

const options = [
  option('--application <slug>', 'only of this application, without payouts', 'of all'),
  option('--test', 'tests instead of live payments'),
];

const ownerOf = (given: Readonly<Record<string, unknown>>) => ({
  application: textOf(given['application']),
  test: given['test'] === true,
});

/** Says of which gateways a file may get more lines. */
export const noteOpenDays = (
  open: readonly { gateway: string; lastClosedDay: string | null }[],
  io: Pick<Io, 'note'>,
): void => {
  for (const { gateway, lastClosedDay } of open)
    io.note(
      lastClosedDay === null
        ? `No day of ${gateway} is closed: they may get more movements.`
        : `The last closed day of ${gateway} is ${lastClosedDay}: later ones may get more movements.`,
    );
};

export const monthCommand: CommandSpec = {
  usage: 'month <month>',
  summary: 'add up a month by kind for each account, with its payouts and what is open',
  examples: ['accounts month 2026-11'],
  options,
  run: async ({ args: [text = ''], options: given, operations }) => {
    const gateways = (await operations.gateways.list()).map(({ slug }) => slug);
    const month = monthArgument(text);
    const found = await operations.accounts.month(month, gateways, ownerOf(given));
    return { text: textOfMonth(found), json: found };
  },
};

export const exportMonthCommand: CommandSpec = {
  usage: 'month <month>',
  summary: 'print the sums, the payouts and what is open of a month as CSV',
  examples: ['export month 2026-11 > november-by-kind.csv'],
  options,
  run: async ({ args: [text = ''], options: given, operations, io }) => {
    const month = monthArgument(text);
    const { lines, open } = await operations.accounts.exportMonth(month, ownerOf(given));
    noteOpenDays(open, io);
    for await (const part of lines) if (!(await io.write(part))) break;
    return { text: null, json: { open } };
  },
};
