import { expect, it } from 'vitest';
import { pageSize } from '../../../../admin/console/filters.ts';
import { newPaymentId } from '../../../../contract/ids.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';
import { manyPayments, writePayments } from '../../../support/data/payments.ts';

const { console, sql, ids: filled } = await startFilledConsole();
const { cookie } = await console.logIn('viewer');
const operator = await console.logIn('operator');

type Mode = 'live' | 'test';

const notUsed = 'A part of this address is not understood, and not used.';

const list = async (path: string, zone = 'UTC', mode: Mode = 'live') => {
  const person = { cookie: `${cookie}; console-zone=${zone}; console-mode=${mode}` };
  const { text } = await console.call(path, person);
  const next = /<a href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  const ids = path.includes('/events')
    ? [...text.matchAll(/href="\/events\/([^"]+)"/g)]
    : [...text.matchAll(/class="id" href="\/payments\/([^"]+)"/g)];
  return { text, next, ids: ids.map(([, id]) => id ?? '') };
};

await sql`update payments set currency = 'JPY' where amount % 70 = 0`;

const all = async (path: string, mode: Mode = 'live') => {
  const ids: string[] = [];
  for (let address: string | undefined = path; address !== undefined;) {
    const page = await list(address, 'UTC', mode);
    ids.push(...page.ids);
    address = page.next;
  }
  return ids;
};

it.each([
  ['/payments?gateway=zarinpal', `gateway = 'zarinpal'`],
  ['/payments?failure=card_declined', `failure_code = 'card_declined'`],
  ['/payments?order=order-11', `order_id like 'order-11%'`],
  [
    '/payments?least=13.00&most=20.00&currency=eur',
    `currency = 'EUR' and amount between 1300 and 2000`,
  ],
  ['/payments?least=13+EUR&most=20.00', `currency = 'EUR' and amount between 1300 and 2000`],
  ['/payments?most=2600&currency=JPY', `currency = 'JPY' and amount <= 2600`],
  ['/payments?gateway=sandbox&status=paid', `gateway = 'sandbox' and status = 'paid'`],
  [
    '/payments?gateway=zarinpal&application=shop&mode=test',
    `gateway = 'zarinpal' and application = 'shop'`,
  ],
])('%s lists exactly its payments of the chosen mode, newest first', async (path, condition) => {
  for (const mode of ['live', 'test'] as const) {
    const rows = await sql<{ id: string }[]>`
      select id from payments where ${sql.unsafe(condition)} and test = ${mode === 'test'}
      order by created_at desc, id desc`;
    expect(rows.length).toBeGreaterThan(0);
    expect(await all(path, mode)).toEqual(rows.map(({ id }) => id));
  }
});

it.each([
  'least=600',
  'least=6.0&currency=EUR',
  'most=6.00+EUR&currency=JPY',
  'least=1&currency=XXX',
])('the list says that it does not filter by %s, and no file is made of it', async (query) => {
  const { text } = await list(`/payments?${query}`);
  expect(text).toContain(`${notUsed} “least”`.replace('least', query.slice(0, query.indexOf('='))));
  expect((await operator.get(`/payments/file?${query}`)).status).toBe(400);
});

it.each([
  ['status=nope', 400],
  ['failure=nope', 400],
  ['from=nonsense', 400],
  ['to=2026-11-29', 200],
  ['to=2026-11-31', 400],
  ['period=nope', 400],
  ['from=2026-11-29T10:00&zone=Mars/Base', 400],
  ['from=2026-11-29T10:00&to=2026-11-28T10:00', 400],
  ['status=paid&status=failed', 400],
  ['application=No!', 400],
  ['application=nobody', 400],
  ['gateway=nobody', 400],
  ['gatewy=zarinpal', 400],
  [`order=${'o'.repeat(201)}`, 400],
  ['status=&from=&period=', 200],
  ['status=paid&period=today', 200],
])('the file of %s is %i', async (query, status) => {
  const file = await operator.get(`/payments/file?${query}`);
  expect([file.status, file.headers['content-disposition'] !== undefined]).toEqual([
    status,
    status === 200,
  ]);
});

