import { Client, Connection } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Production } from '../test/production/stack.ts';
import type { Violation } from './checks.ts';
import type { Created } from './wishes.ts';

const patienceMs = 30_000;

/** Where the engine does not agree that everything is over: its lists lag a little. */
export const engineProblems = async (
  payments: readonly Created[],
  { address, namespace }: Production['temporal'],
): Promise<Violation[]> => {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    const query = `WorkflowType = 'payment' AND ExecutionStatus != 'Completed'`;
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(500))
      if ((await workflow.count(query)).count === 0) return [];
    const byId = new Map(payments.map((payment) => [payment.id, payment]));
    const problems: Violation[] = [];
    for await (const { workflowId, status } of workflow.list({ query })) {
      const payment = byId.get(workflowId);
      const text = `its workflow ${workflowId} is ${status.name}`;
      problems.push({ order: payment?.order ?? '', text, ...(payment && { payment }) });
    }
    return problems;
  } finally {
    await connection.close();
  }
};
