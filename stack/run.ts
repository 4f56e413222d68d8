import { readStackConfig } from '../config.ts';
import { SetupError } from '../process.ts';
import type { ConnectionFacts } from './connection-file.ts';
import type { Entries } from './services.ts';
import { createStack, type Stack } from './stack.ts';
import { createTerminal } from './terminal.ts';

const ours: Entries = {
  api: 'api/main.ts',
  worker: 'worker/main.ts',
  bundle: 'worker/bundle.ts',
  shop: 'demo/shop.ts',
};

/** The whole life of `npm start`. Exit code 1 and one sentence when it cannot go on. */
export const runStack = async (entries: Entries = ours): Promise<void> => {
  const terminal = createTerminal();
  const startedAt = Date.now();
  const life = createLife(terminal.say);
  // Before anything is started: there is no moment at which a signal would leave something behind.
  listenToSignals(life, terminal.say);
  try {
    const config = readStackConfig();
    const stack = createStack({ config, terminal, entries, giveUp: life.fail });
    life.begin(stack);
    // Databases and logs tell of payments; as root, others may pass through the folder they are in.
    process.umask(0o077);
    const facts = await stack.start();
    if (life.isEnding()) return;
    terminal.say(banner(facts, { dataDir: config.DATA_DIR, tookMs: Date.now() - startedAt }));
    process.send?.('ready');
  } catch (error) {
    // A start that was called off fails for that reason alone.
    if (!life.isEnding()) life.fail(sentenceOf(error));
  }
};

interface Life {
  begin: (stack: Stack) => void;
  isEnding: () => boolean;
  /** Stops all and ends with code 0; asked again after a while it kills all. */
  end: () => void;
  fail: (reason: string) => void;
}

const longestStopMs = 9500;
// npm passes on a Ctrl-C that the terminal has sent us as well.
const sameAskingMs = 1000;

const createLife = (say: (line: string) => void): Life => {
  let stack: Stack | undefined;
  let endingSince: number | undefined;
  const force = () => {
    stack?.kill();
    process.exit(1);
  };
  const leave = async (code: number) => {
    if (endingSince !== undefined) return;
    endingSince = Date.now();
    setTimeout(force, longestStopMs).unref();
    await stack?.stop().catch((error: unknown) => say(sentenceOf(error)));
    process.exit(code);
  };
  return {
    begin: (started) => (stack = started),
    isEnding: () => endingSince !== undefined,
    end: () => {
      if (endingSince !== undefined && Date.now() - endingSince > sameAskingMs) force();
      void leave(0);
    },
    fail: (reason) => {
      if (endingSince === undefined) console.error(reason);
      void leave(1);
    },
  };
};

const listenToSignals = (life: Life, say: (line: string) => void) => {
  const end = () => {
    if (!life.isEnding()) say('Stopping …');
    life.end();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  if (process.send) process.on('disconnect', end);
  // A fault of ours must not leave the children behind.
  process.on('uncaughtException', (error) => life.fail(sentenceOf(error)));
  // A terminal that is gone must not keep the rest from being stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
};

/** Of a full disk, as the system and Postgres tell of it. */
const full: readonly unknown[] = ['ENOSPC', 'EDQUOT', '53100'];

const sentenceOf = (error: unknown): string => {
  if (error instanceof SetupError) return error.message;
  if (error instanceof Error && 'code' in error && full.includes(error.code))
    return `${error.message}: make room, or set DATA_DIR and CACHE_DIR to places that have it.`;
  if (error instanceof Error && 'syscall' in error && 'path' in error)
    return `${error.message}: make that place writable, or set DATA_DIR and CACHE_DIR to ones that are.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

const banner = (
  facts: ConnectionFacts,
  { dataDir, tookMs }: { dataDir: string; tookMs: number },
): string => `
Ready after ${(tookMs / 1000).toFixed(1)} s.

  Demo shop     ${facts.shop_url}
  API           ${facts.api_base_url}/api/v1
  API docs      ${facts.api_base_url}/api/v1/docs
  Temporal UI   ${facts.temporal_ui_url ?? `of your server at ${facts.temporal_address}`}
  Logs          ${dataDir}/logs

Create a payment:

  curl -X POST ${facts.api_base_url}/api/v1/payments \\
    -H 'Authorization: Bearer ${facts.token}' -H 'Content-Type: application/json' \\
    -d '{"order_id": "order-1", "amount": 1250, "currency": "EUR"}'

The same facts are in ${dataDir}/connection.json. Ctrl-C stops everything.`;
