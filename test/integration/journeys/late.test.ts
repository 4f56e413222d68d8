import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { holdLock } from '../../support/hold-lock.ts';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import { operationsOn } from '../../support/operations.ts';
import type { ProviderName, Providers } from '../../support/providers.ts';
import { providerNames, startProviders } from '../../support/providers.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
let providers: Providers;
let journey: Journey;
beforeAll(async () => {
  service = await startService();
  providers = await startProviders(service);
  journey = createJourney(service, (await service.anApplication()).token);
});
afterAll(async () => {
  await service?.stop();
  await providers?.stop();
});

/** The payer was sent off and the payment expired. */
const expired = async (name: ProviderName) => {
  const sent = await providers.sent(journey, name);
  await skipAllTime(service.client, sent.id);
  await until('the webhook', () => service.receiver.of(sent.id)[0]);
  expect((await journey.get(sent.id)).json['status']).toBe('expired');
  return sent;
};

const alertsOf = (id: string) =>
  service.worker.lines.filter((line) => line.includes('"late_payment"') && line.includes(id))
    .length;

/** What the service wrote down of late money, once the search for it has closed and `alerts` came. */
const afterSearch = async (id: string, alerts: number) => {
  const search = service.client.workflow.getHandle(`LATE_${id}`);
  await search.result();
  // By time: what heals is written down once its workflow runs, which may have written by then.
  const audit = await service.sql<{ action: string }[]>`
    select action from audit_log where subject = ${`payment:${id}`} order by at, id`;
  await until('the alerts are logged', () => alertsOf(id) >= alerts);
  return {
    audit: audit.map(({ action }) => action.replace('payment.late_payment_', '')),
    alerts: alertsOf(id),
    status: (await journey.get(id)).json['status'],
    events: (await service.sql`select from events where payment_id = ${id}`).length,
    posts: service.receiver.of(id).length,
  };
};

/** One terminal state, one event, one delivery, whatever came later. */
const asItEnded = (status: string) => ({ status, events: 1, posts: 1 });

describe('FS-16: a payer who pays after the end and comes back', () => {
  it.each(['zarinpal', 'zibal', 'payping'] as const)(
    '%s: is told that it expired; unverified money goes back by itself',
    async (name) => {
      const { id, reference } = await expired(name);
      await providers.of(name).pay(reference);
      for (let times = 0; times < 2; times += 1) {
        const back = await providers.comeBack(journey, name, reference);
        expect(back.headers.get('location')).toContain('status=expired');
      }
      const seen = await afterSearch(id, 1);
      expect(seen).toEqual({ audit: ['returns'], alerts: 1, ...asItEnded('expired') });
      expect(providers.entry(name, reference)).toMatchObject({ verified: 0, reversed: 0 });
    },
  );

  // Somebody else confirmed it there: a setting of the account, or a person.
  it.each([
    ['zarinpal', 'VERIFIED', { audit: ['found', 'reversed'], alerts: 1 }, 1],
    ['payping', '1', { audit: ['found', 'reversed'], alerts: 1 }, 1],
    ['zibal', '1', { audit: ['found', 'by_hand'], alerts: 2 }, 0],
  ] as const)(
    'FS-21: %s: has money that was taken reversed once, where it can be',
    async (name, state, expected, reversals) => {
      const { id, reference } = await expired(name);
      await providers.of(name).pay(reference);
      providers.of(name).move(reference, state);
      // The answer to it is lost: what became of it is asked.
      if (name === 'zarinpal') providers.of(name).fail('lost', /reverse/);
      for (let times = 0; times < 2; times += 1) {
        await providers.comeBack(journey, name, reference);
        expect(await afterSearch(id, expected.alerts)).toEqual({
          ...expected,
          ...asItEnded('expired'),
        });
      }
      expect(providers.entry(name, reference)).toMatchObject({ verified: 0, reversed: reversals });
      const calls = providers.of(name).calls.filter(({ path }) => path.includes('reverse'));
      expect(calls).toHaveLength(reversals);
      const told = await service.sql`
        select from gateway_exchanges where payment_id = ${id} and operation = 'reverse'`;
      expect(told).toHaveLength(reversals);
    },
  );

  it('is looked for again, though an earlier return had brought nothing', async () => {
    const { id, reference } = await expired('zarinpal');
    await providers.comeBack(journey, 'zarinpal', reference);
    expect(await afterSearch(id, 0)).toEqual({ audit: [], alerts: 0, ...asItEnded('expired') });
    await providers.of('zarinpal').pay(reference);
    await providers.comeBack(journey, 'zarinpal', reference);
    expect(await afterSearch(id, 1)).toMatchObject({ audit: ['returns'], alerts: 1 });
  });

  it('is looked for again by a search that asked just before the payer paid', async () => {
    const { id, reference } = await expired('zarinpal');
    const { calls, pay } = providers.of('zarinpal');
    const inquiries = () => calls.filter(({ path }) => path.includes('inquiry')).length;
    const before = inquiries();
    const books = await holdLock(
      service.sql,
      (tx) => tx`lock table gateway_exchanges in share mode`,
    );
    await providers.comeBack(journey, 'zarinpal', reference);
    await until('it has asked', () => inquiries() > before);
    await pay(reference);
    await providers.comeBack(journey, 'zarinpal', reference);
    await books.release();
    expect(await afterSearch(id, 1)).toMatchObject({ audit: ['returns'], alerts: 1 });
    expect(inquiries()).toBe(before + 2);
  });
});

