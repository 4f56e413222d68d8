import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { accountDifferenceStates } from '../../contract/account-difference.ts';
import { dayMs } from '../../contract/time.ts';
import { byLabel } from '../operations/fact.ts';
import { differenceFacts } from '../operations/facts.ts';
import { exportMonthCommand, monthCommand, noteOpenDays } from './account-month.ts';
import {
  type CommandGroup,
  type CommandSpec,
  findEmptyPeriod,
  givenReason,
  Misuse,
  limitOption,
  numberArgument,
  option,
  reasonOption,
  required,
  textOf,
} from './commands.ts';
import { table } from './output.ts';
import { exportPayoutCommand, payoutCommand, payoutsCommand } from './payouts.ts';

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const parseDay = (text: string): string => {
  if (z.iso.date().safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a day like 2026-11-20.');
};

const gatewayOption = () => option('--gateway <gateway>', 'only of this gateway', 'of all');
const dayOption = (name: string, description: string, otherwise: string) =>
  option(`--${name} <day>`, description, otherwise).argParser(parseDay);
const requiredDay = (name: string, description: string) =>
  required(`--${name} <day>`, description).argParser(parseDay);

const findMisuse = ({ from, to }: Readonly<Record<string, unknown>>) =>
  findEmptyPeriod(textOf(from), textOf(to));

const daysCommand: CommandSpec = {
  usage: 'days',
  summary: 'list the days that were compared with the books of gateways',
  examples: ['accounts days', 'accounts days --gateway stripe --from 2026-11-01 --to 2026-11-30'],
  options: [
    gatewayOption(),
    dayOption('from', 'the first day', 'a month before the last'),
    dayOption('to', 'the last day', 'today'),
  ],
  findMisuse,
  run: async ({ options, operations }) => {
    const to = textOf(options['to']) ?? dateOf(Date.now() + dayMs);
    const range = {
      gateway: textOf(options['gateway']),
      from: textOf(options.from) ?? dateOf(Date.parse(to) - 31 * dayMs),
      to,
    };
    const days = await operations.accounts.listDays(range, { application: null, test: null });
    const rows = days.map(({ gateway, day, method, comparedAt, closedAt, movements, open }) => ({
      gateway,
      day,
      compared: method === 'list' ? 'with its list' : 'one by one',
      at: comparedAt,
      closed: closedAt,
      movements,
      'open differences': open,
    }));
    return { text: table(rows, 'No day was compared.'), json: days };
  },
};

const compareCommand: CommandSpec = {
  usage: 'compare <gateway> <day>',
  summary: "compare a day with the gateway's own book, now; it may be compared again and again",
  examples: ['accounts compare stripe 2026-11-20'],
  run: async ({ args: [gateway = '', day = ''], operations }) => {
    await operations.accounts.compare({ gateway, day: dayArgument(day) });
    return {
      text: 'The comparison has begun. Its result is in: accounts days, accounts differences.',
      json: { gateway, day },
    };
  },
};

/** @throws Misuse */
const dayArgument = (text: string): string => {
  if (z.iso.date().safeParse(text).success) return text;
  throw new Misuse(`"${text}" is not a day like 2026-11-20.`);
};

const differencesCommand: CommandSpec = {
  usage: 'differences',
  summary: 'list what differs from the books of gateways, the oldest first',
  examples: ['accounts differences', 'accounts differences --day 2026-11-20 --state explained'],
  options: [
    gatewayOption(),
    dayOption('day', 'only of this day', 'of all'),
    option('--application <slug>', 'only of this application', 'of all'),
    option('--state <state>', 'only in this state')
      .choices([...accountDifferenceStates])
      .default('open'),
    limitOption(),
  ],
  findMisuse: ({ day }) => findEmptyPeriod(textOf(day)),
  run: async ({ options, list, operations }) => {
    const filter = {
      gateway: textOf(options['gateway']),
      day: textOf(options['day']),
      application: textOf(options.application),
      test: null,
      state: accountDifferenceStates.find((state) => state === options['state']) ?? null,
    };
    const found = await list((max) => operations.accounts.listDifferences(filter, max));
    const rows = found.map((difference) => byLabel(differenceFacts(difference)));
    return { text: table(rows, 'There is no such difference.'), json: found };
  },
};

const explainCommand: CommandSpec = {
  usage: 'explain <number>',
  summary: 'note why a difference is none that needs work',
  examples: ['accounts explain 12 --reason "paid out of the till, receipt 4711"'],
  options: [reasonOption(), option('--reopen', 'the explanation was wrong')],
  run: async ({ args: [text = ''], options, reason, operations }) => {
    const id = numberArgument(text, 'a difference');
    const why = givenReason(reason);
    if (options['reopen'] === true) await operations.accounts.reopen(id, why);
    else await operations.accounts.explain(id, why);
    return { text: `Noted: ${id}`, json: { id } };
  },
};

const mendCommand: CommandSpec = {
  usage: 'mend <number>',
  summary: 'start the routine that can mend a difference: accounts differences names it',
  examples: ['accounts mend 12 --reason "the webhook of Stripe was off"'],
  options: [reasonOption()],
  run: async ({ args: [text = ''], reason, operations }) => {
    const id = numberArgument(text, 'a difference');
    await operations.accounts.mend(id, reason);
    return {
      text: 'It has begun. Compare the day again to see whether it is mended.',
      json: { id },
    };
  },
};

const verifyCommand: CommandSpec = {
  usage: 'verify',
  summary:
    'check that no movement of a closed day was changed, and print the last day of each gateway: note it elsewhere',
  examples: ['accounts verify'],
  run: async ({ operations }) => {
    const last = new Map<
      string,
      { gateway: string; day: string; chain: string; hash: string | null }
    >();
    for await (const { gateway, day, whole, hash } of operations.accounts.verify()) {
      const broken = last.get(gateway);
      if (broken && broken.chain !== 'whole') continue;
      last.set(gateway, { gateway, day, chain: whole ? 'whole' : `broken at ${day}`, hash });
    }
    const rows = [...last.values()];
    return {
      text: table(rows, 'No day is closed.'),
      json: rows,
      failed: rows.some(({ chain }) => chain !== 'whole'),
    };
  },
};

export const accountCommands: CommandGroup = {
  name: 'accounts',
  summary: "compare days with the gateways' own books",
  examples: ['accounts days', 'accounts differences'],
  commands: [
    daysCommand,
    compareCommand,
    differencesCommand,
    explainCommand,
    mendCommand,
    verifyCommand,
    monthCommand,
    payoutsCommand,
    payoutCommand,
  ],
};

const movementsCommand: CommandSpec = {
  usage: 'movements',
  summary: 'print the movements of some days as CSV, one signed row for each',
  examples: [
    'export movements --from 2026-11-01 --to 2026-11-30 > november.csv',
    'export movements --from 2026-11-20 --to 2026-11-20 --gateway stripe --application shop',
  ],
  options: [
    requiredDay('from', 'the first day'),
    requiredDay('to', 'the last day'),
    gatewayOption(),
    option('--application <slug>', 'only of this application', 'of all'),
  ],
  findMisuse,
  run: async ({ options, operations, io }) => {
    const { lines, open } = await operations.accounts.exportMovements({
      from: String(options.from),
      to: String(options['to']),
      gateway: textOf(options['gateway']),
      application: textOf(options.application),
      test: null,
    });
    noteOpenDays(open, io);
    let rows = -1; // The first line has the names of the columns.
    for await (const part of lines) {
      rows += part.split('\r\n').length - 1;
      if (!(await io.write(part))) break;
    }
    // A mistyped year must not read as days without money.
    if (rows === 0) io.note('No movement was recorded for these days.');
    return { text: null, json: { open } };
  },
};

export const exportCommands: CommandGroup = {
  name: 'export',
  summary: 'print records for accountants',
  examples: ['export movements --from 2026-11-01 --to 2026-11-30 > november.csv'],
  commands: [movementsCommand, exportMonthCommand, exportPayoutCommand],
};
