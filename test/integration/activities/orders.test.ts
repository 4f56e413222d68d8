import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import { createOrders } from '../../../postgres/orders.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createRetention } from '../../../postgres/retention.ts';
import { TemporalUnavailable } from '../../../temporal/workflow-calls.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { startRecords } from '../../support/data/records.ts';
import { lateActivities } from '../../support/data/late-payment-cases.ts';
import { createBackup } from '../../support/protocol/backup.ts';
import {
  aGateway,
  confirmed,
  inTurn,
  readableLogger,
  silence,
  withGateway,
} from '../../support/service/scripted-gateway.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql } = records;
await sql`update applications set orders_paid_once = true`;
// A gateway that returns what nobody verifies, and one that has the money at once.
await sql`insert into gateways (slug, driver, kind) values ('two-step', 'zarinpal', 'live'), ('one-step', 'stripe', 'live')`;

let count = 0;
const anOrder = () => `order-${(count += 1)}`;
const twoOfAnOrder = async (gateway = 'two-step', application = 'shop') => {
  const fields = { orderId: anOrder(), gateway, application };
  return [await records.sent(fields), await records.sent(fields)] as const;
};

/** A two-step gateway whose payer has paid: it asks before it takes the money. */
const paidAtTwoStep = () => {
  let taken = 0;
  const verify: GatewayAdapter['verify'] = async (_, mayTake) => {
    if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
    taken += 1;
    return confirmed();
  };
  return { verify, taken: () => taken };
};
const verify = (answers: (GatewayStatus | typeof silence)[] | GatewayAdapter['verify']) =>
  withGateway(records, {
    verify: typeof answers === 'function' ? answers : inTurn<GatewayStatus>(...answers),
  });
const pay = async ({ id }: Payment) => {
  const gateway = verify([confirmed()]);
  expect(await gateway.verifyPayment({ id, returned: true })).toEqual({
    kind: 'ended',
    status: 'paid',
  });
  return gateway;
};
const recordOf = async ({ id }: Payment) => {
  const payment = await records.paymentOutcomes.get(id);
  const exchanges = await createGatewayExchanges(sql).list(id);
  return {
    status: payment?.status,
    failureCode: payment?.failureCode,
    exchanges: exchanges.map(({ operation, result }) => `${operation} ${result}`),
  };
};
const lost = { kind: 'ended', status: 'failed' };
const failure = { status: 'failed', failureCode: 'order_already_paid' };

describe('a payment of an order', () => {
  it.each(['verifyPayment', 'expirePayment', 'cancelPayment'] as const)(
    'that is paid already is lost in %s, and nothing is taken',
    async (activity) => {
      const [one, other] = await twoOfAnOrder();
      await pay(one);
      const { verify: take, taken } = paidAtTwoStep();
      const gateway = verify(take);
      const request = { id: other.id, returned: true, grace: true, unreachable: false };
      const result = await gateway[activity]({ ...request, by: 'application' });
      expect(result).toEqual(lost);
      expect(taken()).toBe(0);
      expect(await recordOf(other)).toEqual({ ...failure, exchanges: ['verify unconfirmed'] });
      expect(gateway.late).toEqual([other.id]);
      expect(gateway.alerts()).toEqual([]);
    },
  );

  it('stores what a one-step gateway has taken while another one holds the order', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    await createOrders(sql).claim(one.id);
    const result = await verify([confirmed()]).verifyPayment({ id: other.id, returned: true });
    expect(result).toEqual({ kind: 'processing' });
    expect(await recordOf(other)).toMatchObject({
      status: 'processing',
      exchanges: ['verify paid'],
    });
  });

  it('is opened if the order is given back while that is found out', async () => {
    const { id } = await records.created({ orderId: anOrder(), gateway: 'two-step' });
    const stale = [true];
    const paymentOutcomes = {
      ...records.paymentOutcomes,
      async get(of: string) {
        const payment = await records.paymentOutcomes.get(of);
        return payment && { ...payment, orderIsPaid: stale.pop() ?? payment.orderIsPaid };
      },
    };
    const gateway = withGateway(records, { open: silence }, { paymentOutcomes });
    await expect(gateway.openPayment({ id, afterDeadline: false })).rejects.toThrow('timeout');
  });

  it('that is paid already is not opened', async () => {
    const [one] = await twoOfAnOrder();
    const other = await records.created({ orderId: one.orderId, gateway: 'two-step' });
    await pay(one);
    const gateway = withGateway(records, {});
    expect(await gateway.openPayment({ id: other.id, afterDeadline: false })).toEqual({
      stage: 'ended',
      status: 'failed',
    });
    expect(gateway.calls()).toEqual([]);
    expect(gateway.late).toEqual([]);
    expect(await recordOf(other)).toEqual({ ...failure, exchanges: [] });
  });

  it('has the others called off when it is paid, again after a try that broke off', async () => {
    const [one, other] = await twoOfAnOrder();
    const unsent = await records.created({ orderId: one.orderId, gateway: 'two-step' });
    const { calledOff } = await pay(one);
    expect(calledOff.toSorted()).toEqual([other.id, unsent.id].toSorted());
    const retry = verify([]);
    await retry.verifyPayment({ id: one.id, returned: true });
    expect(retry.calledOff).toHaveLength(2);
  });

  it('is paid although the others cannot be called off', async () => {
    const [one] = await twoOfAnOrder();
    const callOff = () => Promise.reject(new TemporalUnavailable('away'));
    const gateway = withGateway(
      records,
      { verify: inTurn(confirmed()) },
      { workflows: { callOff } },
    );
    expect(await gateway.verifyPayment({ id: one.id, returned: true })).toMatchObject({
      status: 'paid',
    });
  });
});

