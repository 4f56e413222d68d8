import { expect, it } from 'vitest';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { forFile } from '../../../support/for-file.ts';
import { createGatewayExchanges } from '../../../../postgres/gateway-exchanges.ts';
import { startConsole } from '../../../support/service/console.ts';

const console = await forFile(startConsole({ temporal: {} }));
const { sql } = console;
await fillConsole(sql);
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
  const { cookie } = await console.logIn('viewer');
  const { status, text } = await console.call('/gateways/zarinpal', { cookie });
  expect(status).toBe(200);
  for (const shown of [
    ...['none since', 'No answer within 10 s', 'that ended', 'Asia/Tehran'],
    ...['1.4 % and 25 minor units', 'IRR', '/accounts/zarinpal/', 'Calls by hour'],
  ])
    expect(text, shown).toContain(shown);
  expect(text).not.toContain('/gateways/zarinpal/account');
  const admin = await console.logIn('admin');
  expect((await console.call('/gateways/zarinpal', admin)).text).toContain(
    '/gateways/zarinpal/account',
  );
});

it.each([
  [{ zone: 'Mars/Phobos', percent: '', fixed: '' }, 'no time zone'],
  [{ zone: 'UTC', percent: '1.234', fixed: '' }, 'from 0 to 100'],
  [{ zone: 'UTC', percent: '101', fixed: '' }, 'from 0 to 100'],
  [{ zone: 'UTC', percent: '1', fixed: '0.25' }, 'whole number'],
])('time zone and fee %j are refused', async (fields, why) => {
  const person = await console.logIn('admin', 'sets');
  const { answer } = await console.act('/gateways/sandbox/account', fields, person);
  expect([answer.status, answer.text.includes(why)], answer.text).toEqual([409, true]);
});

it('an empty fee is not known', async () => {
  await sql`update gateways set fee_basis_points = 140 where slug = 'sandbox'`;
  const person = await console.logIn('admin', 'sets');
  const fields = { zone: 'Europe/Berlin', percent: '', fixed: '0' };
  await console.act('/gateways/sandbox/account', fields, person);
  const [row] = await sql`
    select time_zone, fee_basis_points, fee_fixed from gateways where slug = 'sandbox'`;
  expect(row).toEqual({ time_zone: 'Europe/Berlin', fee_basis_points: null, fee_fixed: 0 });
});
