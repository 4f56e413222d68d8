import type { ConnectionOptions } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { currentTrace } from '../process.ts';
import { tracedStarts } from '../workflows/messages.ts';

export interface TemporalConfig {
  connectionOptions: ConnectionOptions;
  namespace: string;
}

/**
 * A client whose connection is made at the first call: the API answers creates and reads while the
 * engine is away.
 */
export const connectClient = ({ connectionOptions, namespace }: TemporalConfig): Client =>
  new Client({
    connection: Connection.lazy(connectionOptions),
    namespace,
    interceptors: { workflow: [tracedStarts(currentTrace)] },
  });
