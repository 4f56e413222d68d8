import { beforeEach, describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../../../contract/time.ts';
import { manyPayments, writeDeliveries } from '../../../support/data/payments.ts';
import { aReceiver } from '../../../support/data/receivers.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';

const address = 'ops@shop.example';
const records = await forFile(startRecords());
let receiver: ReturnType<typeof aReceiver>;
beforeEach(async () => {
  await records.beginAgain();
  receiver = aReceiver(records);
  await confirm(address);
});

const confirm = (added: string, application = 'shop') => records.sql`
  insert into notice_addresses (application, address, confirmed_at) values (${application}, ${added}, now())`;
const sweep = () => sweeperTasksOn(records, {}, { now: receiver.now }).watchReceivers();

interface Row {
  kind: string;
  address: string;
  at: Date;
}
/** In the order of writing. */
const notices = () => records.sql<Row[]>`
  select kind, address, created_at as at from notices order by created_at, kind, address`;
const kinds = async () => (await notices()).map(({ kind }) => kind);

const failing = async () => {
  const event = await receiver.event();
  await receiver.refuseTimes(event, 3);
  return event;
};
const exhausted = async () => {
  const event = await receiver.event();
  await receiver.refuseTimes(event, 6);
  return event;
};
const accepted = async () => receiver.accept(await receiver.event());

describe('the notices of a receiver', () => {
  it('are one for each change to each confirmed address, and nobody else', async () => {
    await confirm('more@shop.example');
    await confirm('ops@quiet.example', 'quiet');
    await records.sql`
      insert into notice_addresses (application, address, confirmed_at, unsubscribed_at) values
        ('shop', 'asked@shop.example', null, null), ('shop', 'left@shop.example', now(), now())`;
    const event = await failing();
    for (let time = 0; time < 2; time += 1) await sweep();
    receiver.skip(60);
    await receiver.refuseTimes(event, 3);
    for (let time = 0; time < 2; time += 1) await sweep();
    receiver.skip(60);
    await accepted();
    for (let time = 0; time < 2; time += 1) await sweep();
    expect((await notices()).map(({ kind, address: to }) => [kind, to])).toEqual([
      ['failing', 'more@shop.example'],
      ['failing', address],
      ['exhausted', 'more@shop.example'],
      ['exhausted', address],
      ['recovered', 'more@shop.example'],
      ['recovered', address],
    ]);
    const [row] = await records.sql`
      select next_try_at = created_at as "isDue", tries, state_since = created_at as "isOfState" from notices limit 1`;
    expect(row).toEqual({ isDue: true, tries: 0, isOfState: true });
  });

  it('are one, however many deliveries fail at once', async () => {
    const first = await failing();
    const [row = {}] = await records.sql`
      select status, next_attempt_at, failing_at, error_class, recorded_at, created_at
      from deliveries where event_id = ${first}`;
    const payments = manyPayments(1_000, (n) => ({ id: `PAY_R${n}`, test: false }));
    await writeDeliveries(records.sql, payments, () => row);
    for (let minute = 0; minute < 10; minute += 1) {
      await sweep();
      receiver.skip(1);
    }
    expect(await kinds()).toEqual(['failing']);
  });

  it('are none of tests, or of a receiver that nobody knows to be unwell', async () => {
    await receiver.refuseTimes(await receiver.event({ test: true }), 3);
    await sweep();
    await failing();
    receiver.skip(60);
    await accepted();
    await sweep();
    expect(await kinds()).toEqual([]);
  });

  it('go on once a day while it is unwell, and tell of the recovery', async () => {
    await exhausted();
    for (let hour = 0; hour < 72; hour += 1) {
      await sweep();
      receiver.skip(60);
    }
    await accepted();
    await sweep();
    const rows = await notices();
    expect(rows.map(({ kind }) => kind)).toEqual(['exhausted', 'digest', 'digest', 'recovered']);
    expect((rows[1]?.at.getTime() ?? 0) - (rows[0]?.at.getTime() ?? 0)).toBe(dayMs);
  });

  it('are at most three in any 24 hours while it flaps, and the last one is true', async () => {
    const started = receiver.now().getTime();
    for (let minute = 0; minute < 30 * 60; minute += 30) {
      const event = await failing();
      if (minute % 120 === 90) await receiver.refuseTimes(event, 3);
      await sweep();
      receiver.skip(2);
      await receiver.accept(event);
      await accepted();
      receiver.skip(22);
      await sweep();
      receiver.skip(6);
    }
    receiver.skip(24 * 60);
    await sweep();
    const rows = await notices();
    for (let hour = 0; hour < 55; hour += 1) {
      const from = started + hour * hourMs;
      const within = rows.filter(({ at }) => at.getTime() >= from && at.getTime() < from + dayMs);
      expect(within.length, `from hour ${hour}`).toBeLessThanOrEqual(3);
      for (const kind of ['failing', 'exhausted', 'recovered', 'digest'])
        expect(within.filter((row) => row.kind === kind).length, kind).toBeLessThanOrEqual(1);
    }
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.at(-1)?.kind).toBe('recovered');
  });

  it('are at most three in hours in which it refuses and accepts in each other minute', async () => {
    const event = await failing();
    for (let minute = 0; minute < 4 * 60; minute += 1) {
      // The rows are as the third refusal and an accepted attempt leave them.
      const at = receiver.now();
      await (minute % 2 === 0
        ? records.sql`
          update deliveries set status = 'pending', next_attempt_at = ${at}, failing_at = ${at}, delivered_at = null
          where event_id = ${event}`
        : records.sql`
          update deliveries set status = 'delivered', next_attempt_at = null, delivered_at = ${at} where event_id = ${event}`);
      await sweep();
      receiver.skip(1);
    }
    const written = await kinds();
    expect(written[0]).toBe('failing');
    expect(written.length).toBeLessThanOrEqual(3);
  });

  it('do not tell of a recovery to an address that no mail about the trouble has reached', async () => {
    const event = await failing();
    await sweep();
    await records.sql`update notices set result = 'failed', next_try_at = null`;
    receiver.skip(30);
    await receiver.accept(event);
    await sweep();
    expect(await kinds()).toEqual(['failing']);
  });

  it('begin with the present state for an address that is confirmed later', async () => {
    await exhausted();
    await sweep();
    receiver.skip(60);
    await confirm('new@shop.example');
    await sweep();
    expect(await notices()).toMatchObject([
      { kind: 'exhausted', address },
      { kind: 'exhausted', address: 'new@shop.example' },
    ]);
  });

  it('are silent when the trouble is forgotten: nobody knows that the receiver accepts anything', async () => {
    await exhausted();
    await sweep();
    await records.sql`update applications set webhook_url = null where slug = 'shop'`;
    receiver.skip(2 * 24 * 60);
    await sweep();
    expect(await kinds()).toEqual(['exhausted']);
  });

  it('live for a week', async () => {
    await failing();
    await sweep();
    await accepted();
    receiver.skip(7 * 24 * 60);
    await sweep();
    const before = await kinds();
    receiver.skip(1);
    await sweep();
    expect([before, await kinds()]).toEqual([['failing', 'recovered'], ['recovered']]);
  });
});
