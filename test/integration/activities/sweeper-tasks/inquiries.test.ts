import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatewayAdapter, GatewayStatus } from '../../../../gateways/gateway.ts';
import { createSweeperQueries } from '../../../../postgres/payments/sweeper.ts';
import type { WorkflowCalls } from '../../../../temporal/workflow-calls.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { confirmed, silence } from '../../../support/service/scripted-gateway.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';
import { until } from '../../../support/until.ts';
import { manyPayments, writePayments } from '../../../support/data/payments.ts';

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

const tasksWith = (
  script: Partial<GatewayAdapter>,
  recheck?: WorkflowCalls['recheck'],
): ReturnType<typeof sweeperTasksOn> =>
  sweeperTasksOn(records, script, recheck ? { workflows: { recheck } } : {});

/** Payments whose payer was sent to the gateway so long ago that an inquiry is due. */
const dueForInquiry = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await records.sent()).id);
  await records.sql`
    update payments set checkout_at = now() - interval '3 minutes' where checkout_at is not null`;
  return ids;
};

const temporalIsAway = () => Promise.reject(new Error('Temporal is away'));
const fault = () => Promise.reject(new Error('our fault'));

describe('inquireAtGateway', () => {
  it('rechecks each payment that its gateway has news of, and changes nothing itself', async () => {
    const ids = await dueForInquiry(4);
    const answers: GatewayStatus[] = [
      { state: 'waiting' },
      { state: 'processing' },
      confirmed(),
      { state: 'cancelled' },
    ];
    const answerOf = (id: string) => answers[ids.indexOf(id)]!; // As many as there are payments.
    const { inquireAtGateway, rechecked, asked } = tasksWith({
      inquire: async ({ id }) => answerOf(id),
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(4);
    expect(rechecked.sort()).toEqual(ids.slice(1).sort());
    expect(asked.every(({ call }) => call === 'inquire')).toBe(true);
    const statuses = await records.sql`select distinct status from payments`;
    expect(statuses).toEqual([{ status: 'pending' }]);
  });

  it('continues if the gateway does not answer about one payment, or a recheck fails', async () => {
    const [silent, failing, third] = await dueForInquiry(3);
    const rechecked: string[] = [];
    const { inquireAtGateway, warnings } = tasksWith(
      { inquire: async ({ id }) => (id === silent ? silence() : confirmed()) },
      async ({ id }) => {
        if (id === failing) throw new Error('Temporal is away');
        rechecked.push(id);
      },
    );
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(rechecked).toEqual([third]);
    // Each failure is logged.
    expect(new Set(warnings().map((line) => line['payment_id']))).toEqual(
      new Set([silent, failing]),
    );
    // The next sweep inquires about the failed one again.
    const due = await createSweeperQueries(records.sql).claimForInquiry('sandbox', 10);
    expect(due.map(({ id }) => id)).toEqual([failing]);
  });

  it('inquires again half a minute after an inquiry or a verification without an answer', async () => {
    const [silent, answered, returned, rechecked] = await dueForInquiry(4);
    await records.sql`
      update payments set checkout_at = now() - interval '40 minutes',
        expires_at = now() + interval '1 hour'`;
    await records.inquired(returned!, { answer: 'unknown' });
    const { inquireAtGateway } = tasksWith(
      {
        async inquire({ id }) {
          if (id === silent) return silence();
          return { state: id === rechecked ? 'processing' : 'waiting' };
        },
      },
      // The verification of the workflow gets no answer.
      async ({ id }) => void (await records.inquired(id, { answer: 'unknown' })),
    );
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(3);
    const { claimForInquiry } = createSweeperQueries(records.sql);
    const dueAfter = async (time: string) => {
      await records.sql`update payments set inquired_at = inquired_at - ${time}::interval`;
      return (await claimForInquiry('sandbox', 10)).map(({ id }) => id).sort();
    };
    const soon = [silent!, returned!, rechecked!].sort();
    expect(await dueAfter('20 seconds')).toEqual([]);
    expect(await dueAfter('10 seconds')).toEqual(soon);
    // The worker that claimed them was killed.
    expect(await dueAfter('30 seconds')).toEqual(soon);
    expect(await dueAfter('5 minutes')).not.toContain(answered);
    expect(await dueAfter('3 minutes')).toContain(answered);
  });

  it.each([
    { sent: 29 * 60, again: 120 },
    { sent: 30 * 60 + 10, again: 28 },
    // The interval changes in between: half a minute less than 8 minutes after the previous answer.
    { sent: 32 * 60 + 50, again: 388 },
    { sent: 34 * 60, again: 28 },
  ])(
    'inquires again after $again s without an answer if the payer was sent $sent s ago',
    async ({ sent, again }) => {
      const [id] = await dueForInquiry(1);
      const pass = (seconds: number) => records.sql`
        update payments set checkout_at = checkout_at - make_interval(secs => ${seconds}),
          inquired_at = inquired_at - make_interval(secs => ${seconds}),
          expires_at = now() + interval '1 hour'`;
      await pass(sent - 180);
      const { inquireAtGateway } = tasksWith({ inquire: silence });
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

  it('inquires about all others if the recheck of a listed payment always fails', async () => {
    const [listed, ...others] = await dueForInquiry(25);
    await records.sql`update payments set uncertain = true`;
    const { inquireAtGateway, asked } = tasksWith(
      { ...list([listed!]), inquire: async () => ({ state: 'waiting' }) },
      temporalIsAway,
    );
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(25);
    expect(asked.map(({ payment }) => payment.id).sort()).toEqual(others.sort());
  });

  it.each<[string, Partial<GatewayAdapter>, 'Temporal is away' | 'our fault' | undefined]>([
    ['fails if every recheck fails', { inquire: async () => confirmed() }, 'Temporal is away'],
    ['fails if every inquiry ends with a fault of ours', { inquire: fault }, 'our fault'],
    ['does not fail if the gateway answers no inquiry', { inquire: silence }, undefined],
  ])('%s', async (_, script, error) => {
    await dueForInquiry(2);
    const { inquireAtGateway } = tasksWith(script, temporalIsAway);
    const inquiring = inquireAtGateway({ gateway: 'sandbox' });
    if (error) await expect(inquiring).rejects.toThrow(error);
    else expect(await inquiring).toBe(2);
  });

  it('releases the claims for which a slow gateway left no time', async () => {
    const ids = await dueForInquiry(30);
    await records.sql`update payments set uncertain = true where id = any(${ids}::text[])`;
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { inquireAtGateway, asked } = tasksWith({
      ...list([]),
      async inquire() {
        // The first batch has 10 payments and the second the rest; in it the time ends.
        if (asked.length === 15) vi.advanceTimersByTime(21_000);
        return { state: 'waiting' };
      },
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(asked.length);
    expect(asked.length).toBeLessThan(30);
    const marked = await records.sql`select from payments where inquired_at is not null`;
    expect(marked).toHaveLength(asked.length);
  });

  it('claims no more payments than it inquires about at once', async () => {
    await dueForInquiry(75);
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { inquireAtGateway, asked } = tasksWith({ inquire: () => promise });
    const inquiring = inquireAtGateway({ gateway: 'sandbox' });
    await until('the gateway gets as many inquiries as at once', () => asked.length === 50);
    const marked = await records.sql`select from payments where inquired_at is not null`;
    expect(marked).toHaveLength(50);
    answer({ state: 'waiting' });
    expect(await inquiring).toBe(75);
    expect(new Set(asked.map(({ payment }) => payment.id)).size).toBe(75);
  });

  it('continues at its pace while one inquiry waits for a late answer', async () => {
    await manyWaiting(150);
    await records.sql`update payments set checkout_at = now() - interval '3 minutes'`;
    const { promise, resolve: answer } = Promise.withResolvers<GatewayStatus>();
    const { inquireAtGateway, asked } = tasksWith({
      async inquire() {
        if (asked.length === 1) return promise;
        if (asked.length === 140) answer({ state: 'waiting' });
        return { state: 'waiting' };
      },
    });
    const began = performance.now();
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(150);
    expect(new Set(asked.map(({ payment }) => payment.id)).size).toBe(150);
    // 50 at the start, then at most 100 a second.
    expect(performance.now() - began).toBeGreaterThan(900);
  });
});

/** Open payments whose payer was never sent to the gateway. */
const manyWaiting = (count: number) => {
  const opened = (n: number) => ({ gatewayReference: `REF_W${n}`, gatewayRedirect: {} });
  return writePayments(
    records.sql,
    manyPayments(count, (n) => ({ id: `PAY_W${n}`, ...opened(n) })),
  );
};

const references = (ids: readonly string[]) => ids.map((id) => `REF_${id}`);
const list = (ids: readonly string[], complete = true) => ({
  listUnverified: async () => ({ references: references(ids), complete }),
});
const neverCalled = async (): Promise<never> => {
  throw new Error('This call was not expected');
};

describe('the cost of the inquiries', () => {
  it('depends on the 50 payers at the gateway, not on 1,000 open payments', async () => {
    await manyWaiting(1_000);
    const ids = await dueForInquiry(50);
    const { inquireAtGateway, asked } = tasksWith({
      inquire: async () => ({ state: 'waiting' }),
    });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(50);
    expect(asked.map(({ payment }) => payment.id).sort()).toEqual(ids.sort());
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(0);
    expect(asked).toHaveLength(50);
  });

  it('is one call if the gateway has a list, and no call if no inquiry is due', async () => {
    await manyWaiting(1_000);
    const { inquireAtGateway, asked, lists } = tasksWith({ ...list([]), inquire: neverCalled });
    expect(await inquireAtGateway({ gateway: 'sandbox' })).toBe(0);
    expect(lists()).toBe(0);
    const ids = await dueForInquiry(50);
    const paid = [ids[0]!, ids[20]!, ids[49]!];
    const { rechecked, ...listing } = tasksWith({ ...list(paid), inquire: neverCalled });
    expect(await listing.inquireAtGateway({ gateway: 'sandbox' })).toBe(50);
    expect([listing.lists(), asked, listing.asked]).toEqual([1, [], []]);
    expect(rechecked.sort()).toEqual(paid.sort());
  });
});

describe('inquireAtGateway, if the gateway lists unverified payments', () => {
  it('inquires about payments that an incomplete list lacks', async () => {
    const [listed, beyond] = await dueForInquiry(2);
    const { inquireAtGateway, asked, rechecked } = tasksWith({
      ...list([listed!], false),
      inquire: async () => ({ state: 'cancelled' }),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(asked.map(({ payment }) => payment.id)).toEqual([beyond]);
    expect(rechecked.sort()).toEqual([listed!, beyond!].sort());
  });

  it('inquires about each payment if the list does not come', async () => {
    await dueForInquiry(3);
    const { inquireAtGateway, asked, rechecked } = tasksWith({
      listUnverified: silence,
      inquire: async () => confirmed(),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect([asked.length, rechecked.length]).toEqual([3, 3]);
  });

  it('inquires about uncertain payments: a verification with a lost answer removes them from the list', async () => {
    const [lost, returned, quiet] = await dueForInquiry(3);
    const now = new Date(Date.now() - 150_000);
    await records.inquired(lost!, { answer: 'unknown', now });
    await records.inquired(returned!, { becomesProcessing: true, now });
    await records.inquired(quiet!, { answer: 'unknown', now });
    // An answer later.
    await records.inquired(quiet!, { now });
    const { inquireAtGateway, rechecked } = tasksWith({
      ...list([]),
      inquire: async () => confirmed(),
    });
    await inquireAtGateway({ gateway: 'sandbox' });
    expect(rechecked.sort()).toEqual([lost!, returned!].sort());
  });

  it('starts the late-payment workflow of listed payments that have ended unpaid', async () => {
    const { id: ended } = await records.ended('expired');
    const { id: paid } = await records.ended('paid');
    const [open] = await dueForInquiry(1);
    const { inquireAtGateway, rechecked, late } = tasksWith(list([ended, paid, open!]));
    await inquireAtGateway({ gateway: 'sandbox' });
    expect([rechecked, late]).toEqual([[open], [ended]]);
  });
});

it('inquireAtGateways inquires at every gateway in use, and a gateway that fails does not stop the others', async () => {
  for (const slug of ['second', 'unused'])
    await records.addGateway('sandbox', { slug, kind: 'sandbox' });
  const [failing] = await dueForInquiry(1);
  const { id } = await records.sent({ gateway: 'second' });
  await records.sql`update payments set checkout_at = now() - interval '3 minutes'`;
  const inquire: GatewayAdapter['inquire'] = async (payment) => {
    if (payment.id === failing) throw new Error('our fault');
    return confirmed();
  };
  const { inquireAtGateways, rechecked } = tasksWith({ inquire });
  await expect(inquireAtGateways()).rejects.toThrow('our fault');
  expect(rechecked).toEqual([id]);
});
