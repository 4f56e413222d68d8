import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PaymentWorkflows } from '../../../activities/payment-workflows.ts';
import { createWorkflowOutbox } from '../../../postgres/workflow-outbox.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { sweepOn } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

const createSweep = (workflows?: Partial<PaymentWorkflows>) => sweepOn(records, {}, workflows);

const manyUnstarted = (count: number) => records.sql`
  with many as (
    insert into payments (id, application, test, order_id, status, amount, currency, gateway,
      callback_url, metadata, expires_at, created_at, updated_at)
    select 'PAY_U' || n, 'shop', true, 'o', 'pending', 1250, 'EUR', 'sandbox',
      'https://shop.example', '{}', now() + interval '1 hour', now(), now()
    from generate_series(${count}, 1, -1) n
    returning id
  )
  insert into workflow_outbox (payment_id, created_at)
  select id, now() - interval '1 hour' + substr(id, 6)::int * interval '1 second' from many`;

const refusing = (refused: string): Partial<PaymentWorkflows> => ({
  async start({ id }) {
    if (id === refused) throw new Error('refused');
  },
});

describe('startOutboxWorkflows', () => {
  it('starts what was not started, and keeps what could not be', async () => {
    const old = { createdAt: new Date(Date.now() - 60_000) };
    const [first, second] = [await records.created(old), await records.created(old)];
    // Its API process has its time, however long this takes.
    await records.created({ createdAt: new Date(Date.now() + 3_600_000) });
    const startable = new Set([first.id]);
    const { startOutboxWorkflows } = createSweep({
      async start({ id }, { again }) {
        expect(again).toBe(false);
        if (!startable.has(id)) throw new Error('the engine is away');
      },
    });
    expect(await startOutboxWorkflows()).toBe(1);
    const left = async () => createWorkflowOutbox(records.sql).list({ limit: 9, age: '5 seconds' });
    expect(await left()).toMatchObject([{ id: second.id }]);
    await expect(startOutboxWorkflows()).rejects.toThrow('the engine is away');
    startable.add(second.id);
    expect(await startOutboxWorkflows()).toBe(1);
    expect(await left()).toEqual([]);
  });

  it('goes on to the end of the list though one in its first batch fails', async () => {
    await manyUnstarted(1_002);
    const { startOutboxWorkflows } = createSweep(refusing('PAY_U7'));
    expect(await startOutboxWorkflows()).toBe(1001);
    const left = await records.sql`select payment_id from workflow_outbox`;
    expect(left).toEqual([{ payment_id: 'PAY_U7' }]);
  });

  it('begins with the oldest, 50 at once', async () => {
    await manyUnstarted(501);
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    const begun: string[] = [];
    const { startOutboxWorkflows } = createSweep({
      async start({ id }) {
        begun.push(id);
        await promise;
      },
    });
    const starting = startOutboxWorkflows();
    await until('the first are begun', () => begun.length > 0);
    expect(begun).toEqual(Array.from({ length: 50 }, (_, index) => `PAY_U${index + 1}`));
    answer();
    expect(await starting).toBe(501);
    expect(begun.at(-1)).toBe('PAY_U501');
  });

  it('leaves a batch of which none can be started to the next sweep', async () => {
    await manyUnstarted(1_000);
    let tries = 0;
    const { startOutboxWorkflows } = createSweep({
      async start() {
        tries += 1;
        if (tries > 500) throw new Error('the engine is away by now');
      },
    });
    expect(await startOutboxWorkflows()).toBe(500);
    expect(tries).toBe(1_000);
  });

  it('does not fail for one that is left where it has started others', async () => {
    // A full batch, and then what failed in it alone.
    await manyUnstarted(500);
    const { startOutboxWorkflows } = createSweep(refusing('PAY_U7'));
    expect(await startOutboxWorkflows()).toBe(499);
  });
});

describe('healPayments', () => {
  it('FS-26: alerts on deliveries that are more than 2 minutes overdue, and on no others', async () => {
    const { id: early } = await records.ended('paid');
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '100 seconds'
      where payment_id = ${early}`;
    const quiet = createSweep();
    await quiet.healPayments();
    const { id } = await records.ended('paid');
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '121 seconds'
      where payment_id = ${id}`;
    const alerted = createSweep();
    await alerted.healPayments();
    expect([quiet.alerts(), alerted.alerts()]).toEqual([[], ['deliveries_overdue']]);
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
  });

  it('FS-22: starts lost payments and lost deliveries again, each once', async () => {
    const { id: waiting } = await records.sent();
    const { id: undelivered } = await records.ended('paid');
    const { id: begun } = await records.ended('paid');
    await records.sql`
      insert into attempts (payment_id, number, round, trigger, scheduled_at, started_at)
      values (${begun}, 1, 1, 'schedule', now(), now())`;
    await records.sql`update payments set expires_at = now() - interval '21 minutes'`;
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where status = 'pending'`;
    const { healPayments, started, told } = createSweep();
    expect(await healPayments()).toBe(3);
    expect(started).toEqual([
      { id: waiting, again: true },
      { id: begun, again: true },
    ]);
    // Its workflow may run, and wait for a payer: it does not know of the end.
    expect(told).toEqual([undelivered]);
    expect(await healPayments()).toBe(0);
  });

  it('tells a workflow that waits for the payer again, as the engine’s backup knew it', async () => {
    const { id } = await records.ended('paid');
    await records.sql`
      insert into attempts (payment_id, number, round, trigger, scheduled_at, started_at)
      values (${id}, 1, 1, 'schedule', now(), now())`;
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where payment_id = ${id}`;
    const { healPayments, started, told } = createSweep();
    expect(await healPayments()).toBe(1);
    expect([started, told]).toEqual([[], [id]]);
  });
});

describe('deleteExpiredIdempotencyKeys', () => {
  it('drops all that have expired, however many, and no others', async () => {
    await records.sql`
      insert into idempotency_keys (application, test, route, key, fingerprint, status, location,
        body, expires_at)
      select 'shop', true, 'POST /api/v1/payments', 'key-' || n, '', 201, '', '{}',
        now() + case when n = 1 then interval '1 hour' else interval '-1 hour' end
      from generate_series(1, 10002) n`;
    expect(await createSweep().deleteExpiredIdempotencyKeys()).toBe(10_001);
    const left = await records.sql`select key from idempotency_keys`;
    expect(left).toEqual([{ key: 'key-1' }]);
  });
});
