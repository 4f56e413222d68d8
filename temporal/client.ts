import type { ConnectionOptions } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { currentTrace } from '../telemetry/log.ts';
import { tracedStarts } from './messages.ts';
import { limitHandshakes } from './handshake-guard.ts';

export interface TemporalConfig {
  connectionOptions: ConnectionOptions;
  namespace: string;
}

/** Of TLS and the engine's first word. Once it has spoken, pings find out in 45 s that it is gone. */
const engineHandshakeMs = 10_000;

/**
 * A client whose connection is made at the first call: the API answers creates and reads while the
 * engine is away.
 */
export const connectClient = (
  { connectionOptions, namespace }: TemporalConfig,
  { handshakeMs = engineHandshakeMs } = {},
): Client =>
  new Client({
    connection: Connection.lazy({
      ...connectionOptions,
      channelArgs: { ...connectionOptions.channelArgs, ...limitHandshakes(handshakeMs) },
    }),
    namespace,
    interceptors: { workflow: [tracedStarts(currentTrace)] },
  });
