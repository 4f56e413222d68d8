#!/usr/bin/env node
import { inspect, parseArgs } from 'node:util';
import { Payments } from '../client.ts';
import { ApiError, PaymentsError } from '../errors.ts';
import { listEvents, replayEvent, showEvent } from './events.ts';
import { listen } from './listen.ts';
import type { Cli } from './output.ts';
import { printError, UsageError } from './output.ts';
import { outcomes, trigger } from './trigger.ts';

const usage = `example-payments: events and tests of the payments API on the command line

  example-payments listen --forward-to URL [--from 1h]   posts the events of a test token to a URL; r sends the last again
  example-payments listen --print-secret          prints the secret that listen signs with
  example-payments trigger OUTCOME [--order ID] [--minor-units N] [--currency EUR]
                          [--failure-code CODE]
                                                 makes a payment of the sandbox, and waits for its event.
                                                 600 minor units of EUR are 6.00 EUR; the default is 1000:
                                                 ${outcomes.join(', ')}
  example-payments events list [--delivery STATUS] [--payment ID] [--order ID] [--limit N] [--json]
  example-payments events show EVENT_ID
  example-payments events replay EVENT_ID [--live]

Settings: PAYMENTS_BASE_URL, and PAYMENTS_TOKEN or PAYMENTS_TOKEN_FILE. A token is never an argument, because
arguments are visible to other users of the machine.`;

const flags = {
  'forward-to': { type: 'string' },
  from: { type: 'string' },
  'print-secret': { type: 'boolean' },
  order: { type: 'string' },
  'minor-units': { type: 'string' },
  currency: { type: 'string' },
  'failure-code': { type: 'string' },
  delivery: { type: 'string' },
  payment: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
  live: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Command {
  run: (cli: Cli) => Promise<void>;
  /** The number of words after the command. */
  words: 0 | 1;
  flags: (keyof typeof flags)[];
}

const commands: Record<string, Command> = {
  listen: { run: listen, words: 0, flags: ['forward-to', 'from', 'print-secret'] },
  trigger: { run: trigger, words: 1, flags: ['order', 'minor-units', 'currency', 'failure-code'] },
  'events list': {
    run: listEvents,
    words: 0,
    flags: ['delivery', 'payment', 'order', 'limit', 'json'],
  },
  'events show': { run: showEvent, words: 1, flags: [] },
  'events replay': { run: replayEvent, words: 1, flags: ['live'] },
};

const readToken = async (): Promise<string> => {
  const { PAYMENTS_TOKEN: token, PAYMENTS_TOKEN_FILE: file } = process.env;
  if (token) return token;
  if (!file) throw new UsageError('PAYMENTS_TOKEN or PAYMENTS_TOKEN_FILE must be set.');
  const { readFile } = await import('node:fs/promises');
  return (await readFile(file, 'utf8')).trim();
};

const run = async (args: string[]): Promise<void> => {
  const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true });
  if (values.help || positionals.length === 0) return console.log(usage);
  const length = positionals[0] === 'events' ? 2 : 1;
  const name = positionals.slice(0, length).join(' ');
  const words = positionals.slice(length);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`There is no command ${name}: see example-payments --help.`);
  if (words.length !== command.words)
    throw new UsageError(
      `${name} ${command.words === 0 ? 'takes no word more' : 'needs one word more'}: see example-payments --help.`,
    );
  const foreign = Object.keys(values).find((flag) => !command.flags.some((own) => own === flag));
  if (foreign !== undefined) throw new UsageError(`${name} has no option --${foreign}.`);

  const baseUrl = process.env['PAYMENTS_BASE_URL'];
  if (!baseUrl) throw new UsageError('PAYMENTS_BASE_URL must be set.');
  const token = await readToken();
  const client = new Payments({ token, baseUrl, userAgent: 'payments-cli' });
  await command.run({ client, token, word: words[0] ?? '', flags: values });
};

try {
  await run(process.argv.slice(2));
} catch (error) {
  const isUsage =
    error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  const isKnown =
    isUsage || error instanceof PaymentsError || (error as { syscall?: string }).syscall;
  if (isKnown) printError((error as Error).message);
  else for (const line of inspect(error).split('\n')) printError(line);
  if (error instanceof ApiError)
    for (const { path, message } of error.details?.fields ?? [])
      printError(`  ${path}: ${message}`);
  process.exitCode = isUsage ? 2 : 1;
}
