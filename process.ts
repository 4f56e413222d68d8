import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { type Logger, pino } from 'pino';

export type { Logger };

/** What every log line of the current piece of work carries, e.g. request_id and payment_id. */
export const logContext = new AsyncLocalStorage<Record<string, string>>();

/** The trace that the current piece of work belongs to. */
export const currentTrace = (): string | undefined => logContext.getStore()?.['trace_id'];

/** Work of that trace; without one, of the trace that it is begun in. */
export const withinTrace = <T>(traceId: string | null | undefined, work: () => T): T =>
  traceId ? logContext.run({ ...logContext.getStore(), trace_id: traceId }, work) : work();

const flushEveryMs = 200;

/** A JSON line for each event on stdout, some at a time: a write for each would cost a tenth of the CPU. */
export const createLogger = (name: string, level: string): Logger => {
  const destination = pino.destination({
    dest: 1,
    minLength: 4096,
    maxLength: 1 << 22,
    sync: true,
  });
  // A full disk, or nobody who reads any more: the work goes on without a log.
  destination.on('error', () => {});
  setInterval(() => destination.flush(), flushEveryMs).unref();
  // Not flushSync(), which tries for ever and would keep the process from ending.
  process.once('exit', () => destination.flush());
  const timestamp = pino.stdTimeFunctions.isoTime;
  // A copy: the logger writes a line's own fields into it.
  const mixin = () => ({ ...logContext.getStore() });
  return pino({ name, level, timestamp, mixin, serializers: { err: told } }, destination);
};

/** Of a row that it refuses Postgres says all that is in it in `detail`: metadata may be personal. */
const told = (error: unknown): unknown =>
  error instanceof Error ? { ...pino.stdSerializers.err(error), detail: undefined } : error;

/** Something around the service is not as it must be: shown as its one sentence, without a stack. */
export class SetupError extends Error {}

/**
 * Begins to listen; port 0 is any free one.
 * @param where.variable what an admin sets to another port
 * @throws SetupError when the port cannot be had
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
      `Nothing can listen on ${host}:${port} (${String(error)}): set ${variable} to a free port.`,
    );
  }
  return server.address() as AddressInfo; // A string only for pipes.
};

/**
 * Runs an entry file: `start` brings everything up and gives back what takes it down again.
 * Tells a parent process when it is up, stops on SIGTERM, SIGINT and when the parent is gone.
 * A failed start is one sentence and exit code 1.
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
    showFailure(error);
    process.exit(1);
  }
};

/** Runs an entry file that does one thing and ends. A failure is one sentence and this exit code. */
export const runOnce = async (work: () => Promise<void>, failed = 1): Promise<void> => {
  try {
    await work();
  } catch (error) {
    process.exitCode = failed;
    showFailure(error);
  }
  leave();
};

/**
 * Ends the process once all that it said is out. It does not end by itself in good order where a call
 * waits to ask Temporal once more: that throws from its timer, as the connection is closed.
 */
export const leave = (): void => {
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
};

const showFailure = (error: unknown) => {
  console.error(error instanceof SetupError ? error.message : error);
};
