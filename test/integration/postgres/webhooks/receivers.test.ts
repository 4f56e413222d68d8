import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../../contract/limits.ts';
import { minuteMs } from '../../../../contract/time.ts';
import { calmMinutes, createReceivers } from '../../../../postgres/webhooks/receivers.ts';
import { createRetention } from '../../../../postgres/admin/retention.ts';
import { manyPayments, writeDeliveries } from '../../../support/data/payments.ts';
import { aReceiver } from '../../../support/data/receivers.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';

const records = await forFile(startRecords());
const receivers = createReceivers(records.sql);
let receiver: ReturnType<typeof aReceiver>;
beforeEach(async () => {
  await records.beginAgain();
  receiver = aReceiver(records);
});

/** The finding of a sweep, of live events; undefined if nothing has changed. */
const sweep = async () => {
  const changes = await receivers.sweep(receiver.now());
  expect(await receivers.sweep(receiver.now())).toEqual([]);
  return changes.find(({ test }) => !test)?.state;
};
const health = () => receivers.get('shop', false);
const exhaust = async () => {
  const event = await receiver.event();
  await receiver.refuseTimes(event, 6);
  return event;
};

describe('the receiver of an application', () => {
  it('is failing from the third failed attempt on, exhausted at the last, and ok when it accepts an event', async () => {
    const event = await receiver.event();
    for (const [minutes, state] of [
      [0, undefined],
      [1, undefined],
      [5, 'failing'],
      [30, undefined],
      [120, undefined],
      [720, 'exhausted'],
    ] as const) {
      receiver.skip(minutes);
      await receiver.refuse(event);
      expect(await sweep(), `after ${minutes} more minutes`).toBe(state);
    }
    expect(await health()).toMatchObject({ state: 'exhausted', since: receiver.now() });
    receiver.skip(60);
    await receiver.accept(await receiver.event());
    expect(await sweep()).toBe('ok');
    expect(await health()).toMatchObject({ state: 'ok', since: receiver.now(), exhausted: 1 });
  });

  it('was never unwell without a row', async () => {
    await receiver.accept(await receiver.event());
    expect(await sweep()).toBeUndefined();
    expect(await records.sql`select from receivers`).toEqual([]);
    expect(await health()).toMatchObject({ state: 'ok', since: null });
  });

  it('is another one in test mode', async () => {
    const event = await receiver.event({ test: true });
    await receiver.refuseTimes(event, 3);
    expect(await receivers.sweep(receiver.now())).toEqual([
      { application: 'shop', test: true, state: 'failing' },
    ]);
    expect(await health()).toMatchObject({ state: 'ok', waiting: 0 });
    expect(await receivers.get('shop', true)).toMatchObject({ state: 'failing', waiting: 1 });
  });

  it('is not unwell because of the first failures of a replay of what it had accepted', async () => {
    const event = await receiver.event();
    await receiver.accept(event);
    receiver.skip(60);
    await receiver.replay(event);
    await receiver.refuseTimes(event, 2);
    expect(await sweep()).toBeUndefined();
    await receiver.refuse(event);
    expect(await sweep()).toBe('failing');
  });

  it('stays exhausted when a replay fails, and is ok when a replay is accepted', async () => {
    const event = await exhaust();
    expect(await sweep()).toBe('exhausted');
    receiver.skip(60);
    await receiver.replay(event);
    expect(await sweep()).toBeUndefined();
    await receiver.refuse(event);
    expect(await sweep()).toBeUndefined();
    receiver.skip(1);
    await receiver.accept(event);
    expect(await sweep()).toBe('ok');
  });

  it('is ok once it accepts what it had refused, though another one waits for its next attempt', async () => {
    const [one, other] = [await receiver.event(), await receiver.event()];
    for (const event of [one, other]) await receiver.refuseTimes(event, 4);
    expect(await sweep()).toBe('failing');
    receiver.skip(120);
    await receiver.accept(one);
    expect(await sweep()).toBe('ok');
  });

  it('changes at most every ten minutes while it accepts and refuses in turn, and comes to rest', async () => {
    const failing = await Promise.all(Array.from({ length: 12 }, () => receiver.event()));
    for (const event of failing) await receiver.refuseTimes(event, 2);
    const states: unknown[] = [];
    for (const event of failing) {
      receiver.skip(1);
      await receiver.refuse(event);
      states.push(await sweep());
      receiver.skip(1);
      await receiver.accept(await receiver.event());
      states.push(await sweep());
    }
    expect(states.filter((state) => state !== undefined)).toEqual(['failing']);
    receiver.skip(calmMinutes);
    expect(await sweep()).toBe('ok');
    receiver.skip(600);
    expect(await sweep()).toBeUndefined();
  });

  it('that refuses one event alone is unwell for ten minutes after each failure', async () => {
    const event = await receiver.event();
    await receiver.refuseTimes(event, 3);
    receiver.skip(1);
    await receiver.accept(await receiver.event());
    expect(await sweep()).toBe('failing');
    receiver.skip(calmMinutes);
    expect(await sweep()).toBe('ok');
    for (let time = 0; time < 3; time += 1) await receiver.refuse(event);
    expect(await sweep()).toBe('exhausted');
  });

  it('is forgotten without a webhook URL, and found again with one', async () => {
    await exhaust();
    expect(await sweep()).toBe('exhausted');
    await records.sql`update applications set webhook_url = null where slug = 'shop'`;
    expect(await health()).toMatchObject({ state: null, since: null, lastError: null });
    expect(await sweep()).toBeNull();
    expect(await health()).toMatchObject({ state: null, since: null, exhausted: 1 });
    await records.sql`update applications set webhook_url = 'https://shop.example/new' where slug = 'shop'`;
    expect(await sweep()).toBe('exhausted');
  });

  it('of a disabled application is watched as well: its events are still sent', async () => {
    await records.sql`update applications set status = 'disabled' where slug = 'shop'`;
    await exhaust();
    expect(await sweep()).toBe('exhausted');
  });

  it('is forgotten when a purge has deleted what it had refused', async () => {
    await exhaust();
    expect(await sweep()).toBe('exhausted');
    const all = new Date(Date.now() + minuteMs);
    expect(await createRetention(records.sql).deletePayments(all, 10)).toBe(1);
    expect(await sweep()).toBeNull();
    expect(await health()).toMatchObject({ state: 'ok', since: null });
  });
});

