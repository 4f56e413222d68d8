import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { PaymentWorkflows } from '../activities/payment-workflows.ts';
import { withinTrace } from '../telemetry/log.ts';
import {
  latePaymentStartOptions,
  latePaymentWorkflow,
  paymentRecheckOptions,
  paymentWorkflow,
  paymentStartOptions,
} from './messages.ts';

const deadlineMs = 5_000;

/** What activities do to payments' workflows. */
export const createPaymentWorkflows = (client: Client): PaymentWorkflows => ({
  async start(facts, { again, traceId }) {
    const start = () =>
      client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.start(paymentWorkflow, paymentStartOptions(facts, { again })),
      );
    try {
      // From there the client's interceptor has it.
      await withinTrace(traceId, start);
    } catch (error) {
      // It ran and ended: nothing is lost.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  },
  async tell(facts) {
    await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.signalWithStart(paymentWorkflow, paymentRecheckOptions(facts)),
    );
  },
  async startLate(paymentId) {
    await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.start(latePaymentWorkflow, latePaymentStartOptions(paymentId)),
    );
  },
});
