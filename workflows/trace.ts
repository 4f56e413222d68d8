import type { WorkflowInterceptors } from '@temporalio/workflow';
import { traceHeader } from '../contract/trace.ts';

/** Hands the trace of a payment's create on to its activities and to its further runs. */
export const interceptors = (): WorkflowInterceptors => {
  let carried = {};
  const carry = <I extends { headers: object }>(input: I): I => ({
    ...input,
    headers: { ...input.headers, ...carried },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const trace = input.headers[traceHeader];
          if (trace) carried = { [traceHeader]: trace };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(carry(input)),
        continueAsNew: (input, next) => next(carry(input)),
      },
    ],
  };
};
