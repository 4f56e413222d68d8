import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { latePaymentWorkflow, paymentWorkflow, refundWorkflow } from '../temporal/messages.ts';
import type { Production } from '../tools/production/production.ts';
import type { Violation } from './evidence.ts';
import type { CreatedPayment } from './scenarios.ts';

/** Temporal's lists lag a little. */
const minWaitMs = 30_000;
const types = `WorkflowType IN ('${paymentWorkflow}', '${latePaymentWorkflow}', '${refundWorkflow}')`;

/** Waits for running workflows, and finds those that did not complete. */
export const findWorkflowProblems = async (
  payments: readonly CreatedPayment[],
  { address, namespace }: Production['temporal'],
  waitMs = 0,
): Promise<Violation[]> => {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    const running = `${types} AND ExecutionStatus = 'Running'`;
    const until = Date.now() + Math.max(waitMs, minWaitMs);
    while ((await workflow.count(running)).count > 0 && Date.now() < until) await sleep(500);
    const byId = new Map(payments.map((payment) => [payment.id, payment]));
    const problems: Violation[] = [];
    const query = `${types} AND ExecutionStatus != 'Completed'`;
    for await (const { workflowId, status } of workflow.list({ query })) {
      const payment = byId.get(workflowId.replace(/^LATE_/, ''));
      const text = `its workflow ${workflowId} is ${status.name}`;
      problems.push({ order: payment?.order ?? '', text, ...(payment && { payment }) });
    }
    return problems;
  } finally {
    await connection.close();
  }
};
