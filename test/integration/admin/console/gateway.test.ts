import { describe, expect, it } from 'vitest';
import { createGatewayExchanges } from '../../../../postgres/gateways/exchanges.ts';
import type { GatewayKind } from '../../../../contract/gateway-account.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { createPayments } from '../../../../postgres/payments/payments.ts';
import { createPaymentOutcomes } from '../../../../postgres/payments/outcomes.ts';
import type { GatewayAdapter } from '../../../../gateways/gateway.ts';
import { aPayment } from '../../../support/data/payments.ts';
import {
  aGateway as scriptedGateway,
  silence,
  withGateway,
} from '../../../support/service/scripted-gateway.ts';
import { runLine, words } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql } = await startFilledConsole();
await sql`update payments set status = 'pending', paid_at = null where id in (
  select id from payments where gateway = 'zarinpal' and status = 'paid' and not test order by id limit 2)`;
const open = await sql<{ id: string }[]>`
  select id from payments where gateway = 'zarinpal' and status = 'pending' and not test order by id`;
const exchanges = createGatewayExchanges(sql);
const { deps } = console;

/** One repeated inquiry of the sweeper about the first payments. */
const inquire = (result: 'no_answer' | 'waiting', at: Date, of = 2) =>
  exchanges.replaceRepeated(
    open.slice(0, of).map(({ id }) => ({
      ...{ paymentId: id, at, operation: 'inquire', result },
      ...{ code: null, message: 'No answer within 10 s', durationMs: 10_000 },
    })),
  );
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const attention = async () => (await deps.attention.get(false)).silent;

it('an outage lasts since the first call without an answer, however often it is repeated', async () => {
  await sql`delete from gateway_exchanges where gateway = 'zarinpal'`;
  await inquire('waiting', minutesAgo(300));
  const began = minutesAgo(180);
  await inquire('no_answer', began);
  for (const minutes of [120, 60, 1]) await inquire('no_answer', minutesAgo(minutes));
  expect(await deps.gatewayFigures.silentSince('zarinpal')).toEqual(began);
  expect(await attention()).toEqual([{ gateway: 'zarinpal', count: 2, since: began }]);
  // The first and the last one of each payment.
  const [row] = await sql`
    select count(*)::int from gateway_exchanges where gateway = 'zarinpal' and result = 'no_answer'`;
  expect(row?.['count']).toBe(4);
});

it('two payments without an answer are no outage while the gateway answers others', async () => {
  const other = open[2]?.id ?? '';
  await exchanges.insert(other, [
    {
      ...{ at: minutesAgo(0), operation: 'open', result: 'opened' },
      ...{ code: null, message: null, durationMs: 9 },
    },
  ]);
  expect(await deps.gatewayFigures.silentSince('zarinpal')).toBeNull();
  expect(await attention()).toEqual([{ gateway: 'zarinpal', count: 2, since: null }]);
});

it('a later outage begins anew, also about a payment that an earlier one was about', async () => {
  await inquire('waiting', new Date(Date.now() + 1_000));
  const began = new Date(Date.now() + 2_000);
  await inquire('no_answer', began, 1);
  await inquire('no_answer', new Date(Date.now() + 3_000), 1);
  expect(await deps.gatewayFigures.silentSince('zarinpal')).toEqual(began);
});

it('the page shows calls by hour, the last error, conversion, fee, zone, days and bounds', async () => {
  await sql`
    update gateways set time_zone = 'Asia/Tehran', fee_basis_points = 140, fee_fixed = 25 where slug = 'zarinpal'`;
  const text = await (await console.logIn('viewer')).read('/gateways/zarinpal');
  for (const shown of [
    ...['none since', 'No answer within 10 s', 'that ended', 'Asia/Tehran'],
    ...['1.4 % and 25 minor units', 'IRR', '/accounts/zarinpal/', 'Calls by hour'],
  ])
    expect(text, shown).toContain(shown);
  expect(text).not.toContain('/gateways/zarinpal/account');
  const admin = await console.logIn('admin');
  expect(await admin.read('/gateways/zarinpal')).toContain('/gateways/zarinpal/account');
  expect(await admin.read('/gateways/zarinpal/account')).toContain('25 for 25 IRR');
});