describe('cancelPayment of a payment whose order another one has paid', () => {
  const callOff = (gateway: ReturnType<typeof withGateway>, { id }: Payment) =>
    gateway.cancelPayment({ id, by: 'order' });

  it.each([
    ['ends it at a gateway that returns money', 'two-step', { state: 'waiting' }, lost],
    ['closes it at a gateway that can', 'one-step', { state: 'waiting' }, lost],
    ['leaves it open while the gateway is silent', 'one-step', silence, { kind: 'unknown' }],
  ] as const)('%s', async (_, account, answer, result) => {
    const [one, other] = await twoOfAnOrder(account);
    await pay(one);
    const gateway = withGateway(records, {
      verify: inTurn<GatewayStatus>(answer),
      ...(account === 'one-step' && { expire: async () => true }),
    });
    expect(await callOff(gateway, other)).toEqual(result);
    const isClosed = account === 'one-step' && answer !== silence;
    expect(gateway.calls()).toEqual(isClosed ? ['verify', 'expire'] : ['verify']);
    expect(await recordOf(other)).toMatchObject(result === lost ? failure : { failureCode: null });
  });

  it('does nothing if the order has been given back meanwhile', async () => {
    const [, other] = await twoOfAnOrder();
    const gateway = verify([]);
    expect(await callOff(gateway, other)).toEqual({ kind: 'waiting' });
    expect(gateway.calls()).toEqual([]);
    expect(await recordOf(other)).toMatchObject({ status: 'pending' });
  });
});

describe('late money of a payment whose order another one has paid', () => {
  const search = async (gateway: string, script: Partial<GatewayAdapter>) => {
    const [one, other] = await twoOfAnOrder(gateway);
    await pay(one);
    await verify([gateway === 'two-step' ? { state: 'unconfirmed' } : confirmed()]).verifyPayment({
      id: other.id,
      returned: true,
    });
    const { logger, alerts } = readableLogger();
    const { gatewayOf } = aGateway(script);
    const { resolveLatePayment } = lateActivities(records, { gatewayOf, logger });
    await resolveLatePayment({ id: other.id, last: false });
    const [row] = await sql`select result from late_payments where payment_id = ${other.id}`;
    return { result: row?.['result'], alerts: alerts() };
  };

  const reversedPayment: GatewayStatus = {
    ...{ state: 'failed', failureCode: 'payment_reversed' },
    ...{ code: null, message: null },
  };
  it.each<[string, string, Partial<GatewayAdapter>, string, string[]]>([
    [
      'goes home from a two-step gateway, and alerts nobody',
      'two-step',
      { inquire: async () => ({ state: 'processing' }) },
      'returns',
      [],
    ],
    [
      'is given back by a one-step gateway, and alerts nobody',
      'one-step',
      {
        inquire: inTurn<GatewayStatus>(confirmed(), reversedPayment),
        reverse: async () => ({ result: 'reversed' }),
      },
      'reversed',
      [],
    ],
    [
      'alerts where a person must give it back',
      'one-step',
      { inquire: async () => confirmed() },
      'by_hand',
      ['late_payment'],
    ],
  ])('%s', async (_, gateway, script, result, alerts) => {
    expect(await search(gateway, script)).toEqual({ result, alerts });
  });
});

