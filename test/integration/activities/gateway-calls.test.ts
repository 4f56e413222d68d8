import { describe, expect, it } from 'vitest';
import type { GatewayAdapter, GatewayStatus, OpenResult } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createPaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import { countedSql } from '../../support/data/counted-sql.ts';
import { operationsOn } from '../../support/service/admin-operations.ts';
import { aPayment } from '../../support/data/payments.ts';
import { startRecords } from '../../support/data/records.ts';
import { confirmed, inTurn, silence, withGateway } from '../../support/service/scripted-gateway.ts';
import { sweeperTasksOn } from '../../support/service/scripted-sweep.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

/** The activities with a counter of their statements. */
const counted = (script: Partial<GatewayAdapter>) => {
  const { sql, statements } = countedSql(records.sql);
  const gateway = withGateway({ sql, paymentOutcomes: createPaymentOutcomes(sql) }, script);
  return { ...gateway, statements };
};

const exchangesOf = (id: string) => createGatewayExchanges(records.sql).list(id);

const opened = (id: string): OpenResult => ({
  result: 'opened',
  reference: `REF_${id}`,
  redirect: { method: 'GET', url: 'https://gateway.example/pay' },
});

it('stores the exchanges in the statement that stores their result', async () => {
  const { id } = await records.created();
  const { openPayment, statements } = counted({ open: inTurn(opened(id)) });
  await openPayment({ id, afterDeadline: false });
  // One reads the record, one stores the opening.
  expect(statements()).toBe(2);
  expect(await exchangesOf(id)).toMatchObject([
    { operation: 'open', result: 'opened', code: null, message: null },
  ]);

  const asked = counted({
    verify: inTurn<GatewayStatus>({ state: 'waiting' }, silence, confirmed()),
  });
  await asked.verifyPayment({ id, returned: false });
  await asked.verifyPayment({ id, returned: false });
  expect(asked.statements()).toBe(4);
  await asked.verifyPayment({ id, returned: false });
  // A third looks for duplicates.
  expect(asked.statements()).toBe(7);
  expect((await exchangesOf(id)).slice(1)).toMatchObject([
    { operation: 'verify', result: 'waiting' },
    { operation: 'verify', result: 'no_answer', message: 'timeout' },
    { operation: 'verify', result: 'paid' },
  ]);
  const [same] = await records.sql<{ same: boolean }[]>`
    select p.xmin::text = x.xmin::text as same
    from payments p join gateway_exchanges x on x.payment_id = p.id
    where p.id = ${id} order by x.id desc limit 1`;
  expect(same).toEqual({ same: true });
});

