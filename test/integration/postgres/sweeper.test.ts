import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TerminalStatus } from '../../../contract/status.ts';
import { terminalStatuses } from '../../../contract/status.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import type { SweeperQueries } from '../../../postgres/sweeper.ts';
import { createSweeperQueries } from '../../../postgres/sweeper.ts';
import { holdLock } from '../../support/hold-lock.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';

let records: Records;
let queries: SweeperQueries;
beforeEach(async () => {
  records = await startRecords();
  queries = createSweeperQueries(records.sql);
});
afterEach(() => records.drop());

const claimForInquiry = async (limit = 100) =>
  (await queries.claimForInquiry('sandbox', limit)).map(({ id }) => id);

/** A payer sent off so long ago, and the gateway asked in vain so long ago. */
const onTheirWay = async ({ sent, asked }: { sent: string; asked?: string }) => {
  const { id } = await records.sent();
  await records.sql`
    update payments set checkout_at = now() - ${sent}::interval,
      inquired_at = now() - ${asked ?? null}::interval, expires_at = now() + interval '1 hour'
    where id = ${id}`;
  return id;
};

describe('FS-05: a payer who was sent to the gateway and is not heard of', () => {
  it.each([
    { sent: '1 minute 50 seconds', due: false },
    { sent: '2 minutes 1 second', due: true },
    { sent: '10 minutes', asked: '1 minute 50 seconds', due: false },
    { sent: '10 minutes', asked: '2 minutes 1 second', due: true },
    { sent: '32 minutes 50 seconds', asked: '2 minutes 51 seconds', due: true }, // Who may have paid in the 30th.
    { sent: '34 minutes', asked: '2 minutes 1 second', due: false },
    { sent: '34 minutes', asked: '7 minutes 50 seconds', due: false },
    { sent: '34 minutes', asked: '8 minutes 1 second', due: true },
    { sent: '5 hours', due: true },
  ])('$sent ago, asked about $asked ago: due is $due', async ({ due, ...when }) => {
    const id = await onTheirWay(when);
    expect(await claimForInquiry()).toEqual(due ? [id] : []);
    // Marked as asked now: the next sweep takes others.
    expect(await claimForInquiry()).toEqual([]);
  });

  it('is asked about while it is processing, too', async () => {
    const id = await onTheirWay({ sent: '3 minutes' });
    await records.sql`update payments set status = 'processing' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([id]);
  });

  it('is uncertain once the payer came back, or the gateway gave no answer', async () => {
    const ids: string[] = [];
    for (const how of [{}, { unanswered: true }, { processing: true }]) {
      const id = await onTheirWay({ sent: '3 minutes' });
      await records.asked(id, { ...how, now: new Date(Date.now() - 150_000) });
      ids.push(id);
    }
    const taken = await queries.claimForInquiry('sandbox', 9);
    const of = (id: string) => taken.find((one) => one.id === id);
    expect(ids.map((id) => of(id)?.uncertain)).toEqual([false, true, true]);
    expect(of(ids[0]!)?.reference).toBe(`REF_${ids[0]}`);
    await records.asked(ids[1]!, { now: new Date(0) });
    expect(await queries.claimForInquiry('sandbox', 9)).toMatchObject([{ uncertain: false }]);
  });

  it('is left to the deadline once that has passed, and to nobody once it has ended', async () => {
    const late = await onTheirWay({ sent: '3 minutes' });
    await records.sql`update payments set expires_at = now() where id = ${late}`;
    const { id } = await records.ended('paid');
    await records.sql`update payments set checkout_at = now() - interval '3 minutes' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([]);
  });

  it('is not somebody who was never sent, and not of another gateway', async () => {
    const { id } = await records.opened();
    await records.sql`update payments set created_at = now() - interval '1 hour' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([]);
    expect(await queries.gatewaysInUse()).toEqual([]);
    await onTheirWay({ sent: '3 minutes' });
    expect(await queries.gatewaysInUse()).toEqual(['sandbox']);
    expect(await queries.claimForInquiry('other', 100)).toEqual([]);
  });

  it('is taken in bounded batches, the longest unasked first', async () => {
    const ids: string[] = [];
    for (const minutes of [9, 3, 12, 6, 4])
      ids.push(await onTheirWay({ sent: `${minutes} minutes` }));
    const [nine, three, twelve, six, four] = ids;
    expect((await claimForInquiry(2)).sort()).toEqual([nine!, twelve!].sort());
    expect((await claimForInquiry(2)).sort()).toEqual([four!, six!].sort());
    expect(await claimForInquiry(2)).toEqual([three]);
  });

  it('is taken by one of two sweeps, which do not wait for each other', async () => {
    const [first, second] = [
      await onTheirWay({ sent: '9 minutes' }),
      await onTheirWay({ sent: '8 minutes' }),
    ];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await createSweeperQueries(tx).claimForInquiry('sandbox', 1)).toMatchObject([
        { id: first },
      ]);
    });
    expect(await claimForInquiry()).toEqual([second]);
    await other.commit();
    expect(await claimForInquiry()).toEqual([]);
  });
});

describe('FS-16: payments that a gateway holds as paid', () => {
  it('are late where they ended unpaid, until that is known', async () => {
    const reference = ({ id }: { id: string }) => `REF_${id}`;
    const ended = await records.ended('expired');
    const others = [
      await records.ended('paid'),
      await records.sent(),
      await records.ended('failed'),
    ];
    const references = [ended, others[0]!, others[1]!].map(reference);
    const late = () => queries.listEndedUnpaid('sandbox', references);
    expect(await late()).toEqual([{ id: ended.id }]);
    expect(await queries.listEndedUnpaid('other', references)).toEqual([]);
    const found = { result: null, facts: {}, now: new Date() };
    await createLatePayments(records.sql).record(ended.id, found);
    expect(await late()).toEqual([]);
  });

  it('are late however they ended unpaid', async () => {
    const ended = new Map<TerminalStatus, string>();
    for (const status of terminalStatuses) ended.set(status, (await records.ended(status)).id);
    const references = [...ended.values()].map((id) => `REF_${id}`);
    const late = await queries.listEndedUnpaid('sandbox', references);
    ended.delete('paid');
    expect(late.map(({ id }) => id).toSorted()).toEqual([...ended.values()].toSorted());
  });
});

describe('a payment that should have ended', () => {
  const overdue = async (minutes: number) => {
    const { id } = await records.created({ orderId: 'lost' });
    await records.sql`
      update payments set expires_at = now() - ${`${minutes} minutes`}::interval where id = ${id}`;
    return id;
  };
  const take = async (limit = 100) =>
    (await queries.claimStalledPayments(limit)).map(({ id }) => id);

  it('FS-07: is healed from 20 minutes after its deadline on, with what a start takes', async () => {
    await overdue(19);
    const id = await overdue(21);
    const [facts, ...more] = await queries.claimStalledPayments(100);
    expect(more).toEqual([]);
    expect(facts).toEqual({
      id,
      application: 'shop',
      orderId: 'lost',
      amount: 1250,
      currency: 'EUR',
      gateway: 'sandbox',
      expiresAt: expect.any(Date),
    });
  });

  it('is given out again only after 20 minutes', async () => {
    const id = await overdue(21);
    expect(await take()).toEqual([id]);
    expect(await take()).toEqual([]);
    const lastHealed = (ago: string) =>
      records.sql`update payments set healed_at = now() - ${ago}::interval where id = ${id}`;
    await lastHealed('19 minutes');
    expect(await take()).toEqual([]);
    await lastHealed('21 minutes');
    expect(await take()).toEqual([id]);
  });

  it('goes behind those that were never given out, however long ago it should have ended', async () => {
    const [healed, longer] = [await overdue(50), await overdue(60)];
    await records.sql`
      update payments set healed_at = now() - case id when ${healed} then interval '30 minutes'
        else interval '21 minutes' end`;
    const lost = await overdue(21);
    const inTurn = [await take(1), await take(1), await take(1)];
    expect(inTurn).toEqual([[lost], [healed], [longer]]);
  });

  it.each([
    { ended: '3 hours', asked: '5 minutes', lost: false },
    { ended: '3 hours', asked: '69 minutes', lost: false },
    { ended: '3 hours', asked: '71 minutes', lost: true },
    { ended: '30 minutes', asked: '29 minutes', lost: false },
    { ended: '30 minutes', asked: '31 minutes', lost: true },
  ])(
    'to end $ended ago, about which its gateway was asked $asked ago: lost is $lost',
    async ({ ended, asked, lost }) => {
      const id = await overdue(0);
      await records.sql`
        update payments set expires_at = now() - ${ended}::interval,
          inquired_at = now() - ${asked}::interval where id = ${id}`;
      expect(await take()).toEqual(lost ? [id] : []);
    },
  );

  it('is not one that has ended; the oldest go first, and two sweeps share the work', async () => {
    const { id: ended } = await records.ended('expired');
    await records.sql`
      update payments set expires_at = now() - interval '1 day' where id = ${ended}`;
    const [old, older] = [await overdue(30), await overdue(40)];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await createSweeperQueries(tx).claimStalledPayments(1)).toMatchObject([{ id: older }]);
    });
    expect(await take()).toEqual([old]);
    await other.commit();
    expect(await take()).toEqual([]);
  });
});

describe('a delivery', () => {
  const overdue = (minutes: number) => records.deliveryOverdue(minutes);
  const take = async (limit = 100) =>
    (await queries.claimOverdueDeliveries(limit)).map(({ id }) => id);

  it('FS-22: is healed once it is 5 minutes overdue, and again only after 5 minutes', async () => {
    await overdue(4);
    const id = await overdue(6);
    const delivery = { id, orderId: 'order-1' };
    const taken = () => queries.claimOverdueDeliveries(100);
    expect(await taken()).toMatchObject([{ ...delivery, begun: false }]);
    expect(await take()).toEqual([]);
    await records.sql`update deliveries set healed_at = now() - interval '6 minutes'`;
    await records.sql`
      insert into attempts (payment_id, number, round, trigger, scheduled_at, started_at)
      values (${id}, 1, 1, 'schedule', now(), now())`;
    expect(await taken()).toMatchObject([{ ...delivery, begun: true }]);
    // An attempt of an earlier round says nothing of this one.
    await records.sql`update deliveries set healed_at = null, round = 2`;
    expect(await taken()).toMatchObject([{ ...delivery, begun: false }]);
  });

  it('is counted once it is 2 minutes overdue, and no further than asked', async () => {
    const before = await queries.countOverdueDeliveries(1_000);
    await overdue(1);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before);
    for (const minutes of [3, 4]) await overdue(minutes);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before + 2);
    expect(await queries.countOverdueDeliveries(1)).toBe(1);
  });

  it('goes behind those that were never given out, however long it is overdue', async () => {
    const [healed, longer] = [await overdue(50), await overdue(60)];
    await records.sql`
      update deliveries set healed_at = now() - case payment_id when ${healed}
        then interval '30 minutes' else interval '6 minutes' end`;
    const lost = await overdue(7);
    const inTurn = [await take(1), await take(1), await take(1)];
    expect(inTurn).toEqual([[lost], [healed], [longer]]);
  });

  it('that is done, exhausted or none is left alone', async () => {
    for (const status of ['delivered', 'exhausted', 'none']) {
      const id = await overdue(6);
      await records.sql`
        update deliveries set status = ${status}, next_attempt_at = null where payment_id = ${id}`;
    }
    expect(await take()).toEqual([]);
  });

  it('is taken by one of two sweeps, which do not wait for each other', async () => {
    const [first, second] = [await overdue(9), await overdue(8)];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await createSweeperQueries(tx).claimOverdueDeliveries(1)).toMatchObject([
        { id: first },
      ]);
    });
    expect(await take()).toEqual([second]);
    await other.commit();
    expect(await take()).toEqual([]);
  });
});

describe('a batch', () => {
  it('is bounded whatever plan Postgres chooses', async () => {
    for (let count = 0; count < 20; count += 1) {
      await onTheirWay({ sent: '5 minutes' });
      await records.ended('paid');
    }
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where status = 'pending'`;
    const connection = await records.sql.reserve();
    for (const way of ['hashagg', 'hashjoin', 'mergejoin', 'sort', 'material', 'indexscan'])
      await connection.unsafe(`set enable_${way} = off`);
    const other = createSweeperQueries(connection);
    expect(await other.claimForInquiry('sandbox', 2)).toHaveLength(2);
    expect(await other.claimOverdueDeliveries(2)).toHaveLength(2);
    await connection`update payments set expires_at = now() - interval '21 minutes'`;
    expect(await other.claimStalledPayments(2)).toHaveLength(2);
    connection.release();
  });
});
