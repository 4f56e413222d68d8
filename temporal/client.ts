import type {
  ConnectionLike,
  ConnectionOptions,
  WorkflowClientInterceptor,
} from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { traceHeader } from '../contract/trace.ts';
import { currentTrace } from '../telemetry/log.ts';
import { limitHandshakes } from './handshake-guard.ts';

export interface TemporalConfig {
  connectionOptions: ConnectionOptions;
  namespace: string;
}

/** For TLS and the server's first bytes. Afterwards pings detect a lost server within 45 s. */
const defaultHandshakeMs = 10_000;

/**
 * A client that connects at its first call, so that the API answers creates and reads while Temporal is
 * unavailable.
 */
export const connectClient = (
  { connectionOptions, namespace }: TemporalConfig,
  { handshakeMs = defaultHandshakeMs } = {},
): Client =>
  createClient(
    Connection.lazy({
      ...connectionOptions,
      channelArgs: { ...connectionOptions.channelArgs, ...limitHandshakes(handshakeMs) },
    }),
    namespace,
  );

/** A client whose workflow starts carry the trace of the current piece of work. */
export const createClient = (connection: ConnectionLike, namespace: string): Client =>
  new Client({ connection, namespace, interceptors: { workflow: [traceStarts] } });

const traceStarts: WorkflowClientInterceptor = {
  start: (input, next) => next(withTrace(input)),
  signalWithStart: (input, next) => next(withTrace(input)),
};

const withTrace = <T extends { headers: Headers }>(input: T): T => {
  const trace = currentTrace();
  if (trace === undefined) return input;
  const header = defaultPayloadConverter.toPayload(trace);
  return { ...input, headers: { ...input.headers, [traceHeader]: header } };
};
