import { describe, expect, it } from 'vitest';
import { holdLock } from '../../support/data/hold-lock.ts';
import { answered, createJourney, type Journey } from '../../support/service/journey.ts';
import { providerNames, startProviders } from '../../support/service/providers.ts';
import { countUpdates } from '../../support/service/scripted-worker.ts';
import { useOwnApi, useService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());
/** A second API process, which shares nothing with the first but Postgres and Temporal. */
const other = await forFile(useOwnApi());
const providers = await forFile(startProviders(service, 'races-'));

const aJourney = async () => (await service.anApplication()).journey;
const updatesOf = (id: string) => countUpdates(service.client.workflow.getHandle(id));
/** One update in each 3-second window for a request of one kind. */
const mostUpdates = (seconds: number) => 1 + Math.ceil(seconds / 3);
const secondsSince = (began: number) => (performance.now() - began) / 1000;

/** On a busy machine the gateway's answer takes longer than a request may wait. */
const verify = (journey: Journey, id: string) => answered(() => journey.verify(id));
/** Two APIs that an application calls with the same token. */
const twoJourneys = async (): Promise<[Journey, Journey]> => {
  const { token, journey } = await service.anApplication();
  return [journey, createJourney(other, token)];
};

/** The payment is paid. @param back the payer returns to the API of the journey */
const race = async (
  [journey, elsewhere]: [Journey, Journey],
  id: string,
  back: (to: Journey) => ReturnType<Journey['comeBack']> = (to) => to.comeBack(id),
) => {
  const comeBack = (to: Journey) =>
    until('an answer', async () => {
      const answer = await back(to);
      return !answer.headers.get('location')?.includes('status=processing') && answer;
    });
  const [here, there, ...verified] = await Promise.all([
    comeBack(journey),
    comeBack(elsewhere),
    verify(journey, id),
    verify(elsewhere, id),
    skipAllTime(service.client, id).then(() => verify(journey, id)),
  ]);
  for (const { headers } of [here, there])
    expect(headers.get('location')).toMatch(/[?&]status=paid(&|$)/);
  for (const { status, json } of verified) {
    expect(status).toBe(200);
    expect(json['status']).toBe('paid');
  }
  expect(new Set(verified.map(({ text }) => text)).size).toBe(1);
  await until('the webhook', () => service.receiver.of(id)[0]);
  await service.client.workflow.getHandle(id).result();
};

describe('return, verify and the deadline at the same moment, through two API processes', () => {
  it.each(providerNames)('take the money once, and tell of it once: %s', async (name) => {
    const journeys = await twoJourneys();
    const sent = await Promise.all([1, 2, 3].map(() => providers.sent(journeys[0], name)));
    await Promise.all(
      sent.map(async ({ id, reference }) => {
        await providers.of(name).pay(reference);
        await race(journeys, id, (to) => providers.comeBack(to, name, reference));
        const { charged, verified, reversed } = providers.entry(name, reference);
        expect({ charged, reversed }).toEqual({ charged: 1, reversed: 0 });
        expect(verified).toBeLessThanOrEqual(1);
        expect(service.receiver.of(id)).toHaveLength(1);
      }),
    );
  });

  it('make one verification, one event and one answer, for 20 payments', async () => {
    const journeys = await twoJourneys();
    const [journey] = journeys;
    const paying = async () => {
      const id = await journey.atGateway();
      await journey.choose(id, 'pay_and_close');
      return id;
    };
    const ids: string[] = [];
    for (let batch = 0; batch < 2; batch += 1) {
      const open = await Promise.all(Array.from({ length: 10 }, paying));
      // The gateway answers only after a return and a verify of each payment have reached its workflow.
      const lock = await holdLock(
        service.sql,
        (tx) => tx`select from sandbox_payments where payment_id = any(${open}) for update`,
      );
      const answerOnceAllWait = async () => {
        try {
          await Promise.all(
            open.map((id) => until('both updates wait', async () => (await updatesOf(id)) >= 2)),
          );
        } finally {
          await lock.release();
        }
      };
      await Promise.all([answerOnceAllWait(), ...open.map((id) => race(journeys, id))]);
      ids.push(...open);
    }

    expect(ids).toHaveLength(20);
    const [asked] = await service.sql<{ most: number; least: number }[]>`
      select max(verifications) as most, min(verifications) as least from sandbox_payments
      where payment_id = any(${ids})`;
    expect(asked).toEqual({ most: 1, least: 1 });
    const events = await service.sql`select from events where payment_id = any(${ids})`;
    expect(events).toHaveLength(20);
    for (const id of ids) expect(service.receiver.of(id)).toHaveLength(1);
  });
});

describe('many requests for one payment', () => {
  it('share one update in 3 seconds: 200 verify requests through two API processes', async () => {
    const { token, journey } = await service.anApplication();
    const journeys = [journey, createJourney(other, token)];
    const id = await journey.atGateway();
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) => verify(journeys[nth % 2]!, id)),
    );
    const seconds = secondsSince(began);
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      expect(json['status']).toBe('pending');
    }
    const updates = await updatesOf(id);
    expect(updates).toBeGreaterThanOrEqual(1);
    expect(updates).toBeLessThanOrEqual(mostUpdates(seconds));
  });

  it('share one update in 3 seconds: a payer who comes back 30 times, and is found once he pays', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    const began = performance.now();
    for (let turn = 0; turn < 30; turn += 1) await journey.comeBack(id);
    const seconds = secondsSince(began);
    expect(await updatesOf(id)).toBeLessThanOrEqual(mostUpdates(seconds));
    await journey.choose(id, 'pay');
    await until('it is paid', async () =>
      (await journey.comeBack(id)).headers.get('location')?.includes('status=paid'),
    );
  });

  it('stay within what Temporal allows while the gateway hangs, and get 503 or the result', async () => {
    const journey = await aJourney();
    const id = await journey.atGateway();
    const lock = await holdLock(
      service.sql,
      (tx) => tx`select from sandbox_payments where payment_id = ${id} for update`,
    );
    const asking = [];
    const comingBack = [];
    // Longer than the 10 seconds that a request waits. Two updates in 3 seconds are more than Temporal has at once, ten,
    // only after 12.
    for (const end = performance.now() + 12_000; performance.now() < end;) {
      asking.push(journey.verify(id));
      comingBack.push(journey.comeBack(id));
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    await lock.release();
    const statuses = new Set((await Promise.all(asking)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200)).toEqual([503]);
    for (const { headers } of await Promise.all(comingBack))
      expect(headers.get('location')).toContain('status=processing');
    await journey.choose(id, 'pay');
    await until('it is paid', async () =>
      (await journey.comeBack(id)).headers.get('location')?.includes('status=paid'),
    );
  });
});
