import { formatMoney } from '../../contract/money.ts';
import type { PayoutRecord } from '../../postgres/admin/payouts.ts';
import { labelOf } from '../operations/labels.ts';
import { type CommandSpec, limitOption, option, textOf } from './commands.ts';
import { table } from './output.ts';

const factsOf = (payout: PayoutRecord) => ({
  gateway: payout.gateway,
  payout: payout.id,
  amount: formatMoney(payout),
  status: labelOf('payoutStatus', payout.status),
  'at the bank on': payout.arrivesOn,
  "bank's reference": payout.bankReference,
  lines: labelOf('payoutLines', payout.lines),
});

const noLines = ({ lines }: PayoutRecord): string =>
  lines === 'never'
    ? 'The gateway does not say which payments it is of.'
    : 'The gateway has not listed its lines, or not all of them are here.';

export const payoutsCommand: CommandSpec = {
  usage: 'payouts',
  summary: "list payouts of gateways, the newest first; or find the one of a bank statement's line",
  examples: ['accounts payouts', 'accounts payouts --find "STRIPE 1.504,62 EUR"'],
  options: [
    option('--gateway <gateway>', 'only of this gateway', 'of all'),
    option('--find <text>', "an amount or a reference, as the bank's line has it", 'any'),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const asked = {
      gateway: textOf(options['gateway']),
      text: textOf(options['find']),
      test: null,
    };
    const found = await list((limit) => operations.payouts.list(asked, { after: null, limit }));
    return { text: table(found.map(factsOf), 'There is no such payout.'), json: found };
  },
};

export const payoutCommand: CommandSpec = {
  usage: 'payout <gateway> <id>',
  summary: 'show what a payout has paid out: sums by kind, and the rest that no line explains',
  examples: ['accounts payout stripe po_1'],
  run: async ({ args: [gateway = '', id = ''], operations }) => {
    const payout = await operations.payouts.get(gateway, id);
    const { sums, rest } = await operations.payouts.sum(payout);
    const { currency } = payout;
    const rows = sums.map(({ kind, lines, amount, fee, net, ...sum }) => ({
      kind: labelOf('statementLine', kind),
      lines,
      amount: formatMoney({ amount, currency: sum.currency }),
      fees: formatMoney({ amount: -fee, currency: sum.currency }),
      net: formatMoney({ amount: net, currency: sum.currency }),
    }));
    const end =
      rest === null ? noLines(payout) : `In no line: ${formatMoney({ amount: rest, currency })}`;
    return {
      text: `${table([factsOf(payout)], '')}\n\n${table(rows, 'No line of it is here.')}\n\n${end}`,
      json: { ...payout, sums, rest },
    };
  },
};

export const exportPayoutCommand: CommandSpec = {
  usage: 'payout <gateway> <id>',
  summary: 'print what a payout has paid out as CSV, one row for each line',
  examples: ['export payout stripe po_1 > po_1.csv'],
  run: async ({ args: [gateway = '', id = ''], operations, io }) => {
    const payout = await operations.payouts.get(gateway, id);
    for await (const part of operations.payouts.exportLines(payout))
      if (!(await io.write(part))) break;
    if (!payout.isRead) io.note(noLines(payout));
    return { text: null, json: payout };
  },
};
