import type { Context } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { traceHeader } from '../contract/trace.ts';
import type { WorkerMetrics } from '../telemetry/metrics.ts';
import { logContext } from '../telemetry/log.ts';
import { sweepWorkflow } from '../temporal/messages.ts';

/** Around each activity: what its log lines carry, and what the sweep did. */
export const createActivityInterceptors =
  ({ swept, sweeperLastSuccess }: Pick<WorkerMetrics, 'swept' | 'sweeperLastSuccess'>) =>
  ({ info }: Context): ActivityInterceptors => {
    const [paymentId] = /PAY_\w+$/.exec(info.workflowExecution?.workflowId ?? '') ?? [];
    const facts: Record<string, string> = paymentId === undefined ? {} : { payment_id: paymentId };
    return {
      inbound: {
        async execute(input, next) {
          const trace = input.headers[traceHeader];
          if (trace) facts['trace_id'] = defaultPayloadConverter.fromPayload<string>(trace);
          const result = await logContext.run(facts, () => next(input));
          if (info.workflowType === sweepWorkflow) {
            const task = { task: info.activityType };
            sweeperLastSuccess.setToCurrentTime(task);
            if (typeof result === 'number') swept.inc(task, result);
          }
          return result;
        },
      },
      // What the SDK itself logs about an activity.
      outbound: { getLogAttributes: (input, next) => next({ ...input, ...facts }) },
    };
  };