it.each([
  [{ zone: 'Mars/Phobos', percent: '', fixed: '' }, 'no time zone'],
  [{ zone: 'UTC', percent: '1.234', fixed: '' }, 'from 0 to 100'],
  [{ zone: 'UTC', percent: '101', fixed: '' }, 'from 0 to 100'],
  [{ zone: 'UTC', percent: '1', fixed: '0.25' }, 'whole number'],
])('time zone and fee %j are refused', async (fields, why) => {
  const person = await console.logIn('admin', 'sets');
  const { answer } = await person.act('/gateways/sandbox/account', fields);
  expect([answer.status, answer.text.includes(why)], answer.text).toEqual([409, true]);
});

it('an empty fee is not known', async () => {
  await sql`update gateways set fee_basis_points = 140 where slug = 'sandbox'`;
  const person = await console.logIn('admin', 'sets');
  const fields = { zone: 'Europe/Berlin', percent: '', fixed: '0' };
  await person.act('/gateways/sandbox/account', fields);
  const [row] = await sql`
    select time_zone, fee_basis_points, fee_fixed from gateways where slug = 'sandbox'`;
  expect(row).toEqual({ time_zone: 'Europe/Berlin', fee_basis_points: null, fee_fixed: 0 });
});

describe('a gateway that opens nothing', () => {
  const gateways = createGateways(sql);
  const opens: GatewayAdapter['open'] = async ({ id }) => ({
    result: 'opened',
    reference: `REF_${id}`,
    redirect: { method: 'GET', url: 'https://gateway.example' },
  });
  const refuses: GatewayAdapter['open'] = async () => ({
    result: 'refused',
    code: '401',
    message: 'the key is not valid',
  });
  /** What each gateway does now. */
  const scripts: Record<string, GatewayAdapter['open']> = {};
  const { openPayment, expirePayment } = withGateway(
    { paymentOutcomes: createPaymentOutcomes(sql), sql },
    {},
    {
      now: () => new Date(),
      gatewayOf: (account, listener) =>
        scriptedGateway({
          open: (payment) => (scripts[account.gateway] ?? opens)(payment),
        }).gatewayOf(account, listener),
    },
  );
  const aGateway = async (
    slug: string,
    script: GatewayAdapter['open'],
    kind: GatewayKind = 'live',
  ) => {
    await gateways.insert({ slug, driver: 'zarinpal', kind, credentials: null });
    scripts[slug] = script;
    return slug;
  };
  const create = async (gateway: string, candidates: string[] | null = null, test = false) => {
    const payment = aPayment({ gateway, test });
    await createPayments(sql).insert(payment, null, { candidates });
    return payment.id;
  };
  /** Tries to open a payment so often, as its workflow does. */
  const tryToOpen = async (id: string, times = 1) => {
    for (let time = 0; time < times; time += 1)
      await openPayment({ id, afterDeadline: false }).catch(() => undefined);
    return id;
  };
  const viewer = console.logIn('viewer', 'looks');
  const read = async (path: string, mode: 'live' | 'test' = 'live') =>
    (await viewer).lookingAt(mode).read(path);
  /** The line about the gateway without its time, and the payments of the list behind it; undefined: there is none. */
  const lineOf = async (gateway: string, mode?: 'live' | 'test') => {
    const [, count, what, href = ''] =
      new RegExp(
        `<strong>(\\d+)</strong> <span>payments?: ${gateway} opens no payment since [^<]*: ([^<:]*)</span> <a href="([^"]+)"`,
      ).exec(await read('/attention', mode)) ?? [];
    if (what === undefined) return undefined;
    const ids = (await read(href, mode)).matchAll(/href="\/payments\/(PAY_\w+)"/g);
    return { count, what, ids: [...new Set([...ids].map(([, id = '']) => id))].toSorted() };
  };

  it('needs attention with exactly its waiting and failed payments, until it opens one again', async () => {
    const gateway = await aGateway('dead', opens);
    await tryToOpen(await create(gateway));
    scripts[gateway] = silence;
    const waiting = [
      await tryToOpen(await create(gateway), 2),
      await tryToOpen(await create(gateway)),
    ];
    const failed = await tryToOpen(await create(gateway));
    await expirePayment({ id: failed, grace: false, unreachable: true });
    scripts[gateway] = refuses;
    const refused = await tryToOpen(await create(gateway));
    const ids = [...waiting, failed, refused].toSorted();
    expect(await lineOf(gateway)).toEqual({ count: '4', what: '2 wait, 2 failed', ids });
    for (const path of ['/', '/gateways', `/gateways/${gateway}`])
      expect(await read(path), path).toMatch(/opens no payment since [^<]*: 2 wait, 2 failed/);
    const { out } = await runLine(() => operationsOn(sql), words('gateways list'));
    expect(out).toMatch(/dead .*opens no payment since 2.*: 2 wait, 2 failed/);
    // The first failed opening, and not the third one, which made it silent.
    const [began] = await sql<{ at: Date }[]>`
      select min(at) as at from gateway_exchanges where gateway = ${gateway} and result = 'no_answer'`;
    expect((await deps.attention.opensNothing(false))[0]?.since).toEqual(began?.at);

    scripts[gateway] = opens;
    await tryToOpen(waiting[0] ?? '');
    expect(await lineOf(gateway)).toBeUndefined();
    expect(await read('/gateways')).not.toContain('opens no payment');
  });

  it('needs attention if it refuses all payments, and not if it refuses one', async () => {
    const gateway = await aGateway('refuses', refuses);
    const ids: string[] = [];
    for (const isEnough of [false, false, true]) {
      ids.push(await tryToOpen(await create(gateway)));
      expect((await lineOf(gateway)) !== undefined).toBe(isEnough);
    }
    const line = { count: '3', what: '0 wait, 3 failed', ids: ids.toSorted() };
    expect(await lineOf(gateway)).toEqual(line);
    await gateways.setEnabled(gateway, false);
    expect(await lineOf(gateway)).toBeUndefined();
  });

  it('needs attention while payments wait for it, also if it is disabled', async () => {
    const gateway = await aGateway('disabled', silence);
    const id = await tryToOpen(await create(gateway), 3);
    await gateways.setEnabled(gateway, false);
    expect(await lineOf(gateway)).toEqual({ count: '1', what: '1 waits, 0 failed', ids: [id] });
    await expirePayment({ id, grace: false, unreachable: true });
    expect(await lineOf(gateway)).toBeUndefined();
  });

  it('has none of the payments that another one opens, and needs attention if it is live', async () => {
    const [gateway, second] = [await aGateway('first', silence), await aGateway('second', opens)];
    for (let n = 0; n < 3; n += 1) await tryToOpen(await create(gateway, [gateway, second]));
    expect(await lineOf(gateway)).toEqual({ count: '0', what: '0 wait, 0 failed', ids: [] });
    scripts[second] = silence;
    const id = await tryToOpen(await create(second, [second, gateway]), 3);
    for (const slug of [gateway, second])
      expect(await lineOf(slug)).toEqual({ count: '1', what: '1 waits, 0 failed', ids: [id] });
  });

  it('needs the attention of those who look at its payments, live or test', async () => {
    const gateway = await aGateway('of-tests', silence, 'sandbox');
    const id = await tryToOpen(await create(gateway, null, true), 3);
    expect(await lineOf(gateway)).toBeUndefined();
    const line = { count: '1', what: '1 waits, 0 failed', ids: [id] };
    expect(await lineOf(gateway, 'test')).toEqual(line);
  });
});
