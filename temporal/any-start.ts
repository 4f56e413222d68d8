import type { WorkflowClient, WorkflowStartOptions } from '@temporalio/client';
import type { EventStart, RefundStart, WorkflowStart } from '../contract/payment.ts';
import { eventWorkflow, paymentWorkflow, type RecheckRequest, refundWorkflow } from './messages.ts';
import { eventStartOptions, paymentStartOptions, refundStartOptions } from './start-options.ts';

/** The input for starting the workflow of a payment, that of a refund or that of an event. */
export type AnyStart = WorkflowStart | RefundStart | EventStart;

const isRefund = (start: AnyStart): start is RefundStart => typeof start.refundId === 'string';

const hasOwnEvent = (start: AnyStart): start is EventStart =>
  'ownEventId' in start && typeof start.ownEventId === 'string';

const workflowOf = (start: AnyStart): [type: string, options: WorkflowStartOptions] => {
  if (isRefund(start)) return [refundWorkflow, refundStartOptions(start)];
  if (hasOwnEvent(start)) return [eventWorkflow, eventStartOptions(start)];
  return [paymentWorkflow, paymentStartOptions(start, { restart: true })];
};

/** Starts the workflow unless it runs, also after an earlier run. */
export const startAny = async (workflow: WorkflowClient, start: AnyStart): Promise<void> => {
  await workflow.start(...workflowOf(start));
};

/** Signals the workflow, and starts it unless it runs. */
export const signalAny = async (
  workflow: WorkflowClient,
  start: AnyStart,
  signal: string,
  signalArgs: [RecheckRequest?] = [],
): Promise<void> => {
  const [type, options] = workflowOf(start);
  await workflow.signalWithStart(type, { ...options, signal, signalArgs });
};
