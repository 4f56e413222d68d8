import { describe, expect, it } from 'vitest';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import { createRetention } from '../../../postgres/retention.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { startRecords } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { createBackup } from '../../support/protocol/backup.ts';
import { confirmed, silence, withGateway } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql } = records;
await sql`update applications set orders_paid_once = true`;
await sql`insert into gateways (slug, driver, kind) values ('two-step', 'zarinpal', 'live'), ('one-step', 'stripe', 'live')`;

let orders = 0;
const twoOfAnOrder = async (gateway = 'two-step', application = 'shop') => {
  const fields = { orderId: `order-${(orders += 1)}`, gateway, application };
  return [await records.sent(fields), await records.sent(fields)] as const;
};

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
const verify = async (payment: Payment, options: Try = {}) => {
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
const lost = 'order_already_paid';

describe('a crash between the claim and the end', () => {
  it.each([
    ['before the gateway acts', { call: 'cut' }],
    ['after the gateway has taken the money', { call: 'lost' }],
    ['before the end is written', { diesAt: (): Partial<PaymentOutcomes> => ({ finalize: die }) }],
  ] satisfies [string, Try][])('%s: the next try finds its own claim', async (_, crash) => {
    const [one, other] = await twoOfAnOrder();
    expect(await verify(one, crash)).not.toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await verify(other)).toMatchObject({ status: 'processing' });
    expect(moneyOf(other)).toBe('unverified');
    expect(await verify(one, { isRetry: true })).toMatchObject({ status: 'paid' });
    expect(await holds(one)).toBe(true);
    expect(await verify(other)).toMatchObject({ status: lost, late: [other.id], alerts: [] });
    expect(moneyOf(other)).toBe('unverified');
  });

  it('whose money has gone home meanwhile: its end frees the order', async () => {
    const [one, other] = await twoOfAnOrder();
    await verify(one, { call: 'cut' });
    money.set(one.id, 'home');
    expect(await verify(one, { isRetry: true })).toMatchObject({ status: 'expired' });
    expect(await verify(other)).toMatchObject({ status: 'paid' });
  });

  it('between a refused end as paid and the end as lost: refused again, and its money is looked for', async () => {
    const [one, other] = await twoOfAnOrder('one-step');
    for (const { id } of [one, other]) money.set(id, 'captured');
    await verify(one);
    const diesAtLost = ({ finalize }: PaymentOutcomes): Partial<PaymentOutcomes> => ({
      finalize: (ended, ...more) => (ended.failureCode === lost ? die() : finalize(ended, ...more)),
    });
    expect(await verify(other, { diesAt: diesAtLost })).toMatchObject({
      ...{ result: 'died', status: 'pending', late: [] },
    });
    expect(await exchangesOf(other)).toEqual(['paid']);
    const retry = await verify(other, { isRetry: true });
    expect(retry).toMatchObject({ status: lost, late: [other.id], alerts: [] });
    // The try after that one finds the end, and cannot know whether somebody has looked.
    const last = await verify(other, { isRetry: true });
    expect(last).toMatchObject({ status: lost, late: [other.id], alerts: [] });
  });
});

describe('a gateway that is silent for a day', () => {
  it('loses the order to who waits for it, and what it has captured is late money', async () => {
    const [one, other] = await twoOfAnOrder();
    await verify(one, { call: 'lost' });
    await age(one, '23 hours 59 minutes');
    expect(await verify(other)).toMatchObject({ status: 'processing' });
    await age(one, '24 hours 1 minute');
    expect(await verify(other)).toMatchObject({ status: 'paid' });
    expect(await verify(one, { isRetry: true })).toMatchObject({ status: lost, late: [one.id] });
    expect(await exchangesOf(one)).toContain('paid');
  });
});

describe('a failover that loses a claim', () => {
  it('while its call runs: one of two is paid, and the money of the other one is late money', async () => {
    const [one, other] = await twoOfAnOrder();
    const loser = await verify(one, {
      async meanwhile() {
        await sql`update payments set order_claimed_at = null where id = ${one.id}`;
        expect(await verify(other)).toMatchObject({ status: 'paid' });
      },
    });
    expect(loser).toMatchObject({ status: lost, late: [one.id] });
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
    await verify(one, { call: 'cut', meanwhile: backup.copy });
    expect(await verify(one)).toMatchObject({ status: 'paid' });
    await backup.restore();
    expect(await holds(one)).toBe(true);
    expect(await verify(other)).toMatchObject({ status: 'processing' });
    expect(await verify(one)).toMatchObject({ status: 'paid' });
  });

  it('opens a payment that was told paid: another one may be paid first, and operators find both', async () => {
    const [one, other] = await twoOfAnOrder();
    const backup = createBackup(sql, one.id, other.id);
    await backup.copy();
    expect(await verify(one)).toMatchObject({ status: 'paid' });
    const lostFrom = new Date();
    await backup.restore();
    const startedAt = new Date();
    expect(await verify(other)).toMatchObject({ status: 'paid' });
    expect(await verify(one)).toMatchObject({ status: lost, late: [one.id] });
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
    await verify(one);
    await purge();
    expect([await exists(one), await exists(other)]).toEqual([0, 1]);
    expect(await verify(other)).toMatchObject({ status: 'paid' });
  });

  it('leaves the claim of an open payment', async () => {
    const [one, other] = await twoOfAnOrder('two-step', 'quiet');
    money.set(one.id, 'home');
    await verify(one);
    await verify(other, { call: 'cut' });
    await purge();
    expect([await exists(one), await holds(other)]).toEqual([0, true]);
  });
});
