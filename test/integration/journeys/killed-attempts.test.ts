import Stripe from 'stripe';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifySignature } from '../../../demo/client.ts';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const delaysSeconds = [60, 300, 1_800, 7_200, 43_200];

interface Row {
  number: number;
  scheduled_at: Date;
  duration_ms: number | null;
}

const ledgerOf = (id: string) => service.sql<Row[]>`
  select number, scheduled_at, duration_ms from attempts
  where payment_id = ${id} order by number`;

it(
  'FS-25, FS-30: the worker is killed in the middle of each of the six attempts: six numbers, exact delays',
  { timeout: 400_000 },
  async () => {
    const { token, secret } = await service.anApplication();
    // The first POST of a number hangs until the worker is killed; its repetition is refused.
    service.receiver.behave((nth) => (nth % 2 === 1 ? undefined : 503));
    const id = await createJourney(service, token).finish('pay');
    const dueAt: Date[] = [];
    for (let number = 1; number <= 6; number += 1) {
      await until(`attempt ${number}`, () => service.receiver.of(id)[2 * number - 2], 90_000);
      const row = (await ledgerOf(id)).at(-1);
      expect(row).toMatchObject({ number, duration_ms: null });
      dueAt.push(row!.scheduled_at);
      await service.worker.kill();
      await service.worker.start();
      if (number === 1) await skipAllTime(service.client, id);
      await until(`${number} again`, () => service.receiver.of(id)[2 * number - 1], 90_000);
    }
    await expect(service.client.workflow.getHandle(id).result()).rejects.toMatchObject({
      cause: { type: 'WebhookExhausted' },
    });

    const ledger = await ledgerOf(id);
    expect(ledger.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    // Above the delay lies what a busy machine takes to start an attempt and to tell of its end.
    for (const [index, delay] of delaysSeconds.entries()) {
      const before = ledger[index]!; // There are six.
      const endedMs = before.scheduled_at.getTime() + (before.duration_ms ?? 0);
      const gap = (dueAt[index + 1]!.getTime() - endedMs) / 1000;
      expect(gap).toBeGreaterThanOrEqual(delay - 0.1);
      expect(gap).toBeLessThan(delay + 5);
    }

    const posts = service.receiver.of(id);
    expect(posts.map(({ headers }) => Number(headers['x-service-delivery-attempt']))).toEqual([
      1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6,
    ]);
    expect(new Set(posts.map(({ body }) => body.toString('latin1'))).size).toBe(1);
    expect(new Set(posts.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1);
    const { signature: stripe } = new Stripe('sk_unused').webhooks;
    for (const { body, headers } of posts) {
      const header = String(headers['x-service-signature']);
      const sentMs = Number(headers['x-service-timestamp']) * 1000;
      expect(stripe?.verifyHeader(body, header, secret, 300)).toBe(true);
      const at = (seconds: number) =>
        verifySignature({
          ...{ header, rawBody: body, secret },
          receivedAt: new Date(sentMs + seconds * 1000),
        }).valid;
      // FS-32: both sides of the window.
      expect([-301, -300, 300, 301].map(at)).toEqual([false, true, true, false]);
    }
  },
);
