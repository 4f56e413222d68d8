import type { WorkflowClient } from '@temporalio/client';
import type { RefundStart, WorkflowStart } from '../contract/payment.ts';
import {
  paymentWorkflow,
  type RecheckRequest,
  refundWorkflow,
  type Workflows,
} from './messages.ts';
import { paymentStartOptions, refundStartOptions } from './start-options.ts';

/** The life of a payment, or that of a refund. */
export type LifeStart = WorkflowStart | RefundStart;

const isRefund = (start: LifeStart): start is RefundStart => typeof start.refundId === 'string';

/** Starts the workflow unless it runs, also after an earlier run. */
export const startLife = async (workflow: WorkflowClient, start: LifeStart): Promise<void> => {
  if (isRefund(start))
    await workflow.start<Workflows['refund']>(refundWorkflow, refundStartOptions(start));
  else
    await workflow.start<Workflows['payment']>(
      paymentWorkflow,
      paymentStartOptions(start, { restart: true }),
    );
};

/** The same with a signal. */
export const signalLife = async (
  workflow: WorkflowClient,
  start: LifeStart,
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
