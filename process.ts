import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** The environment is not set up correctly. The message is shown to the operator without a stack. */
export class SetupError extends Error {}

/**
 * Starts listening; port 0 picks a free port.
 * @param where.variable the setting that changes the port, for the error message
 * @throws SetupError when the port is not available
 */
export const listen = async (
  server: Server,
  { host, port, variable }: { host: string; port: number; variable: string },
): Promise<AddressInfo> => {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new SetupError(
      `Could not listen on ${host}:${port} (${String(error)}): set ${variable} to a free port.`,
    );
  }
  return server.address() as AddressInfo; // A string only for pipes.
};

/**
 * Runs a long-lived process. `start` returns the function that stops it. The parent process gets the
 * message `ready`. SIGTERM, SIGINT and the end of the parent stop the process. A failed start prints one
 * sentence and exits with code 1.
 */
export const runProcess = async (start: () => Promise<() => Promise<void>>): Promise<void> => {
  let stopping = false;
  let stop = async () => {};
  const shutDown = async () => {
    if (stopping) return;
    stopping = true;
    await stop();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void shutDown());
  if (process.send) process.on('disconnect', () => void shutDown());
  try {
    stop = await start();
    process.send?.('ready');
  } catch (error) {
    printFailure(error);
    process.exit(1);
  }
};

/** Runs a program that does one thing and exits. A failure prints one sentence and sets `exitCode`. */
export const runOnce = async (work: () => Promise<void>, exitCode = 1): Promise<void> => {
  try {
    await work();
  } catch (error) {
    process.exitCode = exitCode;
    printFailure(error);
  }
  exitAfterOutput();
};

/**
 * Exits once all output is written. The process must not be left to end by itself: a call to Temporal
 * that waits for its retry throws from its timer after the connection is closed.
 */
export const exitAfterOutput = (): void => {
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
};

const printFailure = (error: unknown) => {
  console.error(error instanceof SetupError ? error.message : error);
};
