import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
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

/** The payments whose money a gateway has taken. All payers have paid. */
const captured = new Set<string>();

/** The fault of the call that takes the money: `cut` before the gateway acts, `lost` after it. */
type Call = 'works' | 'cut' | 'lost';
interface Try {
  call?: Call;
  /** The process dies instead of writing the end. */
  dies?: boolean;
  isRetry?: boolean;
}

/** One try of the activity. */
const attempt = async (
  { id }: Payment,
  { call = 'works', dies = false, isRetry = false }: Try = {},
) => {
  const taking: GatewayAdapter['verify'] = async (_, mayTake) => {
    if (captured.has(id)) return confirmed();
    if (mayTake && !(await mayTake())) return { state: 'unconfirmed' };
    if (call === 'cut') return silence();
    captured.add(id);
    return call === 'lost' ? silence() : confirmed();
  };
  const finalize = () => Promise.reject(new Error('the process dies'));
  const paymentOutcomes = { ...records.paymentOutcomes, ...(dies && { finalize }) };
  const deps = { paymentOutcomes, isRetry: () => isRetry };
  const { verifyPayment, late, alerts } = withGateway(records, { verify: taking }, deps);
  await verifyPayment({ id, returned: true }).catch(() => {});
  const row = await records.paymentOutcomes.get(id);
  return { status: row?.failureCode ?? row?.status, late, alerts: alerts() };
};
const holds = async ({ id }: Payment) => {
  const [row] =
    await sql`select order_claimed_at is not null as held from payments where id = ${id}`;
  return row?.['held'];
};
const isLost = 'order_already_paid';

describe('a crash between the claim and the end', () => {
  it.each([
    ['before the gateway acts', { call: 'cut' }],
    ['after the gateway has taken the money', { call: 'lost' }],
    ['before the end is written', { dies: true }],
  ] satisfies [string, Try][])('%s: the next try finds its own claim', async (_, crash) => {
    const [one, other] = await twoOfAnOrder();
    expect(await attempt(one, crash)).not.toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await attempt(other)).toMatchObject({ status: 'processing' });
    expect(captured.has(other.id)).toBe(false);
    expect(await attempt(one, { isRetry: true })).toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await attempt(other)).toMatchObject({ status: isLost, late: [other.id], alerts: [] });
    expect(captured.has(other.id)).toBe(false);
  });
});

it('a restore opens a payment that was told paid: another one may be paid first, and operators find both', async () => {
  const page = readProjectFile('docs/operating/restoring.md');
  const [, statementOfPage = ''] = /```sql\n([^`]*order_already_paid[^`]*)```/.exec(page) ?? [];
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
