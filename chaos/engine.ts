import { Client, Connection } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Production } from '../tools/production/stack.ts';
import type { Violation } from './checks.ts';
import type { Created } from './wishes.ts';

/** The lists lag a little. */
const leastPatienceMs = 30_000;
const types = `WorkflowType IN ('payment', 'latePayment')`;

/** Where the engine does not agree that everything is over; what runs is waited for. */
export const engineProblems = async (
  payments: readonly Created[],
  { address, namespace }: Production['temporal'],
  patienceMs = 0,
): Promise<Violation[]> => {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    const running = `${types} AND ExecutionStatus = 'Running'`;
    const until = Date.now() + Math.max(patienceMs, leastPatienceMs);
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
