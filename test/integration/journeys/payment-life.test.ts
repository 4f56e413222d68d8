import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { gatewayLimits } from '../../../gateways/http.ts';
import { useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { attemptDeadlineMs } from '../../../webhooks/request.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());

const aJourney = async () => (await service.anApplication()).journey;
const webhookOf = (id: string) => until('the webhook arrives', () => service.receiver.of(id)[0]);
const eventsOf = async (id: string) => {
  const { events } = await service.client.workflow.getHandle(id).fetchHistory();
  return events ?? [];
};

describe('a payment', () => {
  it('is paid with at most 3 activities, 5 workflow tasks, 1 timer and 30 history events', async () => {
    const { application, journey } = await service.anApplication();
    const id = await journey.finish('pay');
    const { json } = await journey.get(id);
    expect(json).toMatchObject({
      application,
      status: 'paid',
      card_pan_masked: '502229******1234',
      failure_code: null,
      checkout_url: null,
    });
    await webhookOf(id);

    const handle = service.client.workflow.getHandle(id);
    await handle.result();
    const events = await eventsOf(id);
    const count = (name: keyof (typeof events)[number]) =>
      events.filter((event) => Object.hasOwn(event, name) && event[name]).length;
    expect(events.length).toBeLessThanOrEqual(30);
    expect(count('activityTaskScheduledEventAttributes')).toBe(3);
    expect(count('workflowTaskCompletedEventAttributes')).toBeLessThanOrEqual(5);
    expect(count('timerStartedEventAttributes')).toBe(1);
    const seconds = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled
        ? [[scheduled.activityType?.name, Number(scheduled.startToCloseTimeout?.seconds)]]
        : [],
    );
    const atGateway = gatewayLimits.tryMs / 1000;
    // Enough for its calls and for storing the result.
    expect(Object.fromEntries(seconds)).toEqual({
      openPayment: atGateway + 5,
      verifyPayment: atGateway + 10,
      // With a shorter timeout Temporal would retry while the POST is still being sent.
      deliverWebhook: attemptDeadlineMs / 1000 + 10,
    });
    // Bytes. docs/operating/scaling.md has the measured value.
    expect((await handle.describe()).historySize).toBeLessThan(6_000);
  });

  it('is processing after a payer comes back undecided, and is not sent to the gateway again', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    const back = await journey.comeBack(id);
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toContain('status=processing');
    expect((await journey.get(id)).json['status']).toBe('processing');
    const again = await journey.checkout(id);
    expect(again.status).toBe(303);
    expect(again.headers.get('location')).toContain('status=processing');
  });

  it('does not stop at a cancel request from the Temporal UI', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    await service.client.workflow.getHandle(id).cancel();
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await webhookOf(id);
    expect((await journey.get(id)).json['status']).toBe('paid');
    await service.client.workflow.getHandle(id).result();
  });
});

describe('a payment that nobody verifies', () => {
  it('expires at its deadline', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway({ expires_in: 86_400 });
    await skipAllTime(service.client, id);
    await service.client.workflow.getHandle(id).result();
    const fired = (await eventsOf(id)).find((event) => event.timerFiredEventAttributes);
    const { json } = await journey.get(id);
    const expiresAt = Date.parse(String(json['expires_at'])) / 1000;
    expect(Math.abs(Number(fired?.eventTime?.seconds) - expiresAt)).toBeLessThanOrEqual(30);
    expect(json['status']).toBe('expired');
    expect(service.receiver.of(id)).toMatchObject([{ json: { event: 'payment.expired' } }]);
  });
});

it('a reset of a payment workflow to any point makes no second event and no second POST', async () => {
  const journey = await aJourney();
  const id = await journey.finish('pay');
  await webhookOf(id);
  const newest = service.client.workflow.getHandle(id);
  await newest.result();
  const { runId } = await newest.describe();
  const points = (await eventsOf(id)).filter((event) => event.workflowTaskCompletedEventAttributes);
  // Their number depends on the speed of the worker.
  expect(points.length).toBeGreaterThan(2);

  for (const { eventId } of points) {
    await service.client.workflowService.resetWorkflowExecution({
      namespace: service.client.options.namespace,
      workflowExecution: { workflowId: id, runId },
      workflowTaskFinishEventId: eventId!,
      requestId: randomUUID(),
      reason: 'a test',
    });
    await newest.result();
  }
  expect((await newest.describe()).runId).not.toBe(runId);
  expect(service.receiver.of(id)).toHaveLength(1);
  expect(await service.sql`select from events where payment_id = ${id}`).toHaveLength(1);
  expect((await journey.get(id)).json['status']).toBe('paid');
});