const noField = 'there is no such field here.';
const noValue = 'not a value that makes sense here.';
const twice = 'given more than once.';

it.each([
  ['/payments', 'status=nope', `“status”: ${noValue}`],
  ['/payments', 'failure=nope&gateway=No!', `“failure”, “gateway”: ${noValue}`],
  ['/payments', 'gateway=nobody', `“gateway”: ${noValue}`],
  ['/payments', 'gatewy=zarinpal', `“gatewy”: ${noField}`],
  ['/payments', '%3Cb%3E=1&mode=test', `“mode”, 1 more: ${noField}`],
  ['/payments', 'after=junk', `“after”: ${noValue}`],
  ['/payments', 'from=nonsense', `“from”: ${noValue}`],
  ['/payments', 'period=nope&from=2026-11-29', `“period”: ${noValue}`],
  ['/payments', 'application=No!', `“application”: ${noValue}`],
  ['/payments', 'application=nobody', `“application”: ${noValue}`],
  ['/payments', 'status=paid&status=failed', `“status”: ${twice}`],
  ['/refunds', 'stage=nope', `“stage”: ${noValue}`],
  ['/deliveries', 'status=nope&to=2026-11-31', `“status”, “to”: ${noValue}`],
  ['/deliveries', 'after=1.none', `“after”: ${noValue}`],
  ['/links', 'status=nope&order=A-17', `“status”: ${noValue}`],
  ['/disputes', 'gateway=nope', `“gateway”: ${noValue}`],
  ['/audit', 'application=shop', `“application”: ${noField}`],
  ['/audit', 'action=nope&subject=nope:1&logins=no', `“action”, “subject”, “logins”: ${noValue}`],
  ['/accounts', 'month=2026-13', `“month”: ${noValue}`],
  ['/accounts', 'from=2026-11-29', `“from”: ${noField}`],
  ['/accounts/zarinpal/2026-11-20', 'state=nope&begun=now', `“state”, “begun”: ${noValue}`],
  ['/accounts/payouts', `text=${'t'.repeat(201)}`, `“text”: ${noValue}`],
  ['/applications/shop', 'after=nope', `“after”: ${noValue}`],
  ['/applications/shop/events', 'application=tickets', `“application”: ${noField}`],
  ['/applications/shop/requests', 'id=nope', `“id”: ${noValue}`],
  ['/attention/silent', 'gateway=nope', `“gateway”: ${noValue}`],
  ['/search', 'text=order-11&mode=live', `“mode”: ${noField}`],
  ['/', 'utm_source=mail', `“utm_source”: ${noField}`],
])('%s?%s says above all that it does not use it', async (path, query, problem) => {
  const { text } = await console.call(`${path}?${query}`, { cookie });
  const order = [text.indexOf(`${notUsed} `), text.indexOf(problem), text.indexOf('</main>')];
  expect(order.every((at) => at > 0)).toBe(true);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(text).not.toContain('“<b>”');
});

it('links of a list lose what the list does not use', async () => {
  const { text } = await list('/payments?gatewy=zarinpal&status=paid&failure=nope&from=&gateway=');
  const links = [...text.matchAll(/href="\/payments\?([^"]*)"/g)].map(([, query]) => query ?? '');
  expect(links.filter((query) => query.includes('status=paid')).length).toBeGreaterThan(1);
  expect(links.filter((query) => /gatew|failure|from/.test(query))).toEqual([]);
});

