import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PaymentWorkflows } from '../../../activities/payment-workflows.ts';
import type { GatewayStatus, GatewayAdapter } from '../../../gateways/gateway.ts';
import { createSweeperQueries } from '../../../postgres/sweeper.ts';
import type { Records } from '../../support/records.ts';
import { startRecords } from '../../support/records.ts';
import { confirmed, silence } from '../../support/scripted-gateway.ts';
import { sweepOn } from '../../support/sweep.ts';
import { until } from '../../support/until.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

const createSweep = (script: Partial<GatewayAdapter>, workflows?: Partial<PaymentWorkflows>) =>
  sweepOn(records, script, workflows);

/** Payers who were sent off so long ago that they are asked about. */
const onTheirWay = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await records.sent()).id);
  await records.sql`
    update payments set checkout_at = now() - interval '3 minutes' where checkout_at is not null`;
  return ids;
};

describe('inquireAtGateway', () => {
  it('FS-05: tells the workflow of each payment whose gateway has news, and changes nothing itself', async () => {
    const ids = await onTheirWay(4);
    const answers: GatewayStatus[] = [
      { state: 'waiting' },
      { state: 'processing' },
      confirmed(),
      { state: 'cancelled' },
    ];
    const of = (id: string) => answers[ids.indexOf(id)]!; // As many as there are payments.
    const { inquireAtGateway, told, asked } = createSweep({ inquire: async ({ id }) => of(id) });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(4);
    expect(told.sort()).toEqual(ids.slice(1).sort());
    expect(asked.every(({ call }) => call === 'inquire')).toBe(true);
    const statuses = await records.sql`select distinct status from payments`;
    expect(statuses).toEqual([{ status: 'pending' }]);
  });

  it('goes on when the gateway is silent about one payment, or its workflow cannot be told', async () => {
    const [silent, untold, third] = await onTheirWay(3);
    const told: string[] = [];
    const { inquireAtGateway, warnings } = createSweep(
      { inquire: async ({ id }) => (id === silent ? silence() : confirmed()) },
      {
        async tell({ id }) {
          if (id === untold) throw new Error('the engine is away');
          told.push(id);
        },
      },
    );
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(told).toEqual([third]);
    // Each of them leaves a line in the log.
    expect(new Set(warnings().map((line) => line['payment_id']))).toEqual(
      new Set([silent, untold]),
    );
    // Who could not be told is asked about by the next sweep.
    const due = await createSweeperQueries(records.sql).claimForInquiry('sandbox', 10);
    expect(due.map(({ id }) => id)).toEqual([untold]);
  });

  it('asks again half a minute later where the gateway gave no answer, or somebody else got none', async () => {
    const [silent, answered, returned] = await onTheirWay(3);
    await records.sql`
      update payments set checkout_at = now() - interval '40 minutes',
        expires_at = now() + interval '1 hour'`;
    await records.inquired(returned!, { unanswered: true });
    const { inquireAtGateway } = createSweep({
      inquire: async ({ id }) => (id === silent ? silence() : { state: 'waiting' }),
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(2);
    const { claimForInquiry } = createSweeperQueries(records.sql);
    const dueAfter = async (time: string) => {
      await records.sql`update payments set inquired_at = inquired_at - ${time}::interval`;
      return (await claimForInquiry('sandbox', 10)).map(({ id }) => id).sort();
    };
    expect(await dueAfter('20 seconds')).toEqual([]);
    expect(await dueAfter('10 seconds')).toEqual([silent!, returned!].sort());
    // Whoever took them was killed.
    expect(await dueAfter('30 seconds')).toEqual([silent!, returned!].sort());
    expect(await dueAfter('5 minutes')).not.toContain(answered);
    expect(await dueAfter('3 minutes')).toContain(answered);
  });

  it('asks again half a minute later where the workflow that it has told got no answer', async () => {
    const [id] = await onTheirWay(1);
    await records.sql`
      update payments set checkout_at = now() - interval '40 minutes',
        expires_at = now() + interval '1 hour'`;
    const { inquireAtGateway } = createSweep(
      { inquire: async () => ({ state: 'processing' }) },
      { tell: async (one) => void (await records.inquired(one.id, { unanswered: true })) },
    );
    await inquireAtGateway({ gateway: 'sandbox' });
    await records.sql`update payments set inquired_at = inquired_at - interval '30 seconds'`;
    const due = await createSweeperQueries(records.sql).claimForInquiry('sandbox', 10);
    expect(due.map((one) => one.id)).toEqual([id]);
  });

  it.each([
    { sent: 29 * 60, again: 120 },
    { sent: 30 * 60 + 10, again: 28 },
    // The pace changes before: half a minute less than 8 minutes after the answer before this one.
    { sent: 32 * 60 + 50, again: 388 },
    { sent: 34 * 60, again: 28 },
  ])(
    'a payer sent $sent s ago about whom no answer comes is asked about $again s later',
    async ({ sent, again }) => {
      const [id] = await onTheirWay(1);
      const pass = (seconds: number) => records.sql`
        update payments set checkout_at = checkout_at - make_interval(secs => ${seconds}),
          inquired_at = inquired_at - make_interval(secs => ${seconds}),
          expires_at = now() + interval '1 hour'`;
      await pass(sent - 180);
      const { inquireAtGateway } = createSweep({ inquire: silence });
      await inquireAtGateway({ gateway: 'sandbox' });
      const due = async () =>
        (await createSweeperQueries(records.sql).claimForInquiry('sandbox', 10)).map(
          (one) => one.id,
        );
      await pass(again - 5);
      expect(await due()).toEqual([]);
      await pass(10);
      expect(await due()).toEqual([id]);
    },
  );

  it('asks about all others where the one that a list names can never be told', async () => {
    const [untold, ...others] = await onTheirWay(25);
    await records.sql`update payments set unanswered = true`;
    const failing = { tell: () => Promise.reject(new Error('never')) };
    const { inquireAtGateway, asked } = createSweep(
      { ...list([untold!]), inquire: async () => ({ state: 'waiting' }) },
      failing,
    );
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(25);
    expect(asked.map(({ payment }) => payment.id).sort()).toEqual(others.sort());
  });

  it('is an error of the activity when nobody can be told', async () => {
    await onTheirWay(2);
    const failing = { tell: () => Promise.reject(new Error('the engine is away')) };
    const { inquireAtGateway } = createSweep({ inquire: async () => confirmed() }, failing);
    await expect(inquireAtGateway({ gateway: 'sandbox' })).rejects.toThrow('the engine is away');
  });

  it('is an error of the activity where asking fails by a fault of ours', async () => {
    await onTheirWay(2);
    const { inquireAtGateway } = createSweep({
      inquire: () => Promise.reject(new Error('our fault')),
    });
    await expect(inquireAtGateway({ gateway: 'sandbox' })).rejects.toThrow('our fault');
  });

  it('is no failure of ours when the gateway is silent about everybody', async () => {
    await onTheirWay(2);
    const { inquireAtGateway, told } = createSweep({ inquire: silence });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(2);
    expect(told).toEqual([]);
  });

  it('gives back of a list those about whom a slow gateway left no time to ask', async () => {
    const ids = await onTheirWay(30);
    await records.sql`update payments set unanswered = true where id = any(${ids}::text[])`;
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { inquireAtGateway, asked } = createSweep({
      ...list([]),
      async inquire() {
        // The first batch is 10, the rest is taken at once, and then the time is over.
        if (asked.length === 15) vi.setSystemTime(Date.now() + 21_000);
        return { state: 'waiting' };
      },
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(asked.length);
    expect(asked.length).toBeLessThan(30);
    const marked = await records.sql`select from payments where inquired_at is not null`;
    expect(marked).toHaveLength(asked.length);
  });

  it('counts nobody as asked about whom a slow gateway leaves no time', async () => {
    await onTheirWay(75);
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { inquireAtGateway, asked } = createSweep({ inquire: () => promise });
    const sweeping = inquireAtGateway({ gateway: 'sandbox' });
    await until('the gateway is asked', () => asked.length > 0);
    await until('it is asked about as many as at once', () => asked.length === 50);
    const marked = await records.sql`select from payments where inquired_at is not null`;
    expect(marked).toHaveLength(50);
    answer({ state: 'waiting' });
    expect(await sweeping).toBe(75);
    expect(new Set(asked.map(({ payment }) => payment.id)).size).toBe(75);
  });

  it('asks about as many as its time allows, at a pace, whoever among them is answered late', async () => {
    await manyWaiting(300);
    await records.sql`update payments set checkout_at = now() - interval '3 minutes'`;
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { inquireAtGateway, asked } = createSweep({
      async inquire() {
        if (asked.length === 1) return promise;
        if (asked.length === 290) answer({ state: 'waiting' });
        return { state: 'waiting' };
      },
    });
    const began = performance.now();
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(300);
    expect(new Set(asked.map(({ payment }) => payment.id)).size).toBe(300);
    // 50 at the beginning, and then no more than 100 a second.
    expect(performance.now() - began).toBeGreaterThan(2_000);
  });
});

/** Payments that wait for payers who never went to the gateway. */
const manyWaiting = (count: number) => records.sql`
  insert into payments (id, application, test, order_id, status, amount, currency, gateway,
    callback_url, metadata, expires_at, created_at, updated_at, gateway_reference, gateway_redirect)
  select 'PAY_W' || n, 'shop', true, 'o', 'pending', 1250, 'EUR', 'sandbox', 'https://shop.example',
    '{}', now() + interval '1 hour', now(), now(), 'REF_W' || n, '{}'
  from generate_series(1, ${count}) n`;

const references = (ids: readonly string[]) => ids.map((id) => `REF_${id}`);
const list = (ids: readonly string[], complete = true) => ({
  listUnverified: async () => ({ references: references(ids), complete }),
});
const neverAsked = async (): Promise<never> => {
  throw new Error('Nobody was to be asked');
};

describe('the cost of asking', () => {
  it('follows the 50 payers on their way, not the 10,000 payments that wait', async () => {
    await manyWaiting(10_000);
    const ids = await onTheirWay(50);
    const { inquireAtGateway, asked } = createSweep({
      inquire: async () => ({ state: 'waiting' }),
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(50);
    expect(asked.map(({ payment }) => payment.id).sort()).toEqual(ids.sort());
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(0);
    expect(asked).toHaveLength(50);
  });

  it('is one call where the gateway lists what is paid, and none when nobody is on the way', async () => {
    await manyWaiting(10_000);
    const { inquireAtGateway, asked, lists } = createSweep({ ...list([]), inquire: neverAsked });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(0);
    expect(lists()).toBe(0);
    const ids = await onTheirWay(50);
    const paid = [ids[0]!, ids[20]!, ids[49]!];
    const { told, ...listing } = createSweep({ ...list(paid), inquire: neverAsked });
    expect(await listing.inquireAtGateway({ gateway: 'sandbox' })).toBe(50);
    expect([listing.lists(), asked, listing.asked]).toEqual([1, [], []]);
    expect(told.sort()).toEqual(paid.sort());
  });
});

describe('inquireAtGateway, where the gateway lists what is paid and not verified', () => {
  it('asks about those beyond an incomplete list', async () => {
    const [listed, beyond] = await onTheirWay(2);
    const { inquireAtGateway, asked, told } = createSweep({
      ...list([listed!], false),
      inquire: async () => ({ state: 'cancelled' }),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(asked.map(({ payment }) => payment.id)).toEqual([beyond]);
    expect(told.sort()).toEqual([listed!, beyond!].sort());
  });

  it('FS-05: asks about each when the list does not come', async () => {
    await onTheirWay(3);
    const { inquireAtGateway, asked, told } = createSweep({
      listUnverified: silence,
      inquire: async () => confirmed(),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect([asked.length, told.length]).toEqual([3, 3]);
  });

  it('FS-14: asks about those that a lost answer may have verified: no list has them', async () => {
    const [lost, returned, quiet] = await onTheirWay(3);
    const now = new Date(Date.now() - 150_000);
    await records.inquired(lost!, { unanswered: true, now });
    await records.inquired(returned!, { processing: true, now });
    await records.inquired(quiet!, { now });
    const { inquireAtGateway, told } = createSweep({
      ...list([]),
      inquire: async () => confirmed(),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(told.sort()).toEqual([lost!, returned!].sort());
  });

  it('FS-16: has the money looked for of those that had ended, once', async () => {
    const { id: ended } = await records.ended('expired');
    const { id: paid } = await records.ended('paid');
    const [open] = await onTheirWay(1);
    const { inquireAtGateway, told, late } = createSweep(list([ended, paid, open!]));
    await inquireAtGateway({ gateway: 'sandbox' });
    expect([told, late]).toEqual([[open], [ended]]);
  });
});
