import { describe, expect, it } from 'vitest';
import { operationsOf, operationsOn } from '../../support/service/admin-operations.ts';
import { startProviders, type ProviderName } from '../../support/service/providers.ts';
import { startService } from '../../support/service/service.ts';
import { skipAllTime } from '../../support/service/skip-time.ts';
import { terminate } from '../../support/service/terminate.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(startService());
const providers = await forFile(startProviders(service));
const journey = (await service.anApplication()).journey;

const providerOf = (driver: ProviderName) => providers.of(driver);
const sent = (driver: ProviderName) => providers.sent(journey, driver);
const comeBack = (driver: ProviderName, reference: string) =>
  providers.comeBack(journey, driver, reference);

/** A payment that expired after its payer was sent to the gateway. */
const expired = async (name: ProviderName) => {
  const payment = await sent(name);
  await skipAllTime(service.client, payment.id);
  await until('the webhook', () => service.receiver.of(payment.id)[0]);
  expect((await journey.get(payment.id)).json['status']).toBe('expired');
  return payment;
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
  // The conformance of the drivers has the others.
  it.each(['zarinpal', 'payping'] as const)(
    '%s: sees that the payment expired, and the gateway returns unverified money',
    async (name) => {
      const { id, reference } = await expired(name);
      await providerOf(name).pay(reference);
      for (let times = 0; times < 2; times += 1) {
        const back = await comeBack(name, reference);
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
      await providerOf(name).pay(reference);
      providerOf(name).move(reference, state);
      // The answer to the reversal is lost, so the service inquires.
      if (name === 'zarinpal') providerOf(name).fail('lost', /reverse/);
      for (let times = 0; times < 2; times += 1) {
        await comeBack(name, reference);
        expect(await afterResolution(id)).toEqual({ late, ...asItEnded('expired') });
      }
      expect(providers.entry(name, reference)).toMatchObject({ verified: 0, reversed: reversals });
      const calls = providerOf(name).calls.filter(({ path }) => path.includes('reverse'));
      expect(calls).toHaveLength(reversals);
      const rows = await service.sql`
        select from gateway_exchanges where payment_id = ${id} and operation = 'reverse'`;
      expect(rows).toHaveLength(reversals);
    },
  );
});

it('a late-payment workflow that Temporal has lost is reported by reconciliation once money was found, and started again', async () => {
  const { id, reference } = await expired('zarinpal');
  await providerOf('zarinpal').pay(reference);
  providerOf('zarinpal').move(reference, 'VERIFIED');
  providerOf('zarinpal').fail('cut', /reverse/);
  await comeBack('zarinpal', reference);
  const handle = service.client.workflow.getHandle(`LATE_${id}`);
  await until('it has tried to reverse, and waits to ask again', async () => {
    const { events } = await handle.fetchHistory();
    const last = (name: 'activityTaskCompletedEventAttributes' | 'timerStartedEventAttributes') =>
      events?.findLastIndex((event) => event[name]) ?? -1;
    const asked = last('activityTaskCompletedEventAttributes');
    return asked !== -1 && last('timerStartedEventAttributes') > asked;
  });
  const operations = operationsOf(service);
  const how = { since: null, limit: 100, scan: 100, reason: null };
  expect((await operations.reconcile({ ...how, heal: false })).differences).toEqual([]);

  await terminate(service.client, handle.workflowId);
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

// The conformance of the drivers has the others.
const twoStepAndOneStep = ['zarinpal', 'stripe'] as const;

it.each(twoStepAndOneStep)(
  'a payer who pays another amount %s: gets the money back, and the payment is amount_mismatch',
  async (name) => {
    const { id, reference } = await sent(name);
    providers.entry(name, reference).amount -= 10;
    await providerOf(name).pay(reference);
    const back = await comeBack(name, reference);
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

it('asks a gateway that does not answer again in time for a reversal', async () => {
  const { id, reference } = await expired('zarinpal');
  for (let asked = 0; asked < 7; asked += 1) providerOf('zarinpal').fail('cut', /inquiry/);
  await comeBack('zarinpal', reference);
  expect(await afterResolution(id)).toEqual({ late: undefined, ...asItEnded('expired') });
  const { events } = await service.client.workflow.getHandle(`LATE_${id}`).fetchHistory();
  const asked = (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ eventTime }) => Number(eventTime?.seconds) / 60);
  const gaps = asked.slice(1).map((minutes, index) => Math.round(minutes - asked[index]!));
  expect(gaps).toEqual([1, 2, 4, 8, 10, 10, 10]);
});

describe('a payment through the protocol of a real gateway', () => {
  it('does not block another payment of its order while its gateway does not answer', async () => {
    const zarinpal = providerOf('zarinpal');
    const ofOrder = () => providers.sent(journey, 'zarinpal', { order_id: 'order-stuck' });
    const withOutcome = async ({ id, reference }: Awaited<ReturnType<typeof ofOrder>>) => {
      await comeBack('zarinpal', reference);
      return (await journey.get(id)).json['status'];
    };
    const stuck = await ofOrder();
    await zarinpal.pay(stuck.reference);
    zarinpal.fail('error', /inquiry/);
    expect(await journey.verify(stuck.id)).toMatchObject({ status: 502 });

    const another = await ofOrder();
    await zarinpal.pay(another.reference);
    expect(await withOutcome(another)).toBe('paid');
    expect((await journey.get(stuck.id)).json['status']).toBe('pending');
    expect(await withOutcome(stuck)).toBe('paid');
  });
});

it('an account whose credentials change is called with the new ones from the next call on, also for open payments', async () => {
  const { book, calls, pay, url: baseUrl } = providerOf('stripe');
  const operations = operationsOn(service.sql, { keyRing: service.keyRing });
  const credentials = (secretKey: string) => JSON.stringify({ secretKey, baseUrl });
  const [older, newer] = ['sk_test_the_older_key', 'sk_test_the_newer_key'];
  const account = { slug: 'renewed', driver: 'stripe', kind: 'sandbox' } as const;
  await operations.gateways.add({ ...account, credentials: credentials(older) }, null);
  await service.allowGateway('renewed');
  const id = await journey.atGateway({ gateway: 'renewed' });
  const [reference = ''] = [...book].find(([, { paymentId }]) => paymentId === id) ?? [];
  await pay(reference);
  const keys = () =>
    calls
      .filter(({ path, text }) => path.includes(reference) || text.includes(id))
      .map(({ headers }) => headers.authorization);
  expect(keys()).toEqual([`Bearer ${older}`]);

  await operations.gateways.setCredentials('renewed', credentials(newer), null);
  expect((await journey.verify(id)).json).toMatchObject({ status: 'paid' });
  expect(keys()).toEqual([`Bearer ${older}`, `Bearer ${newer}`]);
});
