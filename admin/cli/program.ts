import { Command, CommanderError } from 'commander';
import { isPostgresUnavailable, isQueryCanceled } from '../../postgres/driver/error-codes.ts';
import { SetupError } from '../../process.ts';
import { Refusal } from '../change.ts';
import { secretCommands, tokenCommands } from './access.ts';
import { applicationCommands } from './applications.ts';
import type { CliContext } from './commands.ts';
import { ReportedError } from './commands.ts';
import { gatewayCommands } from './gateways.ts';
import { auditCommand, purgeCommand, webhookCommands } from './others.ts';
import { clean } from './output.ts';
import { deliveryCommands, paymentCommands } from './payments.ts';
import { reconcileCommand } from './reconcile.ts';

/** Done; refused or failed; not understood. */
const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one line of the admin. Never throws. @returns the exit code */
export const runAdmin = async (around: CliContext, argv: readonly string[]): Promise<number> => {
  try {
    await createProgram(around).parseAsync([...argv], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (!(error instanceof ReportedError)) around.io.note(sentenceOf(error));
    return exitCodes.failed;
  }
};

const createProgram = (around: CliContext): Command => {
  const program = new Command('npm run admin --')
    .description('Administers the payment service. Every change is written into an audit log.')
    .addHelpText('after', ['', 'Examples:', ...examples].join('\n'));
  for (const add of [
    applicationCommands,
    tokenCommands,
    secretCommands,
    gatewayCommands,
    paymentCommands,
    deliveryCommands,
    webhookCommands,
    reconcileCommand,
    purgeCommand,
    auditCommand,
  ])
    program.addCommand(add(around));
  settle(program, around);
  return program;
};

const examples = [
  '  npm run admin -- applications list',
  '  npm run admin -- payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  '  npm run admin -- deliveries retrigger --application shop',
  '',
  'For programs: npm run --silent admin -- applications list --json',
  'Exit codes: 0 done, 1 refused or failed, 2 not understood.',
  'Without settings it uses the stack that npm start has brought up here.',
];

/** Commander ends the process and writes by itself otherwise. */
const settle = (made: Command, around: CliContext) => {
  made.exitOverride().configureOutput({
    writeOut: (text) => around.io.out(text.trimEnd()),
    // What was typed wrongly may hold anything.
    writeErr: (text) => around.io.note(cleanLines(text.trimEnd())),
  });
  made.showHelpAfterError('(add --help for how to use it)');
  for (const each of made.commands) settle(each, around);
};

const cleanLines = (text: string): string => text.split('\n').map(clean).join('\n');

const sentenceOf = (error: unknown): string => {
  if (error instanceof Refusal || error instanceof SetupError) return cleanLines(error.message);
  if (isQueryCanceled(error))
    return 'A statement took longer than the database is given: ask for less, or see in pg_stat_activity what holds it up.';
  if (isPostgresUnavailable(error))
    return 'The database cannot be reached: start it, or correct DATABASE_URL (npm start brings up its own).';
  return clean(`It failed: ${error instanceof Error ? withCause(error) : String(error)}`);
};

/** Temporal's client says what it could not do; why, what was sent or answered says below it. */
const withCause = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message} (${cause.message})` : message;
