import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { eventId } from '../../../contract/ids.ts';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());

const documentedDelaysSeconds = [60, 300, 1_800, 7_200, 43_200];
/** A busy machine needs some time to start an attempt and to report its end. */
const busySeconds = 30;

interface AttemptRow {
  number: number;
  scheduled_at: Date;
  duration_ms: number | null;
  response_status: number | null;
}

const ledgerOf = (id: string) => service.sql<AttemptRow[]>`
  select number, scheduled_at, duration_ms, response_status
  from attempts where event_id = ${eventId(id)} order by number`;

it('a webhook that its receiver refuses is sent six times with the documented delays, then its workflow fails as WebhookExhausted', async () => {
  const { journey, secret } = await service.anApplication();
  service.receiver.behave(() => 500);
  const id = await journey.finish('pay');
  await until('the first attempt', () => service.receiver.of(id)[0]);
  await skipAllTime(service.client, id);

  const handle = service.client.workflow.getHandle(id);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'WebhookExhausted' } });
  expect((await handle.describe()).status.name).toBe('FAILED');
  expect((await journey.get(id)).json['status']).toBe('paid');

  const posts = service.receiver.of(id);
  expect(posts.map(({ headers }) => headers['x-service-delivery-attempt'])).toEqual(
    ['1', '2', '3', '4', '5', '6'], // The numbers rise.
  );
  expect(new Set(posts.map(({ body }) => body.toString())).size).toBe(1);
  expect(new Set(posts.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1);
  for (const { body, headers } of posts) {
    const signature = String(headers['x-service-signature']);
    expect(
      new Stripe('sk_unused').webhooks.signature?.verifyHeader(body, signature, secret, 300),
    ).toBe(true);
    expect(signature.startsWith(`t=${String(headers['x-service-timestamp'])},v1=`)).toBe(true);
  }

  const attempts = await ledgerOf(id);
  const gaps = attempts.slice(1).map((attempt, index) => {
    const before = attempts[index]!; // It exists, because the slice starts at 1.
    const ended = before.scheduled_at.getTime() + (before.duration_ms ?? 0);
    return (attempt.scheduled_at.getTime() - ended) / 1000;
  });
  for (const [index, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(documentedDelaysSeconds[index]! - 0.1);
    expect(gap).toBeLessThan(documentedDelaysSeconds[index]! + busySeconds);
  }
  expect(attempts.map(({ response_status }) => response_status)).toEqual(Array(6).fill(500));

  // From the schedule of the first attempt to the end of the last one, in Temporal's history.
  const { events } = await handle.fetchHistory();
  const at = (name: 'activityTaskScheduledEventAttributes' | 'activityTaskFailedEventAttributes') =>
    Number(events?.findLast((event) => event[name])?.eventTime?.seconds);
  const whole =
    at('activityTaskFailedEventAttributes') - at('activityTaskScheduledEventAttributes');
  const documented = documentedDelaysSeconds.reduce((sum, seconds) => sum + seconds, 0);
  expect(whole).toBeGreaterThanOrEqual(documented);
  expect(whole).toBeLessThan(documented + attempts.length * busySeconds);

  const [delivery] = await service.sql`select status from deliveries where payment_id = ${id}`;
  expect(delivery?.['status']).toBe('exhausted');
});

it('a webhook that is accepted before its timeout of 10 seconds is sent once, because no other timeout is shorter', async () => {
  const { journey } = await service.anApplication();
  // A limit that is shorter than the documented one shows only to who waits for it.
  service.receiver.behave(() => sleep(6_000, 204));
  const id = await journey.finish('pay');
  await service.client.workflow.getHandle(id).result();

  expect(service.receiver.of(id)).toHaveLength(1);
  const attempts = await ledgerOf(id);
  expect(attempts).toMatchObject([{ number: 1, response_status: 204 }]);
  expect(attempts[0]?.duration_ms).toBeGreaterThanOrEqual(5_900);
  const [delivery] = await service.sql`select status from deliveries where payment_id = ${id}`;
  expect(delivery?.['status']).toBe('delivered');
});
