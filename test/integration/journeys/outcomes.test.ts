import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptDeadlineMs } from '../../../webhooks/request.ts';
import { gatewayLimits } from '../../../gateways/http.ts';
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

const webhookOf = (id: string) => until('the webhook arrives', () => service.receiver.of(id)[0]);

describe('a payment', () => {
  it('is paid, and its life in the engine costs what it may cost', async () => {
    const { application, token } = await service.anApplication();
    const journey = createJourney(service, token);
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
    const { events } = await handle.fetchHistory();
    const types = (events ?? []).map(({ eventType }) => String(eventType));
    const count = (name: string) =>
      (events ?? []).filter((event) => Object.hasOwn(event, name) && Reflect.get(event, name))
        .length;
    expect(types.length).toBeLessThanOrEqual(30);
    expect(count('activityTaskScheduledEventAttributes')).toBe(3);
    expect(count('workflowTaskCompletedEventAttributes')).toBeLessThanOrEqual(5);
    expect(count('timerStartedEventAttributes')).toBe(1);
    // Bytes; 4,900 when this was written (docs/operating/scaling.md).
    expect((await handle.describe()).historySize).toBeLessThan(6_000);
  });

  it('FS-23: has time in the engine for what each step may take, and for writing it down', async () => {
    const { token } = await service.anApplication();
    const id = await createJourney(service, token).finish('pay');
    const handle = service.client.workflow.getHandle(id);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const seconds = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled
        ? [[scheduled.activityType?.name, Number(scheduled.startToCloseTimeout?.seconds)]]
        : [],
    );
    const atGateway = gatewayLimits.tryMs / 1000;
    expect(Object.fromEntries(seconds)).toEqual({
      openPayment: atGateway + 5,
      verifyPayment: atGateway + 10,
      // A shorter one would have the engine send what is still being sent.
      deliverWebhook: attemptDeadlineMs / 1000 + 10,
    });
  });

  it.each([
    ['refuse', 'failed', 'insufficient_funds'],
    ['cancel', 'cancelled', null],
  ])('that the payer ends with %s is %s', async (action, status, failureCode) => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.finish(action, { failure_code: 'insufficient_funds' });
    const webhook = await webhookOf(id);
    expect(webhook.json).toMatchObject({
      event: `payment.${status}`,
      status,
      failure_code: failureCode,
      paid_at: null,
    });
    expect(webhook.json['failure_reason']).toEqual(failureCode && expect.any(String));
  });

  it('that nobody pays is expired', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway({ expires_in: 7200 });
    await skipAllTime(service.client, id);
    const webhook = await webhookOf(id);
    expect(webhook.json).toMatchObject({ event: 'payment.expired', status: 'expired' });
  });
});
