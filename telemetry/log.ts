import { AsyncLocalStorage } from 'node:async_hooks';
import { type Logger, pino } from 'pino';
import { escapeJson } from '../contract/terminal-text.ts';

export type { Logger };

/** Fields that every log line of the current request or activity carries, e.g. `payment_id`. */
export const logContext = new AsyncLocalStorage<Record<string, string>>();

/** The trace id of the current request or activity. */
export const currentTrace = (): string | undefined => logContext.getStore()?.['trace_id'];

/** Runs `work` with this trace id; without one, with the current trace id. */
export const withinTrace = <T>(traceId: string | null | undefined, work: () => T): T =>
  traceId ? logContext.run({ ...logContext.getStore(), trace_id: traceId }, work) : work();

/** A longer line is cut. Text of others in it has no length of its own: messages of gateways, headers, field names. */
const lineMax = 16_384;
const textMax = 2_000;
const entriesMax = 50;

/** The same line without controls of a terminal, which JSON leaves as they are beyond the first 32, and not too long. */
const safeLine = (line: string): string => escapeJson(line.length > lineMax ? cutLine(line) : line);

const cutLine = (line: string): string => `${JSON.stringify(JSON.parse(line, cutLong))}\n`;

const cutLong = (_key: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, entriesMax);
  if (typeof value === 'string' && value.length > textMax)
    return `${value.slice(0, textMax).toWellFormed()} …`;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).slice(0, entriesMax));
  return value;
};

const flushEveryMs = 200;

/** Writes JSON lines to stdout, buffered: one write per line costs a tenth of the CPU. */
export const createLogger = (name: string, level: string): Logger => {
  const destination = pino.destination({
    dest: 1,
    minLength: 4096,
    maxLength: 1 << 22,
    sync: true,
  });
  // The process keeps working without a log when the disk is full or the reader is gone.
  destination.on('error', () => {});
  setInterval(() => destination.flush(), flushEveryMs).unref();
  // Not flushSync(): it retries without end, and the process could not exit.
  process.once('exit', () => destination.flush());
  const timestamp = pino.stdTimeFunctions.isoTime;
  // A copy: pino writes the fields of the line into this object.
  const mixin = () => ({ ...logContext.getStore() });
  const serializers = { err: serializeError };
  const hooks = { streamWrite: safeLine };
  return pino({ name, level, timestamp, mixin, serializers, hooks }, destination);
};

/**
 * Drops the `detail` of Postgres's errors, which quotes the rejected row, and the `details` of ours, which name what a caller sent:
 * both may hold personal data.
 */
const serializeError = (error: unknown): unknown =>
  error instanceof Error
    ? { ...pino.stdSerializers.err(error), detail: undefined, details: undefined }
    : error;
