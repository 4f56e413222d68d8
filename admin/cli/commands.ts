import { Command, InvalidArgumentError, Option } from 'commander';
import { amountBounds, parseMoney } from '../../contract/money.ts';
import { hourMs } from '../../contract/time.ts';
import { parseWholeNumber } from '../../contract/whole-number.ts';
import { hasSecret, Refusal } from '../operations/change.ts';
import type { Operations } from '../operations/operations.ts';
import type { Io } from './io.ts';
import { jsonText, type Output } from './output.ts';

export interface CliContext {
  io: Io;
  /** Connects at the first use: help needs neither a database nor settings. */
  open: (actor: string | undefined) => Promise<Operations>;
  /** From now on the first Ctrl-C aborts the signal and not the process. The second one ends the process. */
  interruption: () => AbortSignal;
}

/** The output was printed and reports a failure, so the exit code is 1. */
export class ReportedError extends Error {}

/** The line is wrong for what it names: the exit code is that of wrong usage. */
export class Misuse extends Error {}

export type Options = Readonly<Record<string, unknown>>;

interface CommonOptions {
  json?: boolean;
  as?: string;
  yes?: boolean;
}

export interface CommandSpec {
  /** Name and arguments, as the help shows them. */
  usage: string;
  /** Another name of the command. */
  alias?: string;
  summary: string;
  /** Whole lines without `npm run admin --`. */
  examples: readonly string[];
  options?: readonly Option[];
  /** Returns why the options cannot be used together; null if they can. */
  findMisuse?: (options: Options, args: readonly string[]) => string | null;
  /** Looks up what the question names. Returns further options. @throws Misuse, Refusal */
  prepare?: (call: Pick<Call, 'args' | 'options' | 'operations'>) => Promise<Options>;
  /** Returns the sentence that the admin confirms; null if the call changes nothing. */
  describeChange?: (args: readonly string[], options: Options) => string | null;
  /** Returns what the change does to the payments to come, which the admin confirms; null: nothing to say. @throws Refusal */
  findConsequences?: (
    call: Pick<Call, 'args' | 'options' | 'operations'>,
  ) => Promise<string | null>;
  run: (call: Call) => Promise<Output>;
}

/** Commands under one word, e.g. `tokens issue`. */
export interface CommandGroup extends Pick<CommandSpec, 'summary' | 'examples'> {
  name: string;
  commands: readonly CommandSpec[];
}

export interface Call {
  /** In the order of the usage. A variadic argument is the rest. */
  args: readonly string[];
  options: Options;
  /** The value of `reasonOption`. */
  reason: string | null;
  /** Gets a list as long as `limitOption` says, else the longest, and prints a note if there is more. */
  list: <T>(find: (limit: number) => Promise<T[]>) => Promise<T[]>;
  operations: Operations;
  io: Io;
  interruption: CliContext['interruption'];
}

/** @param otherwise what counts without the option */
export const option = (flags: string, description: string, otherwise?: string): Option =>
  new Option(
    flags,
    otherwise === undefined ? description : `${description} (default: ${otherwise})`,
  );

export const required = (flags: string, description: string): Option =>
  new Option(flags, `${description} (required)`).makeOptionMandatory();

export const reasonOption = (): Option =>
  option('--reason <text>', 'why, for the audit log', 'none');
export const requiredReason = (): Option => required('--reason <text>', 'why, for the audit log');

/** The reason of a command that needs one. @throws Refusal */
export const givenReason = (reason: string | null): string => {
  if (reason === null) throw new Refusal('Say why with --reason.');
  return reason;
};

/** Parses a whole number from 1 to `max`. */
export const count = (max: number) => (text: string) => {
  const value = parseWholeNumber(text, { min: 1, max });
  if (value !== undefined) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}, written in digits.`);
};

/** No time zone is more than 14 hours ahead. */
const mostAheadMs = 14 * hourMs;

/**
 * Why a period holds nothing; null if it may hold something. Days and times in ISO 8601 have the order of their texts.
 */
export const findEmptyPeriod = (from: string | null, to: string | null = null): string | null => {
  if (from !== null && to !== null && to < from) return `--to ${to} is before --from ${from}`;
  const isAhead = from !== null && Date.parse(from) > Date.now() + mostAheadMs;
  return isAhead ? `${from} is in the future` : null;
};

/** The number of a thing, as a list shows it. The error does not quote it: it may be a secret. @throws Misuse */
export const numberArgument = (text: string, what: string): number => {
  const value = parseWholeNumber(text, { min: 1, max: Number.MAX_SAFE_INTEGER });
  if (value !== undefined) return value;
  throw new Misuse(`It must be the number of ${what}, written in digits.`);
};

/** Parses money with its currency. */
export const moneyArgument = (text: string): { amount: number; currency: string } =>
  readMoney(text, '.');

const parseTypedMoney = (text: string) => readMoney(text, ', or --minor-units.');

/** @param otherwise ends the advice */
const readMoney = (text: string, otherwise: string): { amount: number; currency: string } => {
  const money = parseMoney(text);
  if (!('problem' in money)) return money;
  throw new InvalidArgumentError(
    `${money.problem} Write money with its currency ("6.00 EUR")${otherwise}`,
  );
};

const parseMinorUnits = (text: string): number => {
  const amount = parseWholeNumber(text, amountBounds);
  if (amount !== undefined) return amount;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${amountBounds.max}, written in digits: cents of EUR. Or write --amount "6.00 EUR".`,
  );
};

/** Two options for an amount. No bare number says which of them it means. */
export const amountOptions = (what: string, otherwise: string): Option[] => [
  option('--amount <money>', `${what}, like "6.00 EUR"`, otherwise)
    .argParser(parseTypedMoney)
    .conflicts('minorUnits'),
  option(
    '--minor-units <number>',
    'the same in minor units of the currency, like 600',
    'see --amount',
  ).argParser(parseMinorUnits),
];