it('reads the other gateways of a payment in one statement, and only if the first opens nothing', async () => {
  await records.addGateway('zarinpal', { slug: 'next' });
  for (const [script, cost] of [
    [inTurn(opened('first')), 2],
    [inTurn<OpenResult>(silence, opened('second')), 3],
  ] as const) {
    const payment = aPayment({ gateway: 'sandbox' });
    await records.payments.insert(payment, null, { candidates: ['sandbox', 'next'] });
    const { openPayment, statements } = counted({ open: script });
    expect(await openPayment({ id: payment.id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(statements()).toBe(cost);
  }
});

it('stores all exchanges of a deadline', async () => {
  const { id } = await records.sent();
  const { expirePayment, statements } = counted({
    verify: inTurn<GatewayStatus>({ state: 'waiting' }, { state: 'expired' }),
    expire: async () => false,
  });
  await expirePayment({ id, grace: true, unreachable: false });
  // A third reads the earlier exchanges, because the payment is not paid.
  expect(statements()).toBe(3);
  expect((await exchangesOf(id)).map(({ operation, result }) => `${operation}: ${result}`)).toEqual(
    [...['verify: waiting', 'expire: refused', 'verify: expired']],
  );
});

it('does not store the exchanges of a try that a fault of ours ended', async () => {
  const { id } = await records.sent();
  const secret = 'sk_live_secret';
  const broken = counted({ verify: () => Promise.reject(new Error(secret)) });
  await expect(broken.verifyPayment({ id, returned: false })).rejects.toThrow(secret);
  expect(await exchangesOf(id)).toEqual([]);
  const { verifyPayment } = counted({ verify: inTurn<GatewayStatus>({ state: 'waiting' }) });
  await verifyPayment({ id, returned: false });
  expect(await exchangesOf(id)).toMatchObject([{ operation: 'verify', result: 'waiting' }]);
});

it('keeps the last 50 exchanges of each payment', async () => {
  const [other, { id }] = [await records.sent(), await records.sent()];
  const waiting = { verify: async (): Promise<GatewayStatus> => ({ state: 'waiting' }) };
  const { verifyPayment } = counted(waiting);
  await verifyPayment({ id: other.id, returned: false });
  await verifyPayment({ id, returned: false });
  // Two exchanges can be equal, down to the millisecond.
  const idsOf = async (paymentId: string) =>
    (
      await records.sql<{ id: string }[]>`
        select id::text from gateway_exchanges where payment_id = ${paymentId} order by id`
    ).map((exchange) => exchange.id);
  const [first] = await idsOf(id);
  for (let times = 0; times < 50; times += 1) await verifyPayment({ id, returned: false });
  const kept = await idsOf(id);
  expect(kept).toHaveLength(50);
  expect(kept).not.toContain(first);
  expect(await idsOf(other.id)).toHaveLength(1);
  await verifyPayment({ id: other.id, returned: false });
  expect(await idsOf(id)).toEqual(kept);
});

describe('the inquiries of the sweeper', () => {
  const sweepWith = (inquire: GatewayAdapter['inquire']) => {
    const { sql, statements } = countedSql(records.sql);
    const gatewayExchanges = createGatewayExchanges(sql);
    const { inquireAtGateway } = sweeperTasksOn(records, { inquire }, { gatewayExchanges });
    const sweep = async (ids: readonly string[]) => {
      await records.sql`update payments set inquired_at = now()`;
      await records.sql`
        update payments set inquired_at = now() - interval '3 minutes',
          checkout_at = now() - interval '4 minutes' where id = any(${[...ids]})`;
      await inquireAtGateway({ gateway: 'sandbox' });
    };
    return { sweep, statements };
  };

  it('are stored in one statement per batch, also those without an answer', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 10; made += 1) ids.push((await records.sent()).id);
    const { sweep, statements } = sweepWith(async ({ id }) => {
      if (id === ids[0]) return silence();
      if (id === ids[1]) throw new Error('sk_live_secret');
      return { state: 'processing' };
    });
    await sweep(ids);
    expect(statements()).toBe(1);
    const stored: unknown[] = [];
    for (const id of ids) stored.push(...(await exchangesOf(id)));
    expect(stored).toHaveLength(10);
    expect(stored.slice(0, 3)).toMatchObject([
      { operation: 'inquire', result: 'no_answer', message: 'timeout' },
      { operation: 'inquire', result: 'error', message: null },
      { operation: 'inquire', result: 'processing' },
    ]);
    const { timeline } = await operationsOn(records.sql).payments.get(ids[2]!); // There are ten.
    expect(timeline).toContainEqual(
      expect.objectContaining({
        what: 'the gateway was asked',
        details: expect.stringMatching(/^money on its way/),
      }),
    );
  });

  it('do not evict other exchanges: the last one with each result is kept', async () => {
    const [{ id }, other] = [await records.created(), await records.sent()];
    await counted({ open: inTurn(opened(id)) }).openPayment({ id, afterDeadline: false });
    // This verification may have captured the money.
    await counted({ verify: silence }).verifyPayment({ id, returned: false });
    let asked = 0;
    const { sweep } = sweepWith(async () => {
      asked += 1;
      return asked % 30 === 7 ? silence() : { state: 'waiting' };
    });
    await sweep([other.id]);
    for (let times = 0; times < 60; times += 1) await sweep([id]);
    expect(asked).toBe(61);
    expect(await exchangesOf(other.id)).toMatchObject([{ result: 'waiting' }]);
    const kept = await exchangesOf(id);
    expect(kept).toMatchObject([
      { operation: 'open' },
      { operation: 'verify', result: 'no_answer' },
      { operation: 'inquire', result: 'no_answer' },
      { operation: 'inquire', result: 'waiting' },
    ]);
    const [first, second] = kept.slice(2);
    await sweep([id]);
    expect((await exchangesOf(id)).slice(2)).toMatchObject([first, { result: 'waiting' }]);
    expect((await exchangesOf(id)).at(-1)?.at.getTime()).toBeGreaterThan(second!.at.getTime());
  });
});
