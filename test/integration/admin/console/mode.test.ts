import { expect, it } from 'vitest';
import { createRoutes } from '../../../../admin/console/routes.ts';
import {
  disputeId,
  eventId,
  newPaymentId,
  newReplayId,
  newRequestId,
  refundId,
} from '../../../../contract/ids.ts';
import { createReplays } from '../../../../postgres/webhooks/replays.ts';
import { createLinks } from '../../../../postgres/links/links.ts';
import { everyDelivery } from '../../../../postgres/webhooks/delivery-filter.ts';
import { aLink } from '../../../support/data/links-of-admins.ts';
import { writeDeliveries, writePayments } from '../../../support/data/payments.ts';
import { call, hoursOf } from '../../../support/service/console.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const now = new Date();
const { console, sql, ids } = await startFilledConsole({ temporal: {}, now: () => now });
const admin = await console.logIn('admin');

const today = now.toISOString().slice(0, 10);

/** One of everything that is live or a test, in each state that waits for somebody. */
const addAll = async (test: boolean) => {
  const [one, two, three] = [newPaymentId(), newPaymentId(), newPaymentId()];
  const at = new Date(now.getTime() - 60_000);
  // A live token may use a sandbox, too.
  const gateway = 'sandbox';
  const shared = { application: 'shop', test, currency: 'EUR' };
  const payment = {
    ...{ ...shared, amount: 7_777, gateway, orderId: 'same', createdAt: at, updatedAt: at },
    ...{ checkoutAt: at, expiresAt: new Date(Date.now() - 7_200_000) },
  };
  await writePayments(sql, [
    { ...payment, id: two, status: 'failed', failureCode: 'insufficient_funds' },
    { ...payment, id: three },
  ]);
  await writeDeliveries(sql, [{ ...payment, id: one, trackingCode: 'same' }], () => ({
    ...{ order_id: 'same', created_at: at, recorded_at: at, status: 'pending', error_class: 'tls' },
    next_attempt_at: new Date(Date.now() - 8_640_000),
  }));
  await sql`insert into late_payments (payment_id, found_at, result, resolved_at) values (${two}, now(), 'by_hand', now())`;
  await sql`insert into workflow_outbox (payment_id, created_at) values (${three}, now() - interval '9 days')`;
  await sql`
    insert into gateway_exchanges (payment_id, gateway, at, operation, result, duration_ms)
    values (${three}, 'sandbox', now(), 'verify', 'no_answer', 9)`;
  await sql`insert into attempts ${sql({
    ...{ event_id: eventId(one), number: 1, round: 1, trigger: 'schedule', scheduled_at: at },
    ...{ started_at: at, completed_at: at, duration_ms: 9_999, error_class: 'tls', error: 'tls' },
    ...{ response_status: null, response_body: null, response_truncated: false },
  })}`;
  await sql`insert into refunds ${sql({
    ...{ id: refundId([one]), payment_id: one, ...shared, order_id: 'same', status: 'pending' },
    ...{ stage: 'by_hand', amount: 77, method: 'refund', requested_by: 'application' },
    ...{ metadata: '{}', times_told: 1, created_at: at, updated_at: at },
  })}`;
  await sql`insert into disputes ${sql({
    ...{ id: disputeId(gateway, one), payment_id: one, ...shared, order_id: 'same', gateway },
    ...{ gateway_reference: `dp_${one}`, stage: 'chargeback', status: 'needs_response' },
    ...{ amount: 77, opened_at: at, updated_at: at, respond_by: new Date(Date.now() + 9e8) },
  })}`;
  const link = await createLinks(sql).insert(aLink({ test, orderId: 'same' }));
  await sql`
    insert into account_differences (gateway, day, kind, subject, payment_id, application)
    values (${gateway}, ${today}, 'amount_differs', ${`payment:${one}`}, ${one}, 'shop')`;
  const replay = { ...everyDelivery, ...{ application: 'shop', test }, to: new Date() };
  const id = newReplayId();
  await sql`update replays set status = 'done', ended_at = now() where status = 'running'`;
  await createReplays(sql).insertOfOperator({
    ...{ ...replay, id, delivery: 'exhausted', matched: 7, perSecond: 1 },
  });
  const mode = test ? 'test' : 'live';
  await operationsOn(sql).tokens.issue(
    { application: 'shop', mode, name: `more ${mode}`, expiresAt: null },
    'more',
  );
  const request = newRequestId();
  await sql`
    insert into refused_requests (id, application, test, method, route, status, code)
    values (${request}, 'shop', ${test}, 'GET', '/api/v1/payments', 422, 'VALIDATION_FAILED')`;
  return {
    ...{ payment: one, refund: refundId([one]), dispute: disputeId(gateway, one) },
    ...{ event: eventId(one), replay: id, request, link: link?.id },
  };
};

/** Every page, with an address of each. A page of one thing is of another one than those that are added. */
const pages = createRoutes(console.deps)
  .filter(({ method, role }) => method === 'GET' && role !== 'anyone')
  // They have the changes of everybody, the calls to an account of both modes, and the open payments that a stop leaves.
  .filter(
    ({ path }) => !['/audit', '/gateways/:slug', '/applications/:slug/disable'].includes(path),
  )
  .map(({ path }) => ({
    path,
    address: `${path}${path === '/search' ? '?text=same' : ''}`
      .replace(':slug', 'shop')
      .replace(':gateway', 'sandbox')
      .replace(':day', today)
      .replace('/payments/:id', `/payments/${ids.paid}`)
      .replace('/refunds/:id', `/refunds/${ids.byHand[0]}`)
      .replace('/disputes/:id', `/disputes/${ids.disputes.urgent}`)
      .replace('/links/:id', `/links/${ids.links.open}`)
      .replace(':event', eventId(ids.exhausted))
      .replace(/:\w+/g, 'none'),
  }));

