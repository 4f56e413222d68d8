import { Client, Connection } from '@temporalio/client';
import type { ApiConfig } from '../config.ts';

/**
 * A client whose connection is made at the first call: the API answers creates and reads while the
 * engine is away.
 */
export const connectClient = ({ connectionOptions, namespace }: ApiConfig['temporal']): Client =>
  new Client({ connection: Connection.lazy(connectionOptions), namespace });