type Money = 'none' | 'unverified' | 'captured' | 'home';
/** The books of the payments' gateways. The payers of a two-step one have paid. */
const money = new Map<string, Money>();
const moneyOf = ({ id }: Payment): Money => money.get(id) ?? 'unverified';
const answerFor = (of: Money): GatewayStatus =>
  of === 'captured' ? confirmed() : { state: of === 'home' ? 'expired' : 'waiting' };

/** The fault of the call that takes the money: `cut` before the gateway acts, `lost` after it. */
type Call = 'works' | 'cut' | 'lost';
interface Try {
  call?: Call;
  /** Runs after the claim, before the call. */
  meanwhile?: () => Promise<unknown>;
  /** The process dies in this statement's place. */
  diesAt?: (paymentOutcomes: PaymentOutcomes) => Partial<PaymentOutcomes>;
  isRetry?: boolean;
}

const verifying =
  (payment: Payment, { call = 'works', meanwhile }: Try): GatewayAdapter['verify'] =>
  async (_, mayTake) => {
    if (moneyOf(payment) !== 'unverified') return answerFor(moneyOf(payment));
    if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
    await meanwhile?.();
    if (call === 'cut') return silence();
    money.set(payment.id, 'captured');
    return call === 'lost' ? silence() : confirmed();
  };

/** One try of the activity. */
const attempt = async (payment: Payment, options: Try = {}) => {
  const { diesAt, isRetry = false } = options;
  const gateway = withGateway(
    records,
    { verify: verifying(payment, options) },
    {
      paymentOutcomes: { ...records.paymentOutcomes, ...diesAt?.(records.paymentOutcomes) },
      isRetry: () => isRetry,
    },
  );
  const { id } = payment;
  const result = await gateway.verifyPayment({ id, returned: true }).catch(() => 'died');
  const row = await records.paymentOutcomes.get(id);
  const { late, alerts } = gateway;
  return { result, status: row?.failureCode ?? row?.status, late, alerts: alerts() };
};
const die = async (): Promise<never> => {
  throw new Error('the process dies');
};
const holds = async ({ id }: Payment) => {
  const [row] =
    await sql`select order_claimed_at is not null as held from payments where id = ${id}`;
  return row?.['held'];
};
const exchangesOf = async ({ id }: Payment) =>
  (await createGatewayExchanges(sql).list(id)).map(({ result }) => result);
const age = (payment: Payment, interval: string) => sql`
  update payments set order_claimed_at = now() - ${interval}::interval where id = ${payment.id}`;
const isLost = 'order_already_paid';

describe('a crash between the claim and the end', () => {
  it.each([
    ['before the gateway acts', { call: 'cut' }],
    ['after the gateway has taken the money', { call: 'lost' }],
    ['before the end is written', { diesAt: (): Partial<PaymentOutcomes> => ({ finalize: die }) }],
  ] satisfies [string, Try][])('%s: the next try finds its own claim', async (_, crash) => {
    const [one, other] = await twoOfAnOrder();
    expect(await attempt(one, crash)).not.toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await attempt(other)).toMatchObject({ status: 'processing' });
    expect(moneyOf(other)).toBe('unverified');
    expect(await attempt(one, { isRetry: true })).toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await attempt(other)).toMatchObject({ status: isLost, late: [other.id], alerts: [] });
    expect(moneyOf(other)).toBe('unverified');
  });

  it('whose money has gone home meanwhile: its end frees the order', async () => {
    const [one, other] = await twoOfAnOrder();
    await attempt(one, { call: 'cut' });
    money.set(one.id, 'home');
    expect(await attempt(one, { isRetry: true })).toMatchObject({ status: 'expired' });
    expect(await attempt(other)).toMatchObject({ status: 'paid' });
  });

  it('between a refused end as paid and the end as lost: refused again, and its money is looked for', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    for (const { id } of [one, other]) money.set(id, 'captured');
    await attempt(one);
    const diesAtLost = ({ finalize }: PaymentOutcomes): Partial<PaymentOutcomes> => ({
      finalize: (ended, ...more) =>
        ended.failureCode === isLost ? die() : finalize(ended, ...more),
    });
    expect(await attempt(other, { diesAt: diesAtLost })).toMatchObject({
      ...{ result: 'died', status: 'pending', late: [] },
    });
    expect(await exchangesOf(other)).toEqual(['paid']);
    const retry = await attempt(other, { isRetry: true });
    expect(retry).toMatchObject({ status: isLost, late: [other.id], alerts: [] });
    // The try after that one finds the end, and cannot know whether somebody has looked.
    const last = await attempt(other, { isRetry: true });
    expect(last).toMatchObject({ status: isLost, late: [other.id], alerts: [] });
  });
});

