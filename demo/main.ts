import { DemoError } from './connection.ts';
import { journey } from './journey.ts';
import { findStack, startStack, type UsedStack } from './stack.ts';
import { terminal } from './terminal.ts';

/**
 * `npm run demo [-- CONNECTION_FILE]`: one payment, step by step, without a browser. The script names
 * the file of its own stack first; one that is given comes after it, and is meant.
 */
const run = async (connectionFile: string, signal: AbortSignal): Promise<void> => {
  const stack = (await findRunning(connectionFile)) ?? (await startOne(connectionFile, signal));
  try {
    signal.throwIfAborted();
    await Promise.race([journey(stack.connection, terminal), rejectOnAbort(signal)]);
  } finally {
    await stack.stop();
  }
};

const findRunning = async (connectionFile: string): Promise<UsedStack | undefined> => {
  const stack = await findStack(connectionFile);
  if (stack) console.log(`Using the stack that ${connectionFile} describes.`);
  return stack;
};

const startOne = (connectionFile: string, signal: AbortSignal): Promise<UsedStack> => {
  console.log('No stack is running: starting one, and stopping it at the end.\n');
  return startStack(connectionFile, signal);
};

const rejectOnAbort = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruption.abort());

try {
  await run(process.argv.slice(2).at(-1) ?? '.data/connection.json', interruption.signal);
  terminal.end('Paid, and told so by a signed webhook.');
  process.exit(0);
} catch (error) {
  if (interruption.signal.aborted) terminal.bad('Interrupted.');
  else if (error instanceof DemoError) terminal.bad(error.message);
  else console.error(error);
  process.exit(1);
}
