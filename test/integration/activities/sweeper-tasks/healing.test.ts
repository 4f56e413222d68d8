import { eventId } from '../../../../contract/ids.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

/** A payment whose workflow has begun to deliver its event. */
const beginsDelivery = async (): Promise<string> => {
  const { id } = await records.ended('paid');
  await records.sql`
    insert into attempts (event_id, number, round, trigger, scheduled_at, started_at)
    values (${eventId(id)}, 1, 1, 'schedule', now(), now())`;
  return id;
};

describe('healPayments', () => {
  it('restarts the workflows of stalled payments and overdue deliveries once each, and alerts', async () => {
    const { id: waiting } = await records.sent();
    const { id: undelivered } = await records.ended('paid');
    const begun = await beginsDelivery();
    await records.sql`update payments set expires_at = now() - interval '21 minutes'`;
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes', test = false
      where status = 'pending'`;
    const { healPayments, restarted, rechecked, reported, alerts } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(3);
    expect(restarted).toEqual([waiting, begun]);
    // Its workflow may run and wait for the payer, because it does not know of the end.
    expect(rechecked).toEqual([undelivered]);
    // An overdue delivery is no reason to look for late money.
    expect(reported).toEqual([]);
    expect(alerts()).toEqual(['deliveries_overdue']);
    expect(await healPayments()).toBe(0);
  });

  it.each([
    ['rechecks a workflow that waits for the payer again after Temporal was restored', false],
    ['tells the workflow of a replay of which it was not told, and that waits', true],
  ])('%s', async (_, atOnce) => {
    const id = await beginsDelivery();
    await records.sql`
      update deliveries set at_once = ${atOnce}, next_attempt_at = now() - interval '6 minutes'
      where payment_id = ${id}`;
    const { healPayments, restarted, rechecked, delivered, alerts } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(1);
    expect([restarted, rechecked, delivered]).toEqual(atOnce ? [[], [], [id]] : [[], [id], []]);
    // It is a test.
    expect(alerts()).toEqual([]);
  });
});
