import { Client, Connection } from '@temporalio/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { findWorkflowProblems } from '../../../chaos/workflows.ts';
import { latePaymentWorkflow } from '../../../temporal/messages.ts';
import { latePaymentStartOptions } from '../../../temporal/start-options.ts';
import { aNamespace } from '../../support/runner/shared-temporal.ts';
import { until } from '../../support/until.ts';
import { aVisit } from '../../support/chaos/support.ts';

it('waits for a running search for a late payment, and reports that it did not complete', async () => {
  const temporal = { address: inject('sharedTemporal').address, namespace: aNamespace() };
  const connection = await Connection.connect({ address: temporal.address });
  onTestFinished(() => connection.close());
  const { payment } = await aVisit();
  const client = new Client({ connection, namespace: temporal.namespace });
  const search = await client.workflow.start(
    latePaymentWorkflow,
    latePaymentStartOptions(payment.id),
  );
  const query = `WorkflowType = '${latePaymentWorkflow}'`;
  const listed = async () => (await client.workflow.count(query)).count === 1;
  await until('it is listed', listed);

  const problems = findWorkflowProblems([payment], temporal, 5_000);
  await search.terminate();

  const text = `its workflow LATE_${payment.id} is TERMINATED`;
  expect(await problems).toEqual([{ order: payment.order, payment, text }]);
});
