import type { ConnectionOptions, WorkflowClientInterceptor } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { traceHeader } from '../contract/trace.ts';
import { logContext } from '../process.ts';

export interface TemporalConfig {
  connectionOptions: ConnectionOptions;
  namespace: string;
}

/** A workflow that a request starts carries the request's trace. */
const traced: WorkflowClientInterceptor = {
  start(input, next) {
    const trace = logContext.getStore()?.['trace_id'];
    if (trace === undefined) return next(input);
    const header = defaultPayloadConverter.toPayload(trace);
    return next({ ...input, headers: { ...input.headers, [traceHeader]: header } });
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
