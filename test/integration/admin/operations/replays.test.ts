import { describe, expect, it } from 'vitest';
import { eventId, newPaymentId } from '../../../../contract/ids.ts';
import { limits } from '../../../../contract/limits.ts';
import { everyDelivery } from '../../../../postgres/webhooks/delivery-filter.ts';
import { emptyTemporal, operationsOn } from '../../../support/service/admin-operations.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());

const anExhausted = () => records.exhausted();

it('a delivery of an application without a webhook URL is not replayed', async () => {
  const { replays } = operationsOn(records.sql);
  const id = await anExhausted();
  const url = 'https://shop.example/webhooks';
  await records.sql`update applications set webhook_url = null where slug = 'shop'`;
  await expect(replays.replayOne(eventId(id), null)).rejects.toThrow('has no webhook URL');
  await records.sql`update applications set webhook_url = ${url} where slug = 'shop'`;
  expect(await deliveryOf(id)).toEqual({ status: 'exhausted', round: 1 });
});

const deliveryOf = async (id: string) => {
  const [row] = await records.sql<{ status: string; round: number }[]>`
    select status, round from deliveries where payment_id = ${id}`;
  return row;
};

/** Operations with a Temporal that records whose delivery it was told of. */
const withTemporal = (deliver = async () => {}) => {
  const told: string[] = [];
  const temporal = async () => ({
    ...emptyTemporal,
    async deliver({ id }: { id: string }) {
      told.push(id);
      await deliver();
    },
  });
  return { ...operationsOn(records.sql, { temporal }), told };
};

const logOf = (id: string) =>
  operationsOn(records.sql).auditLog({ subject: `payment:${id}`, limit: 10 });

describe('a replay of one delivery', () => {
  it('commits a new round with its audit record, and then tells the workflow', async () => {
    const id = await anExhausted();
    const seen: unknown[] = [];
    const { replays, told } = withTemporal(async () => void seen.push(await deliveryOf(id)));
    expect(await replays.replayOne(eventId(id), 'receiver is back')).toBe('at once');
    expect(told).toEqual([id]);
    expect(seen).toEqual([{ status: 'pending', round: 2 }]);
    expect(await logOf(id)).toMatchObject([
      {
        actor: 'ada',
        action: 'delivery.replay',
        reason: 'receiver is back',
        before: { delivery: 'exhausted' },
        after: { delivery: 'pending' },
      },
    ]);
  });

  it('makes the next attempt of a failing delivery due now', async () => {
    const { id } = await records.ended('failed');
    await records.sql`
      update deliveries set next_attempt_at = now() + interval '2 hours' where payment_id = ${id}`;
    const { replays, told } = withTemporal();
    expect(await replays.replayOne(eventId(id), null)).toBe('at once');
    expect([told, await deliveryOf(id)]).toEqual([[id], { status: 'pending', round: 1 }]);
    expect(await logOf(id)).toMatchObject([{ before: { delivery: 'pending' } }]);
  });

  it('is left to the sweeper while Temporal is away', async () => {
    for (const temporal of [
      () => Promise.reject(new Error('cannot connect')),
      async () => ({ ...emptyTemporal, deliver: () => Promise.reject(new Error('away')) }),
    ]) {
      const id = await anExhausted();
      const { replays } = operationsOn(records.sql, { temporal });
      expect(await replays.replayOne(eventId(id), null)).toBe('later');
      expect(await deliveryOf(id)).toEqual({ status: 'pending', round: 2 });
    }
  });

  it('is refused where there is nothing to send, without a word to Temporal', async () => {
    const { replays, told } = withTemporal();
    const due = await records.ended('failed');
    const none = await records.ended('paid', { application: 'quiet' });
    const open = await records.opened();
    for (const [id, why] of [
      [due.id, 'is due now'],
      [none.id, 'had no webhook URL when it was recorded'],
      [open.id, 'There is no event'],
      [newPaymentId(), 'There is no event'],
    ] as const) {
      await expect(replays.replayOne(eventId(id), null)).rejects.toThrow(why);
      expect(await logOf(id)).toEqual([]);
    }
    expect([told, await deliveryOf(none.id)]).toMatchObject([[], { status: 'none' }]);
  });
});

describe('a replay of many deliveries', () => {
  const filter = { ...everyDelivery, delivery: 'exhausted', to: new Date('2999-01-01') } as const;
  const many = () => operationsOn(records.sql, { temporal: async () => emptyTemporal }).replays;

  it.each([0, 1.5, limits.workerReplaysPerSecond + 1])(
    'is refused at %j rounds a second',
    async (perSecond) => {
      await expect(many().start(filter, { perSecond, reason: null })).rejects.toThrow('The rate');
    },
  );

  it('is refused for an application without a webhook URL', async () => {
    const start = many().start({ ...filter, application: 'quiet' }, { perSecond: 1, reason: null });
    await expect(start).rejects.toThrow('has no webhook URL');
  });

  it('is recorded with every part of its filter', async () => {
    const id = await anExhausted();
    await records.sql`update deliveries set error_class = 'tls' where payment_id = ${id}`;
    const whole = {
      ...filter,
      application: 'shop',
      test: true,
      kind: 'payment.paid' as const,
      errorClass: 'tls',
      from: new Date('2020-01-01'),
      eventIds: [eventId(id)],
    };
    const replayId = await many().start(whole, { perSecond: 1, reason: null });
    expect(await many().get(replayId)).toMatchObject({ ...whole, matched: 1, trigger: 'admin' });
    const [record] = await operationsOn(records.sql).auditLog({
      subject: `replay:${replayId}`,
      limit: 1,
    });
    expect(record?.after).toMatchObject({ mode: 'test', error: 'tls', events: 1, per_second: 1 });
  });
});
