import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEvent } from '../../../contract/event.ts';
import { createPaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { waitForFirstAttempt } from '../../support/first-attempt.ts';
import { noAnswer } from '../../support/records.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

/** What would take 20 minutes: the record says that its deadline is long past. */
const letItBeOverdue = (id: string) => service.sql`
  update payments set expires_at = now() - interval '21 minutes' where id = ${id}`;

/** What would take 2 minutes: its payer was sent to the gateway that long ago. */
const letItBeDue = (id: string) => service.sql`
  update payments set checkout_at = now() - interval '2 minutes 1 second' where id = ${id}`;

const sweepNow = () => service.client.schedule.getHandle('sweep').trigger();

/** A payment of which the gateway alone knows, and what it is once the sweep has had it delivered. */
const paidAndClosed = async () => {
  const { token } = await service.anApplication();
  const journey = createJourney(service, token);
  const id = await journey.atGateway();
  await journey.choose(id, 'pay_and_close');
  const statusAfterSweep = async () => {
    await sweepNow();
    await until('the webhook', () => service.receiver.of(id)[0]);
    return (await journey.get(id)).json['status'];
  };
  return { id, statusAfterSweep };
};

describe('the sweep', () => {
  it('is one Schedule, every 30 seconds, never two at once', async () => {
    const { spec, policies } = await service.client.schedule.getHandle('sweep').describe();
    expect(spec.intervals?.map(({ every }) => every)).toEqual([30_000]);
    expect(policies.overlap).toBe('SKIP');
  });

  it('starts what could not be started while Temporal was away', { timeout: 300_000 }, async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const timed = async <T>(work: () => Promise<T>) => {
      const began = performance.now();
      return { result: await work(), ms: performance.now() - began };
    };
    /** One after the other, and beside them what asks nothing of the engine: so slow is the machine. */
    const many = async (count: number) => {
      const created: { result: string; ms: number }[] = [];
      let othersMs = 0;
      const creating = async () => {
        while (created.length < count) created.push(await timed(() => journey.create()));
      };
      const asking = async () => {
        while (created.length < count) {
          const { ms } = await timed(() => journey.request('GET', '/api/v1/me'));
          othersMs = Math.max(othersMs, ms);
        }
      };
      await Promise.all([creating(), asking()]);
      const times = created.map(({ ms }) => ms).sort((a, b) => a - b);
      const [medianMs = 0, longestMs = 0] = [times[count / 2], times.at(-1)];
      return { ids: created.map(({ result }) => result), medianMs, longestMs, othersMs };
    };

    const usual = await many(200);
    await service.engine.stop();
    const away = await many(200);
    // None waits for the engine: its deadline alone would be 5,000 ms.
    expect(away.longestMs).toBeLessThan(away.othersMs + 4_500);
    expect(away.medianMs).toBeLessThan(usual.medianMs * 5 + 20);

    await service.engine.start();
    await until(
      'every payment is opened by its workflow',
      async () => {
        const [row] = await service.sql<{ left: number }[]>`
          select count(*) as left from payments
          where id = any(${away.ids}) and gateway_reference is null`;
        return row?.left === 0;
      },
      120_000,
    );
  });

  it('heals a waiting payment whose workflow was terminated', async () => {
    const { id, statusAfterSweep } = await paidAndClosed();
    await service.client.workflow.getHandle(id).terminate('a test');
    await letItBeOverdue(id);
    expect(await statusAfterSweep()).toBe('paid');
  });

  it('finds a payer who paid and closed the browser', async () => {
    const { id, statusAfterSweep } = await paidAndClosed();
    await letItBeDue(id);
    expect(await statusAfterSweep()).toBe('paid');
  });

  it('FS-05: finds him although the workflow is gone, long before it would heal', async () => {
    const { id, statusAfterSweep } = await paidAndClosed();
    await service.client.workflow.getHandle(id).terminate('a test');
    await letItBeDue(id);
    expect(await statusAfterSweep()).toBe('paid');
  });

  it('FS-22: has the event delivered of which a waiting workflow does not know', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    const paymentOutcomes = createPaymentOutcomes(service.sql);
    const payment = await paymentOutcomes.get(id);
    const endedAt = new Date();
    const ended = { ...payment!, status: 'cancelled' as const, updatedAt: endedAt };
    await paymentOutcomes.finalize(ended, createEvent(ended, endedAt), noAnswer);
    await service.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes' where payment_id = ${id}`;
    await sweepNow();
    const { headers } = await until('the webhook', () => service.receiver.of(id)[0]);
    expect(headers['x-service-event']).toBe('payment.cancelled');
  });

  it('heals everything when the engine has lost its whole database', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const waiting = await journey.atGateway();
    const paid = await journey.atGateway();
    await journey.choose(paid, 'pay_and_close');
    service.receiver.behave(() => 500);
    const undelivered = await journey.finish('cancel');
    await until('the first attempt', () => service.receiver.of(undelivered)[0]);
    await waitForFirstAttempt(service.sql, undelivered);

    await service.worker.stop();
    await service.engine.stop();
    service.engine.forget();
    await service.engine.start();
    await service.worker.start();
    service.receiver.behave(() => 204);
    await Promise.all([letItBeOverdue(waiting), letItBeOverdue(paid)]);
    await service.sql`
      update deliveries set next_attempt_at = now() - interval '6 minutes'
      where payment_id = ${undelivered}`;
    await service.sql`
      update attempts set scheduled_at = now() - interval '7 minutes',
        started_at = now() - interval '7 minutes'
      where payment_id = ${undelivered}`;
    await sweepNow();

    // A trigger that falls on a sweep is dropped; the next one comes half a minute later.
    await until('the delivery goes on', () => service.receiver.of(undelivered)[1], 50_000);
    await until('the waiting one expires', () => service.receiver.of(waiting)[0]);
    await until('the paid one is paid', () => service.receiver.of(paid)[0]);
    expect((await journey.get(waiting)).json['status']).toBe('expired');
    expect((await journey.get(paid)).json['status']).toBe('paid');
    const numbers = service.receiver
      .of(undelivered)
      .map(({ headers }) => headers['x-service-delivery-attempt']);
    expect(numbers).toEqual(['1', '2']);
  });
});
