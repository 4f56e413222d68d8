import { Command, CommanderError } from 'commander';
import { version } from '../../contract/version.ts';
import { isPostgresUnavailable, isQueryCanceled } from '../../postgres/driver/error-codes.ts';
import { SetupError } from '../../process.ts';
import { Refusal } from '../operations/change.ts';
import { accountCommands, exportCommands } from './accounts.ts';
import { applicationCommands } from './applications.ts';
import { auditCommand } from './audit.ts';
import {
  type CliContext,
  type CommandGroup,
  type CommandSpec,
  createCommand,
  createGroup,
  Misuse,
  ReportedError,
} from './commands.ts';
import { consoleCommands } from './console.ts';
import { deliveryCommands } from './deliveries.ts';
import { disputeCommands } from './disputes.ts';
import { gatewayCommands } from './gateways.ts';
import { withoutControls } from './io.ts';
import { linkCommands } from './links.ts';
import { noticeCommands } from './notices.ts';
import { paymentCommands } from './payments.ts';
import { purgeCommand } from './purge.ts';
import { refundCommands } from './refunds.ts';
import { reconcileCommand } from './reconcile.ts';
import { secretCommands } from './secrets.ts';
import { tokenCommands } from './tokens.ts';
import { webhookCommands } from './webhook.ts';

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** Runs one line of the admin. Never throws. @returns the exit code */
export const runAdmin = async (given: CliContext, argv: readonly string[]): Promise<number> => {
  const context = { ...given, io: withoutControls(given.io) };
  try {
    await createProgram(context).parseAsync([...argv], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (error instanceof Misuse) {
      context.io.note(`error: ${error.message}\n(add --help to see the usage)`);
      return exitCodes.usage;
    }
    if (!(error instanceof ReportedError)) context.io.note(describeError(error));
    return exitCodes.failed;
  }
};

export const commands: readonly (CommandGroup | CommandSpec)[] = [
  applicationCommands,
  tokenCommands,
  secretCommands,
  gatewayCommands,
  noticeCommands,
  paymentCommands,
  deliveryCommands,
  refundCommands,
  disputeCommands,
  linkCommands,
  webhookCommands,
  reconcileCommand,
  accountCommands,
  exportCommands,
  purgeCommand,
  consoleCommands,
  auditCommand,
];

const createProgram = (context: CliContext): Command => {
  const program = new Command('npm run admin --')
    .description('Administers the payment service. Every change is recorded in an audit log.')
    .version(version, '--version', 'output the version of the service')
    .addHelpText('after', ['', 'Examples:', ...examples].join('\n'));
  for (const each of commands)
    program.addCommand(
      'commands' in each ? createGroup(context, each) : createCommand(context, each),
    );
  redirectOutput(program, context);
  return program;
};

const examples = [
  '  npm run admin -- applications list',
  '  npm run admin -- payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  '  npm run admin -- deliveries replay --application shop',
  '',
  'For programs: npm run --silent admin -- applications list --json',
  'Exit codes: 0 done, 1 refused or failed, 2 wrong usage.',
  'Without settings, it uses the stack that npm start runs in this folder.',
];

/** By default Commander ends the process and writes to the terminal itself. */
const redirectOutput = (made: Command, context: CliContext) => {
  made.exitOverride().configureOutput({
    writeOut: (text) => context.io.out(text.trimEnd()),
    writeErr: (text) => context.io.note(text.trimEnd()),
  });
  made.showHelpAfterError('(add --help to see the usage)');
  for (const each of made.commands) redirectOutput(each, context);
};

/** An error from elsewhere may quote anything. */
const messageMax = 2_000;

const describeError = (error: unknown): string => {
  if (error instanceof Refusal || error instanceof SetupError) return error.message;
  if (isQueryCanceled(error))
    return 'A statement exceeded its time limit: ask for less, or look in pg_stat_activity for what blocks it.';
  if (isPostgresUnavailable(error))
    return 'Could not connect to the database: start it, or correct DATABASE_URL (npm start runs one).';
  return `Failed: ${error instanceof Error ? withCause(error) : String(error)}`.slice(
    0,
    messageMax,
  );
};

/** The errors of Temporal's client name the call. Their causes name the reason. */
const withCause = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message} (${cause.message})` : message;