/** The value of `amountOptions` in minor units; null without it. */
export const amountIn = (options: Options): number | null =>
  (options['minorUnits'] as number | undefined) ?? typedMoneyIn(options)?.amount ?? null;

const typedMoneyIn = (options: Options) =>
  options['amount'] as ReturnType<typeof parseTypedMoney> | undefined;

/** Why the value of `amountOptions` is none of this currency; null if it is. */
export const findForeignAmount = (options: Options, currency: string, owner: string) => {
  const given = typedMoneyIn(options)?.currency ?? currency;
  return given === currency ? null : `${owner} is in ${currency}, and the amount in ${given}`;
};

/** `--as "$USER"` may be empty. The audit log needs a name. */
const actor = (text: string): string => {
  if (text.trim() !== '' && text.length <= actorMax && !hasSecret(text)) return text;
  throw new InvalidArgumentError(`It must be a name of 1 to ${actorMax} characters.`);
};
const actorMax = 100;

/** The longest list that a command prints. */
const listMax = 1_000;

export const limitOption = (): Option =>
  option('--limit <count>', 'maximum of rows').argParser(count(listMax)).default(50);

/** The value of an option that takes a text; null without it. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Makes one command: it parses, asks for a confirmation, runs and prints the output. */
export const createCommand = (
  { io, open, interruption }: CliContext,
  {
    usage,
    alias,
    summary,
    examples,
    options = [],
    findMisuse,
    prepare,
    describeChange,
    findConsequences,
    run,
  }: CommandSpec,
): Command => {
  const [name, ...args] = usage.split(' ');
  const made = new Command(name).summary(summary).description(summary);
  if (alias !== undefined) made.alias(alias);
  for (const argument of args) made.argument(argument);
  for (const each of options) made.addOption(each);
  made.option('--json', 'print JSON, for programs');
  made.addOption(
    option('--as <name>', 'your name in the audit log (default: your user name)').argParser(actor),
  );
  if (describeChange ?? findConsequences) made.option('--yes', 'do not ask for a confirmation');
  takeEachOnce(made);
  made.addHelpText('after', () => formatExamples(examples));
  return made.action(async (...given: unknown[]) => {
    // Commander passes the arguments, then the options, then the command.
    const values = (given.slice(0, -2) as (string | string[] | undefined)[]).flat();
    const texts = values.filter((value): value is string => value !== undefined);
    const parsed = made.opts<CommonOptions & Record<string, unknown>>();
    const misuse = findMisuse?.(parsed, texts) ?? null;
    if (misuse !== null) throw new Misuse(misuse);
    let opened: Promise<Operations> | undefined;
    const operations = () => (opened ??= open(parsed.as));
    const prepared = prepare
      ? await prepare({ args: texts, options: parsed, operations: await operations() })
      : {};
    const completed = { ...parsed, ...prepared };
    if (!parsed.yes) {
      const change = describeChange?.(texts, completed);
      const final = change && `${change} This cannot be undone.`;
      // A script is refused anyway, so nothing is looked up for it.
      if (final && !io.isInteractive) await confirm(io, final);
      const call = { args: texts, options: completed };
      const consequences =
        findConsequences && (await findConsequences({ ...call, operations: await operations() }));
      const parts = [consequences, final].filter(Boolean);
      if (parts.length > 0) await confirm(io, parts.join(' '));
    }
    const { text, json, note, failed, error } = await run({
      args: texts,
      options: completed,
      reason: textOf(parsed['reason']),
      list: (find) => listUpTo(Number(parsed['limit'] ?? listMax), io, find),
      operations: await operations(),
      io,
      interruption,
    });
    if (text !== null) io.out(parsed.json ? jsonText(json) : text);
    if (note !== undefined && io.isInteractive) io.note(note);
    if (error !== undefined) throw error;
    if (failed) throw new ReportedError();
  });
};

/** Commander takes the last value of an option and forgets the others. An empty value comes from a variable that is not set. */
const takeEachOnce = (made: Command): void => {
  const given = new Set<string>();
  for (const each of made.options) {
    if (each.variadic || !(each.required || each.negate)) continue;
    const flag = `--${each.name()}`;
    made.on(`option:${each.name()}`, (value: string | undefined) => {
      if (given.has(each.attributeName())) throw new Misuse(`${flag} is given more than once`);
      given.add(each.attributeName());
      if (value?.trim() === '') throw new Misuse(`${flag} has no value`);
    });
  }
};

const listUpTo = async <T>(
  max: number,
  io: Io,
  find: (limit: number) => Promise<T[]>,
): Promise<T[]> => {
  const found = await find(max + 1);
  if (found.length > max) {
    const advice = max < listMax ? `; --limit takes up to ${listMax}` : '';
    io.note(`There are more than ${max}${advice}.`);
  }
  return found.slice(0, max);
};

const formatExamples = (examples: readonly string[]): string =>
  ['', 'Examples:', ...examples.map((line) => `  npm run admin -- ${line}`)].join('\n');

const confirm = async (io: Io, change: string) => {
  if (!io.isInteractive) throw new Refusal(`${change} Add --yes to confirm it.`);
  const answer = await io.ask(`${change} Continue? (yes/no) `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Nothing was done.');
};

export const createGroup = (
  context: CliContext,
  { name, summary, examples, commands }: CommandGroup,
): Command => {
  const made = new Command(name).summary(summary).description(summary);
  for (const each of commands) made.addCommand(createCommand(context, each));
  return made.addHelpText('after', () => formatExamples(examples));
};
