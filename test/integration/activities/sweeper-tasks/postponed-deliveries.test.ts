import { beforeEach, describe, expect, it } from 'vitest';
import { hourMs } from '../../../../contract/time.ts';
import { createDeliveries } from '../../../../postgres/webhooks/deliveries.ts';
import { aReceiver } from '../../../support/data/receivers.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { sweeperTasksOn } from '../../../support/service/scripted-sweep.ts';
import { manyPayments, writeDeliveries } from '../../../support/data/payments.ts';

const records = await forFile(startRecords());
beforeEach(records.beginAgain);

/** Postponed deliveries PAY_D1 (the oldest), PAY_D2 … */
const postponed = (count: number, application = 'shop') => {
  const hourAgo = Date.now() - hourMs;
  const payments = manyPayments(count, (n) => ({ id: `PAY_D${n}`, application }));
  return writeDeliveries(records.sql, payments.toReversed(), (n) => ({
    status: 'pending',
    next_attempt_at: new Date(hourAgo),
    postponed_at: new Date(hourAgo + count - n),
  }));
};

const idsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => `PAY_D${first + index}`);

/** These deliveries have made an attempt. */
const attempted = (ids: readonly string[]) => records.sql`
  update deliveries set postponed_at = null
  where payment_id = any(${[...ids]}::text[])`;

describe('wakePostponedDeliveries', () => {
  it('wakes the oldest first, twice as many while the receiver keeps up', async () => {
    await postponed(2_000);
    const { wakePostponedDeliveries, rechecked, reported } = sweeperTasksOn(records, {});
    let first = 1;
    for (const size of [100, 200, 400, 500, 500]) {
      rechecked.length = 0;
      expect(await wakePostponedDeliveries()).toBe(size);
      expect(rechecked).toEqual(idsFrom(first, size));
      expect(reported).toEqual([]);
      await attempted(rechecked);
      first += size;
    }
  });

  it('wakes ten in a sweep while the receiver is dead', async () => {
    await postponed(2_000);
    const { wakePostponedDeliveries } = sweeperTasksOn(records, {});
    const sizes: number[] = [];
    for (let sweeps = 0; sweeps < 8; sweeps += 1) sizes.push(await wakePostponedDeliveries());
    expect(sizes).toEqual([100, 50, 25, 12, 10, 10, 10, 10]);
  });

  it('has a batch of its own for each application, and starts anew after it has caught up', async () => {
    const { wakePostponedDeliveries } = sweeperTasksOn(records, {});
    await postponed(150, 'quiet');
    expect(await wakePostponedDeliveries()).toBe(100);
    await attempted(idsFrom(1, 150));
    expect(await wakePostponedDeliveries()).toBe(0);
    await records.sql`update deliveries set postponed_at = now()`;
    expect(await wakePostponedDeliveries()).toBe(100);
  });

  it('leaves healing nothing to do with them, though they are overdue', async () => {
    await postponed(3);
    const { healPayments, restarted, rechecked } = sweeperTasksOn(records, {});
    expect(await healPayments()).toBe(0);
    expect([...restarted, ...rechecked]).toEqual([]);
  });

  it('fails if Temporal is unavailable, and wakes the same ones in the next sweep', async () => {
    await postponed(3);
    let isAway = true;
    const woken: string[] = [];
    const { wakePostponedDeliveries } = sweeperTasksOn(
      records,
      {},
      {
        workflows: {
          async recheck({ id }) {
            if (isAway) throw new Error('Temporal is away');
            woken.push(id);
          },
        },
      },
    );
    await expect(wakePostponedDeliveries()).rejects.toThrow('Temporal is away');
    isAway = false;
    await wakePostponedDeliveries();
    expect(woken).toEqual(idsFrom(1, 3));
  });
});

it('a postponed delivery keeps its place when it is postponed again, and loses it after an attempt', async () => {
  const receiver = aReceiver(records);
  const event = await receiver.event();
  const { postpone } = createDeliveries(records.sql);
  const rowOf = async () => {
    const [row] = await records.sql`
      select postponed_at from deliveries where event_id = ${event}`;
    return row;
  };
  const at = new Date();
  await postpone(event, at);
  await postpone(event, new Date(at.getTime() + 60_000));
  expect(await rowOf()).toEqual({ postponed_at: at });
  await receiver.refuse(event);
  expect(await rowOf()).toEqual({ postponed_at: null });
});
