import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Connection, DemoError, readConnection } from './connection.ts';
import { parseJson, send } from './http.ts';

/** The first start may have to build Temporal; it shows its own progress. */
const startLimitMs = 50 * 60_000;
const stopLimitMs = 15_000;

const program = join(import.meta.dirname, '../stack/main.ts');

export interface UsedStack {
  connection: Connection;
  /** Stops the stack where it was started for the demo alone. */
  stop: () => Promise<void>;
}

/** The running stack that the file describes; undefined when none answers there. */
export const findStack = async (connectionFile: string): Promise<UsedStack | undefined> => {
  try {
    const connection = readConnection(connectionFile);
    return (await isUp(connection)) ? { connection, stop: async () => {} } : undefined;
  } catch (error) {
    // No file, or one that is of no use: the stack writes a new one when it starts.
    if (error instanceof DemoError) return undefined;
    throw error;
  }
};

/**
 * Starts a stack as `npm start` would, with its output on this terminal.
 * @throws DemoError when it ends, or is not up in time
 */
export const startStack = async (
  connectionFile: string,
  signal: AbortSignal,
): Promise<UsedStack> => {
  // The channel lets the stack notice should the demo be killed.
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, [program], { stdio: [...stdio] });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = () => stopStack(child, exited);
  try {
    const connection = await whenUp({ child, connectionFile, signal });
    return { connection, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

interface Starting {
  child: ChildProcess;
  connectionFile: string;
  signal: AbortSignal;
}

const whenUp = async ({ child, connectionFile, signal }: Starting): Promise<Connection> => {
  const until = Date.now() + startLimitMs;
  let saysReady = false;
  child.on('message', (message) => {
    if (message === 'ready') saysReady = true;
  });
  while (Date.now() < until) {
    signal.throwIfAborted();
    if (!isAlive(child)) throw new DemoError('The stack stopped before it was ready, see above.');
    if (saysReady) {
      const stack = await findStack(connectionFile);
      if (stack) return stack.connection;
      throw new DemoError(
        `The stack is up, but not where ${connectionFile} says: with another DATA_DIR, run "npm run demo -- DATA_DIR/connection.json".`,
      );
    }
    await sleep(200, undefined, { signal });
  }
  throw new DemoError(`The stack was not ready within ${startLimitMs / 60_000} minutes.`);
};

const isAlive = ({ exitCode, signalCode, pid }: ChildProcess) =>
  pid !== undefined && exitCode === null && signalCode === null;

const stopStack = async (child: ChildProcess, exited: Promise<void>) => {
  if (!isAlive(child)) return;
  child.kill('SIGINT');
  const timer = setTimeout(() => {
    console.error(`The stack did not stop within ${stopLimitMs / 1000} s and is killed.`);
    child.kill('SIGKILL');
  }, stopLimitMs);
  await exited;
  clearTimeout(timer);
};

const refusal = z.object({ error: z.object({ code: z.literal('PAYMENT_NOT_FOUND') }) });

/** Only this API knows this token, and that it has no such payment. */
const isUp = async ({ apiBaseUrl, token, shopUrl }: Connection): Promise<boolean> => {
  const [payment, shop] = await Promise.all([
    send(`${apiBaseUrl}/api/v1/payments/PAY_${'0'.repeat(26)}`, {
      headers: { authorization: `Bearer ${token}` },
    }),
    send(shopUrl),
  ]);
  const answers = payment.status === 404 && refusal.safeParse(parseJson(payment.text)).success;
  return answers && shop.status === 200;
};
