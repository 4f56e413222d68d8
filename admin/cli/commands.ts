import { Command, InvalidArgumentError, Option } from 'commander';
import type { Operations } from '../operations.ts';
import { Refusal } from '../change.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import { clean, jsonText } from './output.ts';

/** What every command is given. */
export interface CliContext {
  io: Io;
  /** Connects at the first use: help needs neither a database nor settings. */
  open: (actor: string | undefined) => Promise<Operations>;
}

/** The answer was shown already, and was a failure. */
export class ReportedError extends Error {}

interface CommonOptions {
  json?: boolean;
  as?: string;
  yes?: boolean;
}

export interface Spec {
  /** Name and arguments, as in the help. */
  usage: string;
  summary: string;
  /** Whole lines as they would be typed, without `npm run admin --`. */
  examples: readonly string[];
  options?: readonly Option[];
  /** Why these options are not understood together; null where they are. */
  misused?: (options: Readonly<Record<string, unknown>>) => string | null;
  /** Asks before it is done: it cannot be taken back. Null where nothing is changed. */
  irreversible?: (
    args: readonly string[],
    options: Readonly<Record<string, unknown>>,
  ) => string | null;
}

export interface Call {
  /** In the order of the usage; a variadic one is the rest. */
  args: readonly string[];
  options: Readonly<Record<string, unknown>>;
  operations: Operations;
  io: Io;
}

export const option = (flags: string, description: string): Option =>
  new Option(flags, description);

export const reason = (): Option => option('--reason <text>', 'why, for the audit log');

export const count = (max: number) => (text: string) => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
};

/** Where nobody is logged in `--as "$USER"` is empty: the audit log would name nobody. */
const someName = (text: string): string => {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It must name somebody.');
};

/** The longest list that is shown at once. */
export const listMax = 1_000;

export const limit = (): Option =>
  option('--limit <count>', 'how many at most').argParser(count(listMax)).default(50);

/** A list up to its limit. Where there is more, one who takes it for all of it is told so. */
export const listUpTo = async <T>(
  most: number,
  io: Io,
  ask: (limit: number) => Promise<T[]>,
): Promise<T[]> => {
  const found = await ask(most + 1);
  if (found.length > most)
    io.note(
      `There are more than these ${most}${most < listMax ? `: --limit takes up to ${listMax}` : ''}.`,
    );
  return found.slice(0, most);
};

/** The value of an option that was given as text. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** One command: parses, asks where it must, runs, and shows what came of it. */
export const command = (
  { io, open }: CliContext,
  { usage, summary, examples, options = [], misused, irreversible }: Spec,
  run: (call: Call) => Promise<Output>,
): Command => {
  const made = new Command(usage.split(' ', 1)[0]).summary(summary).description(summary);
  const [, ...args] = usage.split(' ');
  for (const argument of args) made.argument(argument);
  for (const each of options) made.addOption(each);
  made.option('--json', 'print JSON, for programs');
  made.addOption(
    option('--as <name>', 'who does it, for the audit log (default: your user name)').argParser(
      someName,
    ),
  );
  if (irreversible) made.option('--yes', 'do not ask');
  made.addHelpText('after', () => helpOf(examples));
  return made.action(async (...given: unknown[]) => {
    // Commander hands over the arguments, then the options, then itself.
    const values = (given.slice(0, -2) as (string | string[] | undefined)[]).flat();
    const texts = values.filter((value): value is string => value !== undefined);
    const parsed = made.opts<CommonOptions & Record<string, unknown>>();
    const misuse = misused?.(parsed) ?? null;
    if (misuse !== null) made.error(`error: ${misuse}`);
    const question = irreversible?.(texts, parsed) ?? null;
    if (question !== null && !parsed.yes) await confirm(io, question);
    const operations = await open(parsed.as);
    const { text, json, failed } = await run({ args: texts, options: parsed, operations, io });
    io.out(parsed.json ? jsonText(json) : text);
    if (failed) throw new ReportedError();
  });
};

const helpOf = (examples: readonly string[]): string =>
  ['', 'Examples:', ...examples.map((line) => `  npm run admin -- ${line}`)].join('\n');

const confirm = async (io: Io, what: string) => {
  if (!io.isInteractive)
    throw new Refusal(`${what} This cannot be taken back: add --yes to do it without a question.`);
  const answer = await io.ask(`${clean(what)} This cannot be taken back. Go on? (yes/no) `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Nothing was done.');
};

interface Group {
  name: string;
  summary: string;
  examples: readonly string[];
}

/** Commands under one word, e.g. `tokens issue`. */
export const group = (
  { name, summary, examples }: Group,
  commands: readonly Command[],
): Command => {
  const made = new Command(name).summary(summary).description(summary);
  for (const each of commands) made.addCommand(each);
  return made.addHelpText('after', () => helpOf(examples));
};
