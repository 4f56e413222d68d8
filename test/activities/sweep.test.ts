import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Deps } from '../../activities/sweep.ts';
import { createSweepActivities } from '../../activities/sweep.ts';
import type { Answer, GatewayAdapter } from '../../gateways/gateway.ts';
import { createIdempotencyKeys } from '../../postgres/idempotency-keys.ts';
import { createSweepQueries } from '../../postgres/sweep.ts';
import { createUnstarted } from '../../postgres/unstarted.ts';
import type { Records } from '../support/records.ts';
import { startRecords } from '../support/records.ts';
import {
  aGateway,
  confirmed,
  publicBaseUrl,
  readableLogger,
  silence,
} from '../support/scripted-gateway.ts';
import { until } from '../support/until.ts';

let records: Records;
beforeEach(async () => {
  records = await startRecords();
});
afterEach(() => records.drop());

const createSweep = (
  script: Partial<GatewayAdapter>,
  workflows: Partial<Deps['workflows']> = {},
) => {
  const { adapter, asked } = aGateway(script);
  const told: string[] = [];
  const late: string[] = [];
  const started: { id: string; again: boolean }[] = [];
  const { logger, alerts } = readableLogger();
  const activities = createSweepActivities({
    sweepQueries: createSweepQueries(records.sql),
    unstarted: createUnstarted(records.sql),
    idempotencyKeys: createIdempotencyKeys(records.sql),
    settlements: records.settlements,
    gatewayOf: () => adapter,
    workflows: {
      async start({ id }, { again }) {
        started.push({ id, again });
      },
      async tell(id) {
        told.push(id);
      },
      async startLate(id) {
        late.push(id);
      },
      ...workflows,
    },
    publicBaseUrl,
    logger,
  });
  return { ...activities, asked, told, late, started, alerts };
};

/** Payers who were sent off so long ago that they are asked about. */
const onTheirWay = async (count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await records.sent()).id);
  await records.sql`update payments set checkout_at = now() - interval '3 minutes'`;
  return ids;
};

describe('askGateway', () => {
  it('FS-05: tells the workflow of each payment whose gateway has news, and changes nothing itself', async () => {
    const ids = await onTheirWay(4);
    const answers: Answer[] = [
      { state: 'waiting' },
      { state: 'settling' },
      confirmed(),
      { state: 'cancelled' },
    ];
    const of = (id: string) => answers[ids.indexOf(id)]!; // As many as there are payments.
    const { askGateway, told, asked } = createSweep({ inquire: async ({ id }) => of(id) });
    expect(await askGateway({ gateway: 'sandbox' })).toBe(4);
    expect(told.sort()).toEqual(ids.slice(1).sort());
    expect(asked.every(({ call }) => call === 'inquire')).toBe(true);
    const statuses = await records.sql`select distinct status from payments`;
    expect(statuses).toEqual([{ status: 'pending' }]);
  });

  it('goes on when the gateway is silent about one payment, or its workflow cannot be told', async () => {
    const [silent, untold, third] = await onTheirWay(3);
    const told: string[] = [];
    const { askGateway } = createSweep(
      { inquire: async ({ id }) => (id === silent ? silence() : confirmed()) },
      {
        async tell(id) {
          if (id === untold) throw new Error('no such workflow');
          told.push(id);
        },
      },
    );
    await askGateway({ gateway: 'sandbox' });
    expect(told).toEqual([third]);
  });

  it('is no failure of ours when the gateway is silent about everybody', async () => {
    await onTheirWay(2);
    const { askGateway, told } = createSweep({ inquire: silence });
    expect(await askGateway({ gateway: 'sandbox' })).toBe(2);
    expect(told).toEqual([]);
  });

  it('counts nobody as asked about whom a slow gateway leaves no time', async () => {
    await onTheirWay(25);
    const { promise, resolve: answer } = Promise.withResolvers<Answer>();
    const { askGateway, asked } = createSweep({ inquire: () => promise });
    const sweeping = askGateway({ gateway: 'sandbox' });
    await until('the gateway is asked', () => asked.length > 0);
    await until('it is asked about as many as at once', () => asked.length === 10);
    const marked = await records.sql`select from payments where asked_at is not null`;
    expect(marked).toHaveLength(10);
    answer({ state: 'waiting' });
    expect(await sweeping).toBe(25);
    expect(new Set(asked.map(({ payment }) => payment.id)).size).toBe(25);
  });
});

describe('startUnstarted', () => {
  it('starts what was not started, and keeps what could not be', async () => {
    const old = { createdAt: new Date(Date.now() - 60_000) };
    const [first, second] = [await records.created(old), await records.created(old)];
    await records.created();
    const startable = new Set([first.id]);
    const { startUnstarted } = createSweep(
      {},
      {
        async start({ id }, { again }) {
          expect(again).toBe(false);
          if (!startable.has(id)) throw new Error('the engine is away');
        },
      },
    );
    expect(await startUnstarted()).toBe(1);
    const left = async () => createUnstarted(records.sql).list({ limit: 9, age: '5 seconds' });
    expect(await left()).toMatchObject([{ id: second.id }]);
    await expect(startUnstarted()).rejects.toThrow('the engine is away');
    startable.add(second.id);
    expect(await startUnstarted()).toBe(1);
    expect(await left()).toEqual([]);
  });
});

describe('healPayments', () => {
  it('FS-26: alerts on deliveries that are more than 2 minutes overdue, and on no others', async () => {
    await records.ended('paid');
    const quiet = createSweep({});
    await quiet.healPayments();
    const { id } = await records.ended('paid');
    await records.sql`
      update deliveries set next_attempt_at = now() - interval '121 seconds'
      where payment_id = ${id}`;
    const alerted = createSweep({});
    await alerted.healPayments();
    expect([quiet.alerts(), alerted.alerts()]).toEqual([[], ['deliveries_overdue']]);
    await records.sql`update deliveries set status = 'delivered', next_attempt_at = null`;
  });

  it('FS-22: starts lost payments and lost deliveries again, each once', async () => {
    const { id: waiting } = await records.sent();
    const { id: undelivered } = await records.ended('paid');
    await records.sql`update payments set expires_at = now() - interval '21 minutes'`;
    await records.sql`update deliveries set next_attempt_at = now() - interval '6 minutes'`;
    const { healPayments, started } = createSweep({});
    expect(await healPayments()).toBe(2);
    expect(started).toEqual([
      { id: waiting, again: true },
      { id: undelivered, again: true },
    ]);
    expect(await healPayments()).toBe(0);
  });
});
