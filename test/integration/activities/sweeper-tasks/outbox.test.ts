import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkflowOutbox } from '../../../../postgres/payments/workflow-outbox.ts';
import type { WorkflowCalls } from '../../../../temporal/workflow-calls.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';
import { until } from '../../../support/until.ts';
import { manyPayments, writePayments } from '../../../support/data/payments.ts';

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

const tasksWith = (start: WorkflowCalls['start']) =>
  sweeperTasksOn(records, {}, { workflows: { start } });

/** Outbox payments PAY_U1 (the oldest), PAY_U2 … */
const manyInOutbox = async (count: number) => {
  const payments = manyPayments(count, (n) => ({ id: `PAY_U${n}` }));
  await writePayments(records.sql, payments.toReversed());
  await records.sql`
    insert into workflow_outbox (payment_id, created_at)
    select id, now() - interval '1 hour' + substr(id, 6)::int * interval '1 second' from payments`;
};

const failingFor =
  (refused: string): WorkflowCalls['start'] =>
  async ({ id }) => {
    if (id === refused) throw new Error('refused');
  };

describe('startOutboxWorkflows', () => {
  it('starts outbox payments, and keeps those that it could not start', async () => {
    const old = { createdAt: new Date(Date.now() - 60_000) };
    const [first, second] = [await records.created(old), await records.created(old)];
    // Its API process may still be starting it.
    await records.created({ createdAt: new Date(Date.now() + 3_600_000) });
    await records.sql`
      update workflow_outbox o set created_at = p.created_at from payments p where p.id = o.payment_id`;
    const startable = new Set([first.id]);
    const { startOutboxWorkflows } = tasksWith(async ({ id }) => {
      if (!startable.has(id)) throw new Error('Temporal is away');
    });
    expect(await startOutboxWorkflows()).toBe(1);
    const left = async () => createWorkflowOutbox(records.sql).list({ limit: 9, age: '5 seconds' });
    expect(await left()).toMatchObject([{ id: second.id }]);
    await expect(startOutboxWorkflows()).rejects.toThrow('Temporal is away');
    startable.add(second.id);
    expect(await startOutboxWorkflows()).toBe(1);
    expect(await left()).toEqual([]);
  });

  it('continues to the end of the outbox if one start fails', async () => {
    await manyInOutbox(1_002);
    const { startOutboxWorkflows } = tasksWith(failingFor('PAY_U7'));
    expect(await startOutboxWorkflows()).toBe(1001);
    const left = await records.sql`select payment_id from workflow_outbox`;
    expect(left).toEqual([{ payment_id: 'PAY_U7' }]);
  });

  it('starts the oldest first, 50 at once', async () => {
    await manyInOutbox(501);
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    const begun: string[] = [];
    const { startOutboxWorkflows } = tasksWith(async ({ id }) => {
      begun.push(id);
      await promise;
    });
    const starting = startOutboxWorkflows();
    await until('the first have begun', () => begun.length > 0);
    expect(begun).toEqual(Array.from({ length: 50 }, (_, index) => `PAY_U${index + 1}`));
    answer();
    expect(await starting).toBe(501);
    expect(begun.at(-1)).toBe('PAY_U501');
  });

  it('leaves the rest to the next sweep if a whole batch fails, and does not fail: it has started some', async () => {
    await manyInOutbox(1_000);
    let tries = 0;
    const { startOutboxWorkflows } = tasksWith(async () => {
      tries += 1;
      if (tries > 500) throw new Error('Temporal is away');
    });
    expect(await startOutboxWorkflows()).toBe(500);
    expect(tries).toBe(1_000);
  });
});