/** The text of the pages without ages. Each reading is by a process of its own, because one keeps figures for some seconds. */
const readAll = async (mode: 'live' | 'test') => {
  const host = 'other.localhost';
  const port = await console.serveAt(`http://${host}`);
  const read = async ({ path, address }: (typeof pages)[number]) => {
    const cookie = `${admin.cookie}; console-mode=${mode}`;
    const { text } = await call(port, address, { cookie, headers: { host } });
    const said = text
      .replaceAll(/name="form_id" value="[^"]+"/g, '')
      .replaceAll(/\d+ (?:s|min|h|days?|hours?|minutes?)\b/g, 'some time');
    return [path, said] as const;
  };
  return new Map(await Promise.all(pages.map(read)));
};

/** The pages that say something of payments, and must say what is added to their own mode. */
const affected = [
  '/',
  '/overview',
  '/attention',
  ...['/attention/money', '/attention/silent', '/attention/overdue', '/attention/disputes'],
  ...['/payments', '/payments/file', '/refunds', '/disputes', '/links'],
  ...['/accounts', '/accounts/file', '/accounts/month/file', '/accounts/:gateway/:day'],
  ...['/accounts/:gateway/:day/file', '/accounts/:gateway/:day/state'],
  ...['/deliveries', '/deliveries/replays'],
  ...['/applications/:slug', '/applications/:slug/events', '/applications/:slug/requests'],
  '/search',
];

it.each(['live', 'test'] as const)(
  '%s is all that a page shows: nothing of the other mode changes it, and a payment of its own does',
  async (mode) => {
    const before = await readAll(mode);
    await addAll(mode !== 'test');
    const same = await readAll(mode);
    for (const [path, said] of before) expect(same.get(path), path).toBe(said);
    await addAll(mode === 'test');
    const after = await readAll(mode);
    const changed = [...before].filter(([path, said]) => after.get(path) !== said);
    expect(changed.map(([path]) => path)).toEqual(expect.arrayContaining(affected));
  },
);

it('is live until the person chooses, and then what was chosen', async () => {
  const bar = 'Test mode: no real money.';
  expect(await admin.read('/payments')).not.toContain(bar);
  const form = { mode: 'test', back: '/payments?status=paid&after=1.PAY_1' };
  const { status, headers } = await admin.post('/mode', form);
  expect([status, headers.location]).toEqual([303, '/payments?status=paid']);
  const [chosen = ''] = headers['set-cookie'] ?? [];
  expect(chosen).toMatch(/^console-mode=test; path=\/; expires=[^;]+; samesite=lax; httponly$/);
  expect(hoursOf(chosen)).toBe(365 * 24);
  for (const path of ['/payments', '/deliveries', '/audit', '/settings'])
    expect(await admin.lookingAt('test').read(path), path).toContain(bar);
  const elsewhere = { mode: 'live', back: 'https://elsewhere.example/' };
  const back = await admin.lookingAt('test').post('/mode', elsewhere);
  expect(back.headers.location).toBe('/');
  expect(back.headers['set-cookie']?.[0]).toContain('console-mode=live');
  expect((await admin.post('/mode', { ...form, csrf: 'forged' })).status).toBe(403);
});

it.each([
  [false, 'This is live: real money.'],
  [true, 'This is a test: no real money.'],
])(
  'one thing of the other mode has its page, which says its mode (test: %s)',
  async (test, words) => {
    const added = await addAll(test);
    const person = admin.lookingAt(test ? 'live' : 'test');
    const [difference] = await sql<{ id: number }[]>`
    select id from account_differences where payment_id = ${added.payment}`;
    for (const path of [
      `/payments/${added.payment}`,
      `/payments/${added.payment}/refund`,
      `/refunds/${added.refund}`,
      `/disputes/${added.dispute}`,
      ...[`/links/${added.link}`, `/links/${added.link}/disable`],
      `/refunds/${added.refund}/failed`,
      `/events/${added.event}`,
      `/events/${added.event}/replay`,
      `/deliveries/replays/${added.replay}`,
      `/applications/shop/requests?id=${added.request}`,
      `/accounts/differences/${difference?.id}/explain`,
      `/deliveries/replay?scope=selected&event=${added.event}&status=failing&mode=${test ? 'test' : 'live'}&to=${new Date().toISOString()}`,
    ]) {
      expect(await person.read(path), path).toContain(words);
    }
  },
);

it('a file is of the mode that was chosen, and its name says if it is of tests', async () => {
  const paths = ['/payments/file', '/accounts/file', `/accounts/sandbox/${today}/file`];
  for (const mode of ['live', 'test'] as const)
    for (const path of paths) {
      const { headers, text } = await admin.lookingAt(mode).get(path);
      const [heading = '', ...rows] = text.trimEnd().split('\r\n');
      const names = heading.split(',');
      const column = names.indexOf(path === '/payments/file' ? 'mode' : 'test');
      const own = path === '/payments/file' ? mode : mode === 'test' ? 'yes' : 'no';
      expect(new Set(rows.map((row) => row.split(',')[column])), path).toEqual(new Set([own]));
      expect(headers['content-disposition']?.includes('-test.csv'), path).toBe(mode === 'test');
    }
});