describe('a gateway that is silent for a day', () => {
  it('loses the order to who waits for it, and what it has captured is late money', async () => {
    const [one, other] = await twoOfAnOrder();
    await attempt(one, { call: 'lost' });
    await age(one, '23 hours 59 minutes');
    expect(await attempt(other)).toMatchObject({ status: 'processing' });
    await age(one, '24 hours 1 minute');
    expect(await attempt(other)).toMatchObject({ status: 'paid' });
    expect(await attempt(one, { isRetry: true })).toMatchObject({ status: isLost, late: [one.id] });
    expect(await exchangesOf(one)).toContain('paid');
  });
});

describe('a failover that loses a claim', () => {
  it('while its call runs: one of two is paid, and the money of the other one is late money', async () => {
    const [one, other] = await twoOfAnOrder();
    const loser = await attempt(one, {
      async meanwhile() {
        await sql`update payments set order_claimed_at = null where id = ${one.id}`;
        expect(await attempt(other)).toMatchObject({ status: 'paid' });
      },
    });
    expect(loser).toMatchObject({ status: isLost, late: [one.id] });
    expect(await exchangesOf(one)).toEqual(['paid']);
    expect([await holds(one), await holds(other)]).toEqual([false, true]);
  });
});

describe('a restore', () => {
  const page = readProjectFile('docs/operating/restoring.md');
  const [, statementOfPage = ''] = /```sql\n([^`]*order_already_paid[^`]*)```/.exec(page) ?? [];

  it('brings a claim back with its open payment, which asks again', async () => {
    const [one, other] = await twoOfAnOrder();
    const backup = createBackup(sql, one.id, other.id);
    await attempt(one, { call: 'cut', meanwhile: backup.copy });
    expect(await attempt(one)).toMatchObject({ status: 'paid' });
    await backup.restore();
    expect(await holds(one)).toBe(true);
    expect(await attempt(other)).toMatchObject({ status: 'processing' });
    expect(await attempt(one)).toMatchObject({ status: 'paid' });
  });

  it('opens a payment that was told paid: another one may be paid first, and operators find both', async () => {
    const [one, other] = await twoOfAnOrder();
    const backup = createBackup(sql, one.id, other.id);
    await backup.copy();
    expect(await attempt(one)).toMatchObject({ status: 'paid' });
    const lostFrom = new Date();
    await backup.restore();
    const startedAt = new Date();
    expect(await attempt(other)).toMatchObject({ status: 'paid' });
    expect(await attempt(one)).toMatchObject({ status: isLost, late: [one.id] });
    const { application, orderId } = one;
    const statement = statementOfPage
      .replace(/(created_at < )'[^']+'/, `$1'${lostFrom.toISOString()}'`)
      .replace(/(updated_at >= )'[^']+'/, `$1'${startedAt.toISOString()}'`);
    expect(await sql.unsafe(statement)).toEqual([{ application, id: one.id, order_id: orderId }]);
  });
});

describe('a purge', () => {
  const purge = () => createRetention(sql).deletePayments(new Date(Date.now() + 60_000), 1_000);
  const exists = async ({ id }: Payment) =>
    (await sql`select from payments where id = ${id}`).length;

  it('of the paid payment frees its order', async () => {
    const [one, other] = await twoOfAnOrder('two-step', 'quiet');
    await attempt(one);
    await purge();
    expect([await exists(one), await exists(other)]).toEqual([0, 1]);
    expect(await attempt(other)).toMatchObject({ status: 'paid' });
  });

  it('leaves the claim of an open payment', async () => {
    const [one, other] = await twoOfAnOrder('two-step', 'quiet');
    money.set(one.id, 'home');
    await attempt(one);
    await attempt(other, { call: 'cut' });
    await purge();
    expect([await exists(one), await holds(other)]).toEqual([0, true]);
  });
});
