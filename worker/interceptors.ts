import type { Context } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { traceHeader } from '../contract/trace.ts';
import { logContext } from '../telemetry/log.ts';
import { paymentIdOf } from '../temporal/start-options.ts';

/** Gives the log lines of an activity its payment and its trace, also those of the SDK itself. */
export const createActivityInterceptors = ({ info }: Context): ActivityInterceptors => {
  const facts: Record<string, string> = {};
  const paymentId = paymentIdOf(info.workflowExecution?.workflowId ?? '');
  if (paymentId.startsWith('PAY_')) facts['payment_id'] = paymentId;
  return {
    inbound: {
      execute(input, next) {
        const trace = input.headers[traceHeader];
        if (trace) facts['trace_id'] = defaultPayloadConverter.fromPayload<string>(trace);
        return logContext.run(facts, () => next(input));
      },
    },
    outbound: { getLogAttributes: (input, next) => next({ ...input, ...facts }) },
  };
};
