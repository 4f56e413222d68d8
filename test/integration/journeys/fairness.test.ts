import { expect, it } from 'vitest';
import type { Journey } from '../../support/service/journey.ts';
import { startReceiver } from '../../support/service/receiver.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { eventId } from '../../../contract/ids.ts';
import { deliverySlots } from '../../../worker/workers.ts';
import { forFile } from '../../support/for-file.ts';

// A pace is measured, so nobody else uses its Temporal.
const service = await forFile(startService({ ownTemporal: true }));
const slow = await forFile(startReceiver());

const slots = deliverySlots / 4;

/** A payment that is paid at the gateway, while its payer has not come back. */
const aPaidOne = async (journey: Journey) => {
  const id = await journey.atGateway();
  await journey.choose(id, 'pay_and_close');
  return id;
};

const many = async <T>(count: number, make: () => Promise<T>): Promise<T[]> => {
  const made: T[] = [];
  const lane = async () => {
    while (made.length < count) made.push(await make());
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return made;
};

it('an application whose receiver hangs uses a quarter of the delivery slots and does not delay another application', async () => {
  const a = await service.anApplication({ webhookUrl: slow.url });
  const b = await service.anApplication();
  const held: (() => void)[] = [];
  let isOpen = false;
  let most = 0;
  let inside = 0;
  slow.behave((_, res) => {
    inside += 1;
    most = Math.max(most, inside);
    res.once('close', () => (inside -= 1));
    if (isOpen) return 204;
    // Before the attempt times out, also on a slow machine, so that each stays the first of A.
    const timer = setTimeout(() => res.writeHead(204).end(), 5_000);
    held.push(() => {
      clearTimeout(timer);
      if (!res.writableEnded) res.writeHead(204).end();
    });
    return undefined;
  });
  const idsOfA = await many(slots + 15, () => aPaidOne(a.journey));
  const idsOfB = await many(4, () => aPaidOne(b.journey));

  await Promise.all(idsOfA.map((id) => a.journey.comeBack(id)));
  await until('A uses all of its slots', () => inside === slots);
  await Promise.all(idsOfB.map((id) => b.journey.comeBack(id)));
  await until('B is delivered', () => idsOfB.every((id) => service.receiver.of(id).length === 1));
  // A was first and still waits for slots.
  expect(slow.all.length).toBeLessThan(idsOfA.length);
  const rows =
    await service.sql`select from attempts where event_id = any(${idsOfA.map(eventId)}::text[]::uuid[])`;
  expect(rows.length).toBeLessThan(idsOfA.length);

  // The worker holds no transaction while it waits for a receiver.
  const busy = await service.sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = 'payments-worker'
      and state like 'idle in transaction%'`;
  expect(busy).toEqual([]);

  isOpen = true;
  for (const answer of held) answer();
  await until('A is delivered', async () => {
    const delivered = await service.sql`
      select from deliveries where payment_id = any(${idsOfA}) and status = 'delivered'`;
    return delivered.length === idsOfA.length;
  });
  expect(most).toBe(slots);
  // Waiting for a slot costs neither a row nor an attempt.
  const numbers = await service.sql<{ number: number }[]>`
    select number from attempts where event_id = any(${idsOfA.map(eventId)}::text[]::uuid[])`;
  expect(numbers.map(({ number }) => number)).toEqual(idsOfA.map(() => 1));
  expect(slow.all).toHaveLength(idsOfA.length);
});

it('an application with many due tasks does not delay the tasks of another application', async () => {
  const [a, b] = [await service.anApplication(), await service.anApplication()];
  await service.worker.stop();
  const idsOfA = await many(100, () => a.journey.create());
  const idsOfB = await many(3, () => b.journey.create());
  await until('all workflows have started', async () => {
    const left = await service.sql`select from workflow_outbox`;
    return left.length === 0;
  });

  await service.worker.start();
  const all = [...idsOfA, ...idsOfB];
  const openings = () =>
    service.sql<{ paymentId: string }[]>`
      select payment_id as "paymentId" from gateway_exchanges
      where operation = 'open' and payment_id = any(${all})
      group by payment_id order by min(id)`;
  const rows = await until('all are opened', async () => {
    const found = await openings();
    return found.length === all.length && found;
  });
  const opened = rows.map(({ paymentId }) => paymentId);
  const lastOfB = Math.max(...idsOfB.map((id) => opened.indexOf(id)));
  // In the order of creation all payments of A would come first.
  expect(lastOfB).toBeLessThan(idsOfA.length / 2);
});
