import { eventId } from '../../../../contract/ids.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRecords, type Records } from '../../../support/data/records.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

describe('healPayments', () => {
  it('alerts only on deliveries that are more than 2 minutes overdue', async () => {
    const { id: early } = await records.ended('paid');
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '100 seconds', test = false
      where payment_id = ${early}`;
    const quiet = sweeperTasksOn(records, {});
    await quiet.healPayments();
    const { id } = await records.ended('paid');
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '121 seconds', test = false
      where payment_id = ${id}`;
    const alerted = sweeperTasksOn(records, {});
    await alerted.healPayments();
    expect([quiet.alerts(), alerted.alerts()]).toEqual([[], ['deliveries_overdue']]);
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
  });

  it('restarts the workflows of stalled payments and overdue deliveries once each', async () => {
    const { id: waiting } = await records.sent();
    const { id: undelivered } = await records.ended('paid');
    const { id: begun } = await records.ended('paid');
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at)
      values (${eventId(begun)}, 1, 1, 'schedule', now(), now())`;
    await records.sql`update payments set expires_at = now() - interval '21 minutes'`;
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where status = 'pending'`;
    const { healPayments, restarted, rechecked, reported } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(3);
    expect(restarted).toEqual([waiting, begun]);
    // Its workflow may run and wait for the payer, because it does not know of the end.
    expect(rechecked).toEqual([undelivered]);
    // An overdue delivery is no reason to look for late money.
    expect(reported).toEqual([]);
    expect(await healPayments()).toBe(0);
  });

  it('rechecks a workflow that waits for the payer again after Temporal was restored', async () => {
    const { id } = await records.ended('paid');
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now())`;
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where payment_id = ${id}`;
    const { healPayments, restarted, rechecked } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(1);
    expect([restarted, rechecked]).toEqual([[], [id]]);
  });

  it('tells the workflow of a replay that it was not told of, and that waits for the next attempt', async () => {
    const { id } = await records.ended('paid');
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now())`;
    await records.sql`
      update deliveries set at_once = true, next_attempt_at = now() - interval '6 minutes'
      where payment_id = ${id}`;
    const { healPayments, restarted, rechecked, delivered } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(1);
    expect([restarted, rechecked, delivered]).toEqual([[], [], [id]]);
  });
});
