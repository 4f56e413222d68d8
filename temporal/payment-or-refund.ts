import type { WorkflowClient } from '@temporalio/client';
import type { RefundStart, WorkflowStart } from '../contract/payment.ts';
import {
  paymentWorkflow,
  type RecheckRequest,
  refundWorkflow,
  type Workflows,
} from './messages.ts';
import { paymentStartOptions, refundStartOptions } from './start-options.ts';

/** The input for starting the workflow of a payment or that of a refund. */
export type PaymentOrRefundStart = WorkflowStart | RefundStart;

const isRefund = (start: PaymentOrRefundStart): start is RefundStart =>
  typeof start.refundId === 'string';

/** Starts the workflow unless it runs, also after an earlier run. */
export const startPaymentOrRefund = async (
  workflow: WorkflowClient,
  start: PaymentOrRefundStart,
): Promise<void> => {
  if (isRefund(start))
    await workflow.start<Workflows['refund']>(refundWorkflow, refundStartOptions(start));
  else
    await workflow.start<Workflows['payment']>(
      paymentWorkflow,
      paymentStartOptions(start, { restart: true }),
    );
};

/** Signals the workflow, and starts it unless it runs. */
export const signalPaymentOrRefund = async (
  workflow: WorkflowClient,
  start: PaymentOrRefundStart,
  signal: string,
  signalArgs: [RecheckRequest?] = [],
): Promise<void> => {
  if (isRefund(start))
    await workflow.signalWithStart<Workflows['refund'], [RecheckRequest?]>(refundWorkflow, {
      ...refundStartOptions(start),
      signal,
      signalArgs,
    });
  else
    await workflow.signalWithStart<Workflows['payment'], [RecheckRequest?]>(paymentWorkflow, {
      ...paymentStartOptions(start, { restart: true }),
      signal,
      signalArgs,
    });
};
