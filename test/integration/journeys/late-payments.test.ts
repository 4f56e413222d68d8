import { describe, expect, it } from 'vitest';
import { createTemporalAdmin } from '../../../temporal/admin-client.ts';
import { holdLock } from '../../support/data/hold-lock.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import {
  providerNames,
  startProviders,
  type ProviderName,
} from '../../support/service/providers.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const journey = (await service.anApplication()).journey;

/** A payment that expired after its payer was sent to the gateway. */
const expired = async (name: ProviderName) => {
  const sent = await providers.sent(journey, name);
  await skipAllTime(service.client, sent.id);
  await until('the webhook', () => service.receiver.of(sent.id)[0]);
  expect((await journey.get(sent.id)).json['status']).toBe('expired');
  return sent;
};

/** Returns the service's records after the late-payment workflow has closed. */
const afterResolution = async (id: string) => {
  const workflowId = `LATE_${id}`;
  // A repeated search begins after a pause. It fails for a workflow that has closed.
  await skipAllTime(service.client, workflowId).catch(() => {});
  await service.client.workflow.getHandle(workflowId).result();
  const [late] = await service.sql`select result from late_payments where payment_id = ${id}`;
  return {
    late: late?.['result'],
    status: (await journey.get(id)).json['status'],
    events: (await service.sql`select from events where payment_id = ${id}`).length,
    posts: service.receiver.of(id).length,
  };
};

/** One terminal state, one event and one delivery, whatever comes later. */
const asItEnded = (status: string) => ({ status, events: 1, posts: 1 });

describe('a payer who pays after the end and comes back', () => {
  it.each(['zarinpal', 'zibal', 'payping'] as const)(
    '%s: sees that the payment expired, and the gateway returns unverified money',
    async (name) => {
      const { id, reference } = await expired(name);
      await providers.of(name).pay(reference);
      for (let times = 0; times < 2; times += 1) {
        const back = await providers.comeBack(journey, name, reference);
        expect(back.headers.get('location')).toContain('status=expired');
      }
      expect(await afterResolution(id)).toEqual({ late: 'returns', ...asItEnded('expired') });
      expect(providers.entry(name, reference)).toMatchObject({ verified: 0, reversed: 0 });
    },
  );

  // A setting of the account or a person has confirmed the payment at the gateway.
  it.each([
    ['zarinpal', 'VERIFIED', 'reversed', 1],
    ['payping', '1', 'reversed', 1],
    ['zibal', '1', 'by_hand', 0],
  ] as const)(
    '%s: gets captured money reversed once if the gateway can reverse it',
    async (name, state, late, reversals) => {
      const { id, reference } = await expired(name);
      await providers.of(name).pay(reference);
      providers.of(name).move(reference, state);
      // The answer to the reversal is lost, so the service inquires.
      if (name === 'zarinpal') providers.of(name).fail('lost', /reverse/);
      for (let times = 0; times < 2; times += 1) {
        await providers.comeBack(journey, name, reference);
        expect(await afterResolution(id)).toEqual({ late, ...asItEnded('expired') });
      }
      expect(providers.entry(name, reference)).toMatchObject({ verified: 0, reversed: reversals });
      const calls = providers.of(name).calls.filter(({ path }) => path.includes('reverse'));
      expect(calls).toHaveLength(reversals);
      const sent = await service.sql`
        select from gateway_exchanges where payment_id = ${id} and operation = 'reverse'`;
      expect(sent).toHaveLength(reversals);
    },
  );

  it('starts another inquiry if an earlier return found no money', async () => {
    const { id, reference } = await expired('zarinpal');
    await providers.comeBack(journey, 'zarinpal', reference);
    expect(await afterResolution(id)).toEqual({ late: undefined, ...asItEnded('expired') });
    await providers.of('zarinpal').pay(reference);
    await providers.comeBack(journey, 'zarinpal', reference);
    expect(await afterResolution(id)).toMatchObject({ late: 'returns' });
  });

  it('starts another inquiry if the running one asked just before the payment', async () => {
    const { id, reference } = await expired('zarinpal');
    const { calls, pay } = providers.of('zarinpal');
    const inquiries = () => calls.filter(({ path }) => path.includes('inquiry')).length;
    const before = inquiries();
    const books = await holdLock(
      service.sql,
      (tx) => tx`lock table gateway_exchanges in share mode`,
    );
    await providers.comeBack(journey, 'zarinpal', reference);
    await until('the gateway is asked', () => inquiries() > before);
    await pay(reference);
    await providers.comeBack(journey, 'zarinpal', reference);
    await books.release();
    expect(await afterResolution(id)).toMatchObject({ late: 'returns' });
    expect(inquiries()).toBe(before + 2);
  });
});

