import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const documentedDelaysSeconds = [60, 300, 1_800, 7_200, 43_200];

interface AttemptRow {
  number: number;
  round: number;
  scheduled_at: Date;
  duration_ms: number;
  response_status: number;
  completed_at: Date | null;
}

describe('a webhook that nobody accepts', () => {
  it('FS-31: is sent six times with the documented delays, then its workflow fails as WebhookExhausted', async () => {
    const { token, secret } = await service.anApplication();
    service.receiver.behave(() => 500);
    const journey = createJourney(service, token);
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

    const attempts = await service.sql<AttemptRow[]>`
      select number, round, scheduled_at, duration_ms, response_status, completed_at
      from attempts where payment_id = ${id} order by number`;
    const gaps = attempts.slice(1).map((attempt, index) => {
      const before = attempts[index]!; // The row before exists: this is a slice from 1.
      const ended = before.scheduled_at.getTime() + before.duration_ms;
      return (attempt.scheduled_at.getTime() - ended) / 1000;
    });
    // Above the delay lies what a busy machine takes to start an attempt and to tell of its end.
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual(documentedDelaysSeconds[index]! - 0.1);
      expect(gap).toBeLessThan(documentedDelaysSeconds[index]! + 5);
    }
    expect(attempts.map(({ response_status }) => response_status)).toEqual(Array(6).fill(500));

    // The engine's own history: from the first attempt's schedule to the end, to the second.
    const { events } = await handle.fetchHistory();
    const at = (
      name: 'activityTaskScheduledEventAttributes' | 'activityTaskFailedEventAttributes',
    ) => Number(events?.findLast((event) => event[name])?.eventTime?.seconds);
    const whole =
      at('activityTaskFailedEventAttributes') - at('activityTaskScheduledEventAttributes');
    const documented = documentedDelaysSeconds.reduce((sum, seconds) => sum + seconds, 0);
    expect(whole).toBeGreaterThanOrEqual(documented);
    expect(whole).toBeLessThan(documented + 25);

    const [delivery] = await service.sql`select status from deliveries where payment_id = ${id}`;
    expect(delivery?.['status']).toBe('exhausted');
  });

  it('gets six new attempts, numbered on, when its workflow is reset to the delivery by hand', async () => {
    const { token } = await service.anApplication();
    service.receiver.behave(() => 410);
    const journey = createJourney(service, token);
    const id = await journey.finish('cancel');
    await until('the first attempt', () => service.receiver.of(id)[0]);
    await skipAllTime(service.client, id);
    const handle = service.client.workflow.getHandle(id);
    await expect(handle.result()).rejects.toThrow('Workflow execution failed');

    service.receiver.behave((nth) => (nth === 8 ? 204 : 410));
    const { events } = await handle.fetchHistory();
    const scheduled = events?.findLast((event) => event.activityTaskScheduledEventAttributes);
    await service.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: id, runId: (await handle.describe()).runId },
      requestId: 'by-hand',
      reason: 'a test',
      workflowTaskFinishEventId:
        scheduled!.activityTaskScheduledEventAttributes!.workflowTaskCompletedEventId!,
    });

    await until('it is delivered', async () => {
      const [row] = await service.sql`select status from deliveries where payment_id = ${id}`;
      return row?.['status'] === 'delivered';
    });
    const posts = service.receiver.of(id);
    expect(posts.map(({ headers }) => headers['x-service-delivery-attempt'])).toEqual(
      ['1', '2', '3', '4', '5', '6', '7', '8'], // Never again from 1.
    );
    expect(new Set(posts.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1);
    // The new run completes: it does not throw.
    await service.client.workflow.getHandle(id).result();
  });
});

describe('a webhook that is accepted shortly before its 10 s are over', () => {
  it('FS-23: is sent once: nothing else runs out of time before it', async () => {
    const { token } = await service.anApplication();
    service.receiver.behave(() => sleep(7_000, 204));
    const journey = createJourney(service, token);
    const id = await journey.finish('pay');
    await service.client.workflow.getHandle(id).result();

    expect(service.receiver.of(id)).toHaveLength(1);
    const attempts = await service.sql<AttemptRow[]>`
      select number, response_status, duration_ms from attempts where payment_id = ${id}`;
    expect(attempts).toEqual([
      { number: 1, response_status: 204, duration_ms: expect.any(Number) },
    ]);
    expect(attempts[0]?.duration_ms).toBeGreaterThanOrEqual(6_900);
    const [delivery] = await service.sql`select status from deliveries where payment_id = ${id}`;
    expect(delivery?.['status']).toBe('delivered');
  });
});

describe('a payment that nobody pays', () => {
  it('expires at its deadline, to the second, also in the history', async () => {
    const { token } = await service.anApplication();
    service.receiver.behave(() => 204);
    const journey = createJourney(service, token);
    const id = await journey.atGateway({ expires_in: 86_400 });
    await skipAllTime(service.client, id);
    const handle = service.client.workflow.getHandle(id);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const fired = Number(
      events?.find((event) => event.timerFiredEventAttributes)?.eventTime?.seconds,
    );
    const { json } = await journey.get(id);
    const expiresAt = Date.parse(String(json['expires_at'])) / 1000;
    expect(Math.abs(fired - expiresAt)).toBeLessThanOrEqual(5);
    expect(json['status']).toBe('expired');
    expect(service.receiver.of(id)).toHaveLength(1);
  });

  it('is paid when the payer paid and closed the browser', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await journey.choose(id, 'pay_and_close');
    await skipAllTime(service.client, id);
    await service.client.workflow.getHandle(id).result();
    expect((await journey.get(id)).json['status']).toBe('paid');
  });
});
