import { beforeEach, describe, expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { terminalStatuses, type TerminalStatus } from '../../../contract/status.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { createSweeperQueries } from '../../../postgres/sweeper.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords());
const queries = createSweeperQueries(records.sql);
beforeEach(() => records.beginAgain());

const claimForInquiry = async (limit = 100) =>
  (await queries.claimForInquiry('sandbox', limit)).map(({ id }) => id);

/** A payment whose payer was sent to the gateway, with an unanswered inquiry; both so long ago. */
const atGateway = async ({ sent, inquired }: { sent: string; inquired?: string }) => {
  const { id } = await records.sent();
  await records.sql`
    update payments set checkout_at = now() - ${sent}::interval,
      inquired_at = now() - ${inquired ?? null}::interval, expires_at = now() + interval '1 hour'
    where id = ${id}`;
  return id;
};

describe('a payment whose payer was sent to the gateway', () => {
  it.each([
    { sent: '1 minute 50 seconds', due: false },
    { sent: '2 minutes 1 second', due: true },
    { sent: '10 minutes', inquired: '1 minute 50 seconds', due: false },
    { sent: '10 minutes', inquired: '2 minutes 1 second', due: true },
    { sent: '32 minutes 50 seconds', inquired: '2 minutes 51 seconds', due: true }, // The payer may have paid in the 30th minute.
    { sent: '34 minutes', inquired: '2 minutes 1 second', due: false },
    { sent: '34 minutes', inquired: '7 minutes 50 seconds', due: false },
    { sent: '34 minutes', inquired: '8 minutes 1 second', due: true },
    { sent: '5 hours', due: true },
  ])('$sent ago, with an inquiry $inquired ago: due is $due', async ({ due, ...when }) => {
    const id = await atGateway(when);
    expect(await claimForInquiry()).toEqual(due ? [id] : []);
    // The claim counts as an inquiry: the next sweep takes others.
    expect(await claimForInquiry()).toEqual([]);
  });

  it('is claimed while it is processing', async () => {
    const id = await atGateway({ sent: '3 minutes' });
    await records.sql`update payments set status = 'processing' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([id]);
  });

  it('is uncertain once the payer has returned or the gateway gave no answer', async () => {
    const ids: string[] = [];
    for (const how of [{}, { answer: 'unknown' } as const, { becomesProcessing: true }]) {
      const id = await atGateway({ sent: '3 minutes' });
      await records.inquired(id, { ...how, now: new Date(Date.now() - 150_000) });
      ids.push(id);
    }
    const claimed = await queries.claimForInquiry('sandbox', 9);
    const find = (id: string) => claimed.find((one) => one.id === id);
    expect(ids.map((id) => find(id)?.uncertain)).toEqual([false, true, true]);
    expect(find(ids[0]!)?.reference).toBe(`REF_${ids[0]}`);
    await records.inquired(ids[1]!, { now: new Date(0) });
    expect(await queries.claimForInquiry('sandbox', 9)).toMatchObject([{ uncertain: false }]);
  });

  it('is not claimed after its deadline or its end', async () => {
    const late = await atGateway({ sent: '3 minutes' });
    await records.sql`update payments set expires_at = now() where id = ${late}`;
    const { id } = await records.ended('paid');
    await records.sql`update payments set checkout_at = now() - interval '3 minutes' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([]);
  });

  it('is not claimed before the payer was sent, or for another gateway', async () => {
    const { id } = await records.opened();
    await records.sql`update payments set created_at = now() - interval '1 hour' where id = ${id}`;
    expect(await claimForInquiry()).toEqual([]);
    expect(await queries.listGatewaysInUse()).toEqual([]);
    await atGateway({ sent: '3 minutes' });
    expect(await queries.listGatewaysInUse()).toEqual(['sandbox']);
    expect(await queries.claimForInquiry('other', 100)).toEqual([]);
  });

  it('is claimed in bounded batches, the oldest inquiry first', async () => {
    const ids: string[] = [];
    for (const minutes of [9, 3, 12, 6, 4])
      ids.push(await atGateway({ sent: `${minutes} minutes` }));
    const [nine, three, twelve, six, four] = ids;
    expect((await claimForInquiry(2)).sort()).toEqual([nine!, twelve!].sort());
    expect((await claimForInquiry(2)).sort()).toEqual([four!, six!].sort());
    expect(await claimForInquiry(2)).toEqual([three]);
  });

  it('is claimed by one of two sweeps, which do not block each other', async () => {
    const [first, second] = [
      await atGateway({ sent: '9 minutes' }),
      await atGateway({ sent: '8 minutes' }),
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

describe('listEndedUnpaid', () => {
  it('lists payments that ended unpaid and have no late payment yet', async () => {
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

  it('lists every unpaid outcome', async () => {
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
  const claim = async (limit = 100) =>
    (await queries.claimStalledPayments(limit)).map(({ id }) => id);

  it('is claimed from 20 minutes after its deadline on, with the input of its workflow', async () => {
    await overdue(19);
    const id = await overdue(21);
    const [claimed, ...more] = await queries.claimStalledPayments(100);
    expect(more).toEqual([]);
    expect(claimed).toEqual({
      id,
      application: 'shop',
      orderId: 'lost',
      amount: 1250,
      currency: 'EUR',
      gateway: 'sandbox',
      expiresAt: expect.any(Date),
    });
  });

  it('is claimed again only after 20 minutes', async () => {
    const id = await overdue(21);
    expect(await claim()).toEqual([id]);
    expect(await claim()).toEqual([]);
    const lastHealed = (ago: string) =>
      records.sql`update payments set healed_at = now() - ${ago}::interval where id = ${id}`;
    await lastHealed('19 minutes');
    expect(await claim()).toEqual([]);
    await lastHealed('21 minutes');
    expect(await claim()).toEqual([id]);
  });

  it('is claimed after those that were never claimed', async () => {
    const [healed, longer] = [await overdue(50), await overdue(60)];
    await records.sql`
      update payments set healed_at = now() - case id when ${healed} then interval '30 minutes'
        else interval '21 minutes' end`;
    const lost = await overdue(21);
    const inTurn = [await claim(1), await claim(1), await claim(1)];
    expect(inTurn).toEqual([[lost], [healed], [longer]]);
  });

  it.each([
    { expired: '3 hours', inquired: '5 minutes', stalled: false },
    { expired: '3 hours', inquired: '69 minutes', stalled: false },
    { expired: '3 hours', inquired: '71 minutes', stalled: true },
    { expired: '30 minutes', inquired: '29 minutes', stalled: false },
    { expired: '30 minutes', inquired: '31 minutes', stalled: true },
  ])(
    '$expired ago, with an inquiry $inquired ago: stalled is $stalled',
    async ({ expired, inquired, stalled }) => {
      const id = await overdue(0);
      await records.sql`
        update payments set expires_at = now() - ${expired}::interval,
          inquired_at = now() - ${inquired}::interval where id = ${id}`;
      expect(await claim()).toEqual(stalled ? [id] : []);
    },
  );

  it('is claimed oldest first, by one of two sweeps, and not after its end', async () => {
    const { id: ended } = await records.ended('expired');
    await records.sql`
      update payments set expires_at = now() - interval '1 day' where id = ${ended}`;
    const [old, older] = [await overdue(30), await overdue(40)];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await createSweeperQueries(tx).claimStalledPayments(1)).toMatchObject([{ id: older }]);
    });
    expect(await claim()).toEqual([old]);
    await other.commit();
    expect(await claim()).toEqual([]);
  });
});

describe('an overdue delivery', () => {
  const overdue = (minutes: number) => records.deliveryOverdue(minutes);
  const claim = async (limit = 100) =>
    (await queries.claimOverdueDeliveries(limit)).map(({ id }) => id);

  it('is claimed once it is 5 minutes overdue, and again only after 5 minutes', async () => {
    await overdue(4);
    const id = await overdue(6);
    const delivery = { id, orderId: 'order-1' };
    const claimAll = () => queries.claimOverdueDeliveries(100);
    expect(await claimAll()).toMatchObject([{ ...delivery, begun: false }]);
    expect(await claim()).toEqual([]);
    await records.sql`update deliveries set healed_at = now() - interval '6 minutes'`;
    await records.sql`
      insert into attempts (event_id, number, round, trigger, scheduled_at, started_at)
      values (${eventId(id)}, 1, 1, 'schedule', now(), now())`;
    expect(await claimAll()).toMatchObject([{ ...delivery, begun: true }]);
    // An attempt of an earlier round does not count.
    await records.sql`update deliveries set healed_at = null, round = 2`;
    expect(await claimAll()).toMatchObject([{ ...delivery, begun: false }]);
  });

  it('is counted once it is 2 minutes overdue, up to the limit', async () => {
    const before = await queries.countOverdueDeliveries(1_000);
    await overdue(1);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before);
    for (const minutes of [3, 4]) await overdue(minutes);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before + 2);
    expect(await queries.countOverdueDeliveries(1)).toBe(1);
  });

  it('is claimed after those that were never claimed', async () => {
    const [healed, longer] = [await overdue(50), await overdue(60)];
    await records.sql`
      update deliveries set healed_at = now() - case payment_id when ${healed}
        then interval '30 minutes' else interval '6 minutes' end`;
    const lost = await overdue(7);
    const inTurn = [await claim(1), await claim(1), await claim(1)];
    expect(inTurn).toEqual([[lost], [healed], [longer]]);
  });

  it('is not claimed when it is delivered, exhausted or none', async () => {
    for (const status of ['delivered', 'exhausted', 'none']) {
      const id = await overdue(6);
      await records.sql`
        update deliveries set status = ${status}, next_attempt_at = null where payment_id = ${id}`;
    }
    expect(await claim()).toEqual([]);
  });

  it('is claimed by one of two sweeps, which do not block each other', async () => {
    const [first, second] = [await overdue(9), await overdue(8)];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await createSweeperQueries(tx).claimOverdueDeliveries(1)).toMatchObject([
        { id: first },
      ]);
    });
    expect(await claim()).toEqual([second]);
    await other.commit();
    expect(await claim()).toEqual([]);
  });
});

it('a batch is bounded under every query plan', async () => {
  for (let count = 0; count < 20; count += 1) {
    await atGateway({ sent: '5 minutes' });
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
  await connection`reset all`;
  connection.release();
});
