import { beforeEach, describe, expect, it } from 'vitest';
import { eventId } from '../../../../contract/ids.ts';
import type { Payment } from '../../../../contract/payment.ts';
import { terminalStatuses } from '../../../../contract/status.ts';
import { createLatePayments } from '../../../../postgres/payments/late-payments.ts';
import { createSweeperQueries } from '../../../../postgres/payments/sweeper.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const queries = createSweeperQueries(records.sql);
beforeEach(() => records.beginAgain());

const claimForInquiry = async (limit = 100) =>
  (await queries.claimForInquiry('sandbox', limit)).map(({ id }) => id);

/** An open payment whose deadline was so long ago. */
const overduePayment = async (minutes: number) => {
  const { id } = await records.created({ orderId: 'lost' });
  await records.sql`
    update payments set expires_at = now() - ${`${minutes} minutes`}::interval where id = ${id}`;
  return id;
};

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
});

it('listEndedUnpaid lists payments that ended unpaid and have no late payment yet', async () => {
  const ended: Payment[] = [];
  for (const status of terminalStatuses) ended.push(await records.ended(status));
  const references = [...ended, await records.sent()].map(({ id }) => `REF_${id}`);
  const unpaid = ended.flatMap(({ id, status }) => (status === 'paid' ? [] : [id]));
  const list = async (gateway: string) =>
    (await queries.listEndedUnpaid(gateway, references)).map(({ id }) => id).toSorted();
  expect(await list('sandbox')).toEqual(unpaid.toSorted());
  expect(await list('other')).toEqual([]);
  const found = { result: null, facts: {}, now: new Date() };
  for (const id of unpaid) await createLatePayments(records.sql).record(id, found);
  expect(await list('sandbox')).toEqual([]);
});

describe('a payment that should have ended', () => {
  const claim = async () => (await queries.claimStalledPayments(100)).map(({ id }) => id);

  it('is claimed from 20 minutes after its deadline on, and not after its end, with the input of its workflow', async () => {
    await overduePayment(19);
    const id = await overduePayment(21);
    const { id: ended } = await records.ended('expired');
    await records.sql`
      update payments set expires_at = now() - interval '1 day' where id = ${ended}`;
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
    const id = await overduePayment(21);
    expect(await claim()).toEqual([id]);
    expect(await claim()).toEqual([]);
    const lastHealed = (ago: string) =>
      records.sql`update payments set healed_at = now() - ${ago}::interval where id = ${id}`;
    await lastHealed('19 minutes');
    expect(await claim()).toEqual([]);
    await lastHealed('21 minutes');
    expect(await claim()).toEqual([id]);
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
      const id = await overduePayment(0);
      await records.sql`
        update payments set expires_at = now() - ${expired}::interval,
          inquired_at = now() - ${inquired}::interval where id = ${id}`;
      expect(await claim()).toEqual(stalled ? [id] : []);
    },
  );
});

describe('an overdue delivery', () => {
  const { deliveryOverdue: overdue } = records;
  const claim = async () => (await queries.claimOverdueDeliveries(100)).map(({ id }) => id);

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
    await overdue(1.8);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before);
    for (const minutes of [2.1, 4]) await overdue(minutes);
    expect(await queries.countOverdueDeliveries(1_000)).toBe(before + 2);
    expect(await queries.countOverdueDeliveries(1)).toBe(1);
  });

  it('is not claimed when it is delivered, exhausted or none', async () => {
    for (const status of ['delivered', 'exhausted', 'none']) {
      const id = await overdue(6);
      await records.sql`
        update deliveries set status = ${status}, next_attempt_at = null where payment_id = ${id}`;
    }
    expect(await claim()).toEqual([]);
  });
});

type Queries = ReturnType<typeof createSweeperQueries>;
/** The tasks that sweeps claim: how one becomes due, and the statement that claims the first of them. */
const claims: Record<
  string,
  {
    due: (minutes: number) => Promise<string>;
    claim: (from: Queries, limit: number) => Promise<{ id: string }[]>;
    healed?: (id: string, minutes: number) => Promise<unknown>;
  }
> = {
  'a payment whose payer was sent to the gateway': {
    due: (minutes) => atGateway({ sent: `${minutes} minutes` }),
    claim: (from, limit) => from.claimForInquiry('sandbox', limit),
  },
  'a payment that should have ended': {
    due: overduePayment,
    claim: (from, limit) => from.claimStalledPayments(limit),
    healed: (id, minutes) => records.sql`
      update payments set healed_at = now() - make_interval(mins => ${minutes}) where id = ${id}`,
  },
  'an overdue delivery': {
    due: records.deliveryOverdue,
    claim: (from, limit) => from.claimOverdueDeliveries(limit),
    healed: (id, minutes) => records.sql`
      update deliveries set healed_at = now() - make_interval(mins => ${minutes}) where payment_id = ${id}`,
  },
};

it.each(Object.entries(claims))(
  '%s is claimed by one of two sweeps, the oldest first, and they do not block each other',
  async (_, { due, claim }) => {
    const [first, second] = [await due(40), await due(30)];
    const other = await holdLock(records.sql, async (tx) => {
      expect(await claim(createSweeperQueries(tx), 1)).toMatchObject([{ id: first }]);
    });
    expect(await claim(queries, 100)).toMatchObject([{ id: second }]);
    await other.commit();
    expect(await claim(queries, 100)).toEqual([]);
  },
);

it.each(Object.entries(claims).filter(([, { healed }]) => healed))(
  '%s is claimed after those that were never claimed',
  async (_, { due, claim, healed }) => {
    const [longAgo, later] = [await due(50), await due(60)];
    await healed?.(longAgo, 30);
    await healed?.(later, 21);
    const lost = await due(21);
    for (const id of [lost, longAgo, later])
      expect(await claim(queries, 1)).toMatchObject([{ id }]);
  },
);

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