describe('a search for late money that the engine has lost', () => {
  it('is reported once money was found, and mended: what was found goes back', async () => {
    const { id, reference } = await expired('zarinpal');
    await providers.of('zarinpal').pay(reference);
    providers.of('zarinpal').move(reference, 'VERIFIED');
    providers.of('zarinpal').fail('cut', /reverse/);
    await providers.comeBack(journey, 'zarinpal', reference);
    const search = service.client.workflow.getHandle(`LATE_${id}`);
    await until('it waits to ask again', async () => {
      const { events } = await search.fetchHistory();
      return events?.some(({ timerStartedEventAttributes: timer }) => timer);
    });
    const operations = operationsOn(service.sql, {
      temporal: async () => createTemporalAdmin(service.client),
    });
    const how = { since: null, limit: 100, scan: 100, reason: null };
    expect((await operations.reconcile({ ...how, heal: false })).differences).toEqual([]);

    await search.terminate('a test');
    // Its gateway may be told again.
    await service.sql`
      update late_payments set reversal_at = now() - interval '1 minute' where payment_id = ${id}`;
    const found = { kind: 'late_payment_without_workflow', paymentId: id, status: 'expired' };
    expect((await operations.reconcile({ ...how, heal: false })).differences).toMatchObject([
      { ...found, healed: false },
    ]);
    expect((await operations.reconcile({ ...how, heal: true })).differences).toMatchObject([
      { ...found, healed: true },
    ]);
    expect(await afterSearch(id, 1)).toEqual({
      audit: ['found', 'payment.heal_late_payment', 'reversed'],
      alerts: 1,
      ...asItEnded('expired'),
    });
    expect(providers.entry('zarinpal', reference)).toMatchObject({ verified: 0, reversed: 1 });
    expect(await operations.reconcile({ ...how, heal: false })).toEqual({
      differences: [],
      complete: true,
    });
  });
});

describe('FS-08: money of another amount', () => {
  it.each(providerNames)('%s: goes back, and the payment is amount_mismatch', async (name) => {
    const { id, reference } = await providers.sent(journey, name);
    providers.entry(name, reference).amount -= 10;
    await providers.of(name).pay(reference);
    const back = await providers.comeBack(journey, name, reference);
    expect(back.headers.get('location')).toContain('status=failed');
    await until('the webhook', () => service.receiver.of(id)[0]);
    const seen = await afterSearch(id, 1);
    const captures = name === 'stripe';
    expect(seen).toEqual({
      audit: captures ? ['found', 'reversed'] : ['returns'],
      alerts: 1,
      ...asItEnded('failed'),
    });
    expect((await journey.get(id)).json['failure_code']).toBe('amount_mismatch');
    const entry = providers.entry(name, reference);
    expect(entry).toMatchObject({ verified: 0, reversed: captures ? 1 : 0 });
  });
});

describe('a return after a good end', () => {
  it('has nothing looked for', async () => {
    const { id, reference } = await providers.sent(journey, 'zarinpal');
    await providers.of('zarinpal').pay(reference);
    for (let times = 0; times < 2; times += 1) {
      const back = await providers.comeBack(journey, 'zarinpal', reference);
      expect(back.headers.get('location')).toContain('status=paid');
    }
    const search = service.client.workflow.getHandle(`LATE_${id}`);
    await expect(search.describe()).rejects.toThrow(/not found/i);
  });
});

it('FS-16: a gateway that is silent about it is asked again in time to give it back', async () => {
  const { id, reference } = await expired('zarinpal');
  for (let asked = 0; asked < 7; asked += 1) providers.of('zarinpal').fail('cut', /inquiry/);
  await providers.comeBack(journey, 'zarinpal', reference);
  await skipAllTime(service.client, `LATE_${id}`);
  expect(await afterSearch(id, 0)).toEqual({ audit: [], alerts: 0, ...asItEnded('expired') });
  const { events } = await service.client.workflow.getHandle(`LATE_${id}`).fetchHistory();
  const asked = (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ eventTime }) => Number(eventTime?.seconds) / 60);
  const gaps = asked.slice(1).map((minutes, index) => Math.round(minutes - asked[index]!));
  expect(gaps).toEqual([1, 2, 4, 8, 10, 10, 10]);
});
