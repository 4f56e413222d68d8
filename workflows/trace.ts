import type { WorkflowInterceptors } from '@temporalio/workflow';
import { traceHeader } from '../contract/trace.ts';

/** Passes the trace of a payment's create request on to its activities and its continued runs. */
export const interceptors = (): WorkflowInterceptors => {
  let traceHeaders = {};
  const withTrace = <I extends { headers: object }>(input: I): I => ({
    ...input,
    headers: { ...input.headers, ...traceHeaders },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const trace = input.headers[traceHeader];
          if (trace) traceHeaders = { [traceHeader]: trace };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
};
