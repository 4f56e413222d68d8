import { describe, expect, it } from 'vitest';
import { createLatePaymentActivities } from '../../../activities/late-payments.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import { createLatePayments } from '../../../postgres/late-payments.ts';
import { createOrders } from '../../../postgres/orders.ts';
import { TemporalUnavailable } from '../../../temporal/workflow-calls.ts';
import { startRecords } from '../../support/data/records.ts';
import {
  aGateway,
  confirmed,
  inTurn,
  publicBaseUrl,
  readableLogger,
  silence,
  withGateway,
} from '../../support/service/scripted-gateway.ts';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql } = records;
await sql`update applications set orders_paid_once = true where slug = 'shop'`;
// A gateway that returns what nobody verifies, and one that has the money at once.
await sql`insert into gateways (slug, driver, kind) values ('two-step', 'zarinpal', 'live'), ('one-step', 'stripe', 'live')`;

let count = 0;
const anOrder = () => `order-${(count += 1)}`;
const twoOfAnOrder = async (gateway = 'two-step') => {
  const fields = { orderId: anOrder(), gateway };
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
  it('claims it before a two-step gateway takes the money', async () => {
    const [one] = await twoOfAnOrder();
    const { verify: take, taken } = paidAtTwoStep();
    let heldAtCall: unknown;
    const watched: GatewayAdapter['verify'] = (payment, mayTake) =>
      take(payment, async () => {
        const may = (await mayTake?.()) ?? true;
        [heldAtCall] = await sql`
          select order_claimed_at is not null as held from payments where id = ${one.id}`;
        return may;
      });
    await verify(watched).verifyPayment({ id: one.id, returned: true });
    expect(heldAtCall).toEqual({ held: true });
    expect(taken()).toBe(1);
  });

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

  it('that an open one holds is processing, and is asked about again until that one has ended', async () => {
    const [one, other] = await twoOfAnOrder();
    await createOrders(sql).claim(one.id);
    const { verify: take, taken } = paidAtTwoStep();
    const again = () => verify(take).verifyPayment({ id: other.id, returned: true });
    expect(await again()).toEqual({ kind: 'processing' });
    expect(await recordOf(other)).toMatchObject({ status: 'processing' });
    await verify([{ state: 'expired' }]).verifyPayment({ id: one.id, returned: true });
    expect(await again()).toEqual({ kind: 'ended', status: 'paid' });
    expect(taken()).toBe(1);
  });

  it('keeps what a one-step gateway has taken for the search for late money', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    await pay(one);
    const gateway = verify([confirmed()]);
    expect(await gateway.verifyPayment({ id: other.id, returned: true })).toEqual(lost);
    expect(await recordOf(other)).toEqual({ ...failure, exchanges: ['verify paid'] });
    expect(gateway.late).toEqual([other.id]);
  });

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

  it('that has captured money takes over a claim that is a day old', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    await createOrders(sql).claim(one.id);
    await sql`update payments set order_claimed_at = now() - interval '25 hours' where id = ${one.id}`;
    await pay(other);
    expect(await recordOf(other)).toMatchObject({ status: 'paid', exchanges: ['verify paid'] });
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

  it('ends what nobody has paid, at a gateway that returns money', async () => {
    const [one, other] = await twoOfAnOrder();
    await pay(one);
    expect(await callOff(verify([{ state: 'waiting' }]), other)).toEqual(lost);
    expect(await recordOf(other)).toMatchObject(failure);
  });

  it('closes it at a gateway that can', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    await pay(one);
    const gateway = withGateway(records, {
      verify: inTurn<GatewayStatus>({ state: 'waiting' }),
      expire: async () => true,
    });
    expect(await callOff(gateway, other)).toEqual(lost);
    expect(gateway.calls()).toEqual(['verify', 'expire']);
  });

  it('does nothing if the order has been given back meanwhile', async () => {
    const [, other] = await twoOfAnOrder();
    const gateway = verify([]);
    expect(await callOff(gateway, other)).toEqual({ kind: 'waiting' });
    expect(gateway.calls()).toEqual([]);
    expect(await recordOf(other)).toMatchObject({ status: 'pending' });
  });

  it('leaves it open while the gateway is silent', async () => {
    const [one, other] = await twoOfAnOrder();
    await pay(one);
    expect(await callOff(verify([silence]), other)).toEqual({ kind: 'unknown' });
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
    const { resolveLatePayment } = createLatePaymentActivities({
      ...records,
      latePayments: createLatePayments(sql),
      gatewayExchanges: createGatewayExchanges(sql),
      gatewayOf: aGateway(script).gatewayOf,
      gatewayBulkhead: createBulkhead({ perOwner: 250 }),
      publicBaseUrl,
      now: () => new Date(),
      logger,
    });
    await resolveLatePayment({ id: other.id, last: false });
    const [row] = await sql`select result from late_payments where payment_id = ${other.id}`;
    return { result: row?.['result'], alerts: alerts() };
  };

  it('goes home from a two-step gateway, and alerts nobody', async () => {
    const inquire = async () => ({ state: 'processing' as const });
    expect(await search('two-step', { inquire })).toEqual({ result: 'returns', alerts: [] });
  });

  it('is given back by a one-step gateway, and alerts nobody', async () => {
    const reversed: GatewayStatus = {
      ...{ state: 'failed', failureCode: 'payment_reversed' },
      ...{ code: null, message: null },
    };
    const inquire = inTurn<GatewayStatus>(confirmed(), reversed);
    const reverse = async () => ({ result: 'reversed' as const });
    expect(await search('one-step', { inquire, reverse })).toEqual({
      result: 'reversed',
      alerts: [],
    });
  });

  it('alerts where a person must give it back', async () => {
    const inquire = async () => confirmed();
    expect(await search('one-step', { inquire })).toEqual({
      result: 'by_hand',
      alerts: ['late_payment'],
    });
  });
});
