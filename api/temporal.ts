import type { ConnectionOptions, WorkflowClientInterceptor } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { logContext } from '../process.ts';
import { traceHeaders } from '../workflows/messages.ts';

export interface TemporalConfig {
  connectionOptions: ConnectionOptions;
  namespace: string;
}

/** A workflow that a request starts carries the request's trace. */
const traced: WorkflowClientInterceptor = {
  start(input, next) {
    const trace = traceHeaders(logContext.getStore()?.['trace_id']);
    return next({ ...input, headers: { ...input.headers, ...trace } });
  },
};

/**
 * A client whose connection is made at the first call: the API answers creates and reads while the
 * engine is away.
 */
export const connectClient = ({ connectionOptions, namespace }: TemporalConfig): Client =>
  new Client({
    connection: Connection.lazy(connectionOptions),
    namespace,
    interceptors: { workflow: [traced] },
  });
