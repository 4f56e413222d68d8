import { readStackConfig } from '../config.ts';
import { terminalText } from '../contract/terminal-text.ts';
import { SetupError } from '../process.ts';
import type { ConnectionFile } from './connection-file.ts';
import { createStack, type Programs, type Stack } from './stack.ts';
import { createTerminal } from './terminal.ts';

const stopLimitMs = 9500;
/** npm forwards a Ctrl-C that the terminal has already sent to us. */
const sameSignalMs = 1000;

/** Runs `npm start` from the first moment to the last. A failure is one sentence and exit code 1. */
export const runStack = async (programs: Programs): Promise<void> => {
  const startedAt = Date.now();
  let stack: Stack | undefined;
  let stoppingSince: number | undefined;
  const terminal = createTerminal((line) => {
    // While everything stops, failures are expected.
    if (stoppingSince === undefined) console.log(line);
  });

  const kill = () => {
    stack?.kill();
    process.exit(1);
  };
  const stop = async (code: number) => {
    stoppingSince = Date.now();
    setTimeout(kill, stopLimitMs).unref();
    await stack?.stop().catch((error: unknown) => printError(formatError(error)));
    process.exit(code);
  };
  const fail = (reason: string) => {
    if (stoppingSince !== undefined) return;
    printError(reason);
    void stop(1);
  };
  const onSignal = () => {
    if (stoppingSince === undefined) {
      console.log('Stopping …');
      void stop(0);
    } else if (Date.now() - stoppingSince > sameSignalMs) kill();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  if (process.send) process.on('disconnect', onSignal);
  process.on('uncaughtException', (error) => fail(formatError(error)));
  // A closed terminal must not keep the stack from stopping its processes.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  try {
    const config = readStackConfig();
    stack = createStack({ config, programs, terminal, onDeath: fail });
    terminal.say(
      'Starting Postgres, Temporal, the API, the worker, the console and the demo shop …',
    );
    const connection = await stack.start();
    const consoleLink = await stack.consoleLink(connection);
    if (stoppingSince !== undefined) return;
    const { DATA_DIR: dataDir } = config;
    terminal.say(formatBanner(connection, { dataDir, startedAt, consoleLink }));
    process.send?.('ready');
  } catch (error) {
    fail(formatError(error));
  }
};

const printError = (text: string) => console.error(terminalText(text));

const isDiskFull = (code: unknown) => ['ENOSPC', 'EDQUOT', '53100'].includes(String(code));

const formatError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SetupError) return error.message;
  if ('code' in error && isDiskFull(error.code))
    return `${error.message}: make room, or set DATA_DIR and CACHE_DIR to places that have it.`;
  if ('syscall' in error && 'path' in error)
    return `${error.message}: make that place writable, or set DATA_DIR and CACHE_DIR to others.`;
  return error.stack ?? error.message;
};

/** The list of the payments' workflows. */
const formatTemporalUi = (connection: ConnectionFile): string =>
  connection.temporal_ui_url
    ? `${connection.temporal_ui_url}/namespaces/${connection.temporal_namespace}/workflows?query=WorkflowType%3D%27payment%27`
    : `of your server at ${connection.temporal_address}`;

const formatBanner = (
  connection: ConnectionFile,
  { dataDir, startedAt, consoleLink }: { dataDir: string; startedAt: number; consoleLink: string },
): string => `
Ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s.

  Demo shop     ${connection.shop_url}
  Its mailbox   ${connection.shop_url}/mailbox
  API           ${connection.api_base_url}/api/v1
  API docs      ${connection.api_base_url}/api/v1/docs
  Console       ${consoleLink}
                once and within 15 minutes; npm run admin -- console login prints another link;
                the shop's payments are tests: choose Test in its head
  Temporal UI   ${formatTemporalUi(connection)}
  Logs          ${dataDir}/logs

Create a payment:

  curl -X POST ${connection.api_base_url}/api/v1/payments \\
    -H 'Authorization: Bearer ${connection.token}' -H 'Content-Type: application/json' \\
    -d '{"order_id": "order-1", "amount": 1250, "currency": "EUR"}'

All addresses and credentials are in ${dataDir}/connection.json. Ctrl-C stops everything.`;