it('nothing is changed at an address that is not understood in full', async () => {
  const admin = await console.logIn('admin');
  const path = '/applications/shop/disable?slug=tickets';
  const [asked, sent] = [await admin.get(path), await admin.post(path, { reason: 'test' })];
  for (const { status, text } of [asked, sent]) {
    expect(status).toBe(409);
    expect(text).toContain(`“slug”: ${noField}`);
  }
  const rows = await sql`select status from applications where slug = 'shop'`;
  expect(rows).toEqual([{ status: 'active' }]);
});

it('a gateway with one old payment is found over several pages, each of which says how far it looked', async () => {
  const id = newPaymentId();
  await sql`insert into gateways (slug, driver, kind) values ('rare', 'sandbox', 'sandbox')`;
  await writePayments(
    sql,
    manyPayments(2_500, (n) => ({
      ...(n === 2_500 && { id, gateway: 'rare' }),
      test: false,
      createdAt: new Date(Date.now() - n * 60_000),
    })),
  );
  const first = await list('/payments?gateway=rare');
  expect(first.ids).toEqual([]);
  expect(first.text).toContain('The list has searched back to');
  expect(await all('/payments?gateway=rare')).toEqual([id]);
});

it('exact times are those of the zone in the address, whatever zone their reader has', async () => {
  const [newest, ...others] = (await list('/payments')).ids;
  const [row] = await sql<{ at: Date }[]>`
    select created_at as at from payments where id = ${others[0] ?? ''}`;
  // Tehran is three hours and a half ahead of UTC.
  const at = new Date((row?.at.getTime() ?? 0) + 1_000 + 3.5 * 3_600_000);
  const path = `/payments?to=${at.toISOString().slice(0, 19)}&zone=Asia/Tehran`;
  for (const zone of ['Asia/Tehran', 'UTC', 'America/New_York']) {
    const { ids, text } = await list(path, zone);
    expect(ids, zone).not.toContain(newest);
    expect(ids[0], zone).toBe(others[0]);
    expect(text).toContain(`name="zone" value="${zone}"`);
  }
});

it('the events of an application are listed with a cursor, and each has a page', async () => {
  const rows = await sql<{ id: string }[]>`
    select event_id as id from deliveries where application = 'shop' and not test
    order by created_at desc, event_id desc`;
  expect(rows.length).toBeGreaterThan(pageSize);
  expect(await all('/applications/shop/events')).toEqual(rows.map(({ id }) => id));
  const failed = await list('/applications/shop/events?kind=payment.failed&status=exhausted');
  expect(failed.ids.length).toBeGreaterThan(0);
  const { text } = await console.call(`/events/${failed.ids[0]}`, { cookie });
  expect(text).toContain('payment.failed');
  expect(text).not.toContain('upstream is away');
});

it('a webhook that fails is failing in the list of payments and in its file, not pending', async () => {
  const [id = ''] = filled.failing;
  const [row] = await sql<{ order: string; application: string }[]>`
    select order_id as order, application from payments where id = ${id}`;
  const query = `application=${row?.application}&order=${row?.order}`;
  const { text } = await list(`/payments?${query}`);
  expect([text.includes('title="failing"'), text.includes('title="pending"')]).toEqual([
    true,
    false,
  ]);
  const file = await operator.get(`/payments/file?${query}`);
  expect(file.text).toContain(',failing');
});

it.each([
  ['/payments', 'from=2026-05-02T00:00&to=2026-05-01T00:00'],
  ['/refunds', 'from=2026-05-01T00:00&to=2026-05-01T00:00'],
  ['/deliveries', 'from=2026-05-02T00:00&to=2026-05-01T00:00'],
  ['/audit', 'from=2026-05-02T00:00&to=2026-05-01T00:00'],
])('%s with times between which nothing can be says so', async (path, query) => {
  const words = 'No time is between “From” and “To”';
  expect((await list(`${path}?${query}`)).text).toContain(words);
  expect((await list(`${path}?from=2026-05-01T00:00&to=2026-05-02T00:00`)).text).not.toContain(
    words,
  );
  expect((await operator.get(`/payments/file?${query}`)).status).toBe(400);
});