it('a late-payment workflow that Temporal has lost is reported by reconciliation once money was found, and started again', async () => {
  const { id, reference } = await expired('zarinpal');
  await providers.of('zarinpal').pay(reference);
  providers.of('zarinpal').move(reference, 'VERIFIED');
  providers.of('zarinpal').fail('cut', /reverse/);
  await providers.comeBack(journey, 'zarinpal', reference);
  const handle = service.client.workflow.getHandle(`LATE_${id}`);
  await until('it has tried to reverse, and waits to ask again', async () => {
    const { events } = await handle.fetchHistory();
    const last = (name: 'activityTaskCompletedEventAttributes' | 'timerStartedEventAttributes') =>
      events?.findLastIndex((event) => event[name]) ?? -1;
    const asked = last('activityTaskCompletedEventAttributes');
    return asked !== -1 && last('timerStartedEventAttributes') > asked;
  });
  const operations = operationsOn(service.sql, {
    temporal: async () => createTemporalAdmin(service.client),
  });
  const how = { since: null, limit: 100, scan: 100, reason: null };
  expect((await operations.reconcile({ ...how, heal: false })).differences).toEqual([]);

  await handle.terminate('a test');
  // The earlier reversal is over by now.
  await service.sql`
    update late_payments set reversal_at = now() - interval '1 minute' where payment_id = ${id}`;
  const found = { kind: 'late_payment_without_workflow', paymentId: id, status: 'expired' };
  expect((await operations.reconcile({ ...how, heal: false })).differences).toMatchObject([
    { ...found, healed: false },
  ]);
  expect((await operations.reconcile({ ...how, heal: true })).differences).toMatchObject([
    { ...found, healed: true },
  ]);
  expect(await afterResolution(id)).toEqual({ late: 'reversed', ...asItEnded('expired') });
  const audit = await service.sql`
    select action from audit_log where subject = ${`payment:${id}`}`;
  expect(audit).toEqual([{ action: 'payment.heal_late_payment' }]);
  expect(providers.entry('zarinpal', reference)).toMatchObject({ verified: 0, reversed: 1 });
  expect(await operations.reconcile({ ...how, heal: false })).toEqual({
    differences: [],
    complete: true,
  });
});

it.each(providerNames)(
  'a payer who pays another amount %s: gets the money back, and the payment is amount_mismatch',
  async (name) => {
    const { id, reference } = await providers.sent(journey, name);
    providers.entry(name, reference).amount -= 10;
    await providers.of(name).pay(reference);
    const back = await providers.comeBack(journey, name, reference);
    expect(back.headers.get('location')).toContain('status=failed');
    await until('the webhook', () => service.receiver.of(id)[0]);
    const captures = name === 'stripe';
    expect(await afterResolution(id)).toEqual({
      late: captures ? 'reversed' : 'returns',
      ...asItEnded('failed'),
    });
    expect((await journey.get(id)).json['failure_code']).toBe('amount_mismatch');
    const entry = providers.entry(name, reference);
    expect(entry).toMatchObject({ verified: 0, reversed: captures ? 1 : 0 });
  },
);

it('a return after a paid payment starts no late-payment workflow', async () => {
  const { id, reference } = await providers.sent(journey, 'zarinpal');
  await providers.of('zarinpal').pay(reference);
  for (let times = 0; times < 2; times += 1) {
    const back = await providers.comeBack(journey, 'zarinpal', reference);
    expect(back.headers.get('location')).toContain('status=paid');
  }
  const handle = service.client.workflow.getHandle(`LATE_${id}`);
  await expect(handle.describe()).rejects.toThrow(/not found/i);
});

it('asks a gateway that does not answer again in time for a reversal', async () => {
  const { id, reference } = await expired('zarinpal');
  for (let asked = 0; asked < 7; asked += 1) providers.of('zarinpal').fail('cut', /inquiry/);
  await providers.comeBack(journey, 'zarinpal', reference);
  expect(await afterResolution(id)).toEqual({ late: undefined, ...asItEnded('expired') });
  const { events } = await service.client.workflow.getHandle(`LATE_${id}`).fetchHistory();
  const asked = (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ eventTime }) => Number(eventTime?.seconds) / 60);
  const gaps = asked.slice(1).map((minutes, index) => Math.round(minutes - asked[index]!));
  expect(gaps).toEqual([1, 2, 4, 8, 10, 10, 10]);
});