describe('the health of a receiver', () => {
  it('says what waits, why, and when the next attempt is due', async () => {
    await receiver.accept(await receiver.event());
    const acceptedAt = receiver.now();
    receiver.skip(1);
    const [first, second] = [await receiver.event(), await receiver.event()];
    await receiver.refuseTimes(first, 3);
    receiver.skip(1);
    await receiver.refuseTimes(second, 3);
    await receiver.refuse(second, { errorClass: 'timeout' });
    await receivers.sweep(receiver.now());
    expect(await health()).toEqual({
      state: 'failing',
      since: receiver.now(),
      waiting: 2,
      exhausted: 0,
      lastError: 'timeout',
      lastAcceptedAt: acceptedAt,
      nextAttemptAt: new Date(receiver.now().getTime() + 29 * minuteMs),
    });
    receiver.skip(30);
    for (const event of [first, second]) await receiver.accept(event);
    await receivers.sweep(receiver.now());
    expect(await health()).toMatchObject({ waiting: 0, lastError: null, nextAttemptAt: null });
  });

  it('counts to a thousand', async () => {
    const payments = manyPayments(limits.receiverEvents + 1, (n) => ({
      id: `PAY_R${n}`,
      test: false,
    }));
    const pending = { status: 'pending', next_attempt_at: new Date() };
    await writeDeliveries(records.sql, payments, () => pending);
    expect(await health()).toMatchObject({ waiting: limits.receiverEvents, exhausted: 0 });
    await records.sql`
      update deliveries set status = 'exhausted', next_attempt_at = null, failing_at = now()`;
    expect(await health()).toMatchObject({ waiting: 0, exhausted: limits.receiverEvents });
  });

  it('of nobody is undefined', async () => {
    expect(await receivers.get('nobody', false)).toBeUndefined();
  });
});
