import { describe, expect, it } from 'vitest';
import { addDays, addMonths, isDay } from '../../../../admin/console/calendar.ts';
import { monthOf as daysOf } from '../../../../admin/operations/account-month.ts';
import { accountDifferences } from '../../../../contract/account-difference.ts';
import { holdLock } from '../../../support/data/hold-lock.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const compared: object[] = [];
const { console, sql, ids } = await startFilledConsole({
  temporal: { compareAccountDay: async (day) => void compared.push(day) },
});
const filled = ids.accounts;

const admin = await console.logIn('admin', 'accountant');
const viewer = await console.logIn('viewer');
const shop = await console.logIn('operator', 'of-shop', ['shop']);

const inTest = viewer.lookingAt('test');
const read = (path: string, person = viewer) => person.read(path);
const monthOf = (day: string) => `/accounts?month=${day.slice(0, 7)}`;
const pageOf = (day: string, gateway = 'zarinpal') => `/accounts/${gateway}/${day}`;

/** The calendar's text of a day, and its link. */
const cellOf = async (path: string, address: string, person = viewer): Promise<string> => {
  const text = await read(path, person);
  const [, cell = ''] = text.split(`href="${address}">`);
  return cell
    .slice(0, cell.indexOf('</a>'))
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
};

const numberOf = (day: string) => Number(day.slice(8));

const act = async (path: string, person = admin, fields = {}) => {
  const { answer } = await person.act(path, { reason: 'receipt 4711', ...fields });
  return answer;
};

describe('the calendar', () => {
  it.each([
    ['that is closed', filled.greenDay, '✓ closed'],
    ['with open differences', filled.openDay, '▲ 2 open differences'],
    ['that is not closed', filled.youngDay, 'not closed'],
  ])('says it of a day %s, and leads to its page', async (_, day, words) => {
    expect(await cellOf(monthOf(day), pageOf(day))).toBe(`${numberOf(day)} ${words}`);
  });

  it('shows this month by default, and leads to the one before', async () => {
    const now = new Date().toISOString().slice(0, 7);
    const text = await read('/accounts');
    expect(text).toContain(`datetime="${now}-01"`);
    expect(text).toContain(`/accounts?month=${addMonths(now, -1)}`);
    expect(text).not.toContain(addMonths(now, 1));
  });

  it('leads to the page of a day that has begun, compared or not, and not to one of the future', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const text = await read('/accounts');
    expect(text).toContain(`href="${pageOf(today)}"`);
    expect(text).not.toContain(`href="${pageOf(addDays(today, 2))}"`);
    expect(await read('/accounts?month=2999-12')).toContain('<span class="soft"><time');
  });

  it.each(['2026-13', '1999-12', 'none', '', '2026-11-01'])(
    'shows this month for the month "%s", and says so',
    async (month) => {
      const now = new Date().toISOString().slice(0, 7);
      const text = await read(`/accounts?month=${month}`);
      expect(text).toContain(`datetime="${now}-01"`);
      expect(text.includes('“month”: not a value')).toBe(month !== '');
    },
  );

  it('keeps to the gateways of a mode, with their differences', async () => {
    await sql`
      insert into gateways (slug, driver, kind)
      values ('quiet-live', 'zarinpal', 'live'), ('quiet-sandbox', 'sandbox', 'sandbox')`;
    const [live, test] = [await read('/accounts'), await read('/accounts', inTest)];
    expect(live).toContain('Days of quiet-live');
    expect(live).not.toContain('Days of quiet-sandbox');
    expect(test).toContain('Days of quiet-sandbox');
    expect(test).not.toContain('Days of quiet-live');
    // A live token may use a sandbox.
    expect(live).toContain('Days of sandbox');
    expect(live).toContain('another amount at the gateway');
    expect(test).not.toContain('another amount at the gateway');
    expect(test).toContain('captured at the gateway, unknown here');
  });

  it.each([
    ['/accounts', 200, 'There are too many movements'],
    ['/accounts/month/file', 503, 'did not finish in time'],
  ])('%s says so when the sums of the month take too long', async (path, status, words) => {
    const held = await holdLock(sql, (tx) => tx`lock table movements`);
    const asked = admin.get(path);
    await held.blocked('the sum of a month', { by: 'tests-console' });
    await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tests-console' and wait_event_type = 'Lock'`;
    const answer = await asked;
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)]);
    await held.release();
  });
});

it.each([
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-11-31', false],
  ['1999-12-31', false],
  ['2026-1-1', false],
  ['none', false],
])('whether %s is a day is %s', (text, expected) => {
  expect(isDay(text)).toBe(expected);
});

it('months and days go on over the end of a year', () => {
  expect([addMonths('2026-12', 1), addMonths('2026-01', -1), addDays('2026-12-31', 1)]).toEqual([
    '2027-01',
    '2025-12',
    '2027-01-01',
  ]);
  expect([daysOf('2024-02').to, daysOf('2026-12').to]).toEqual(['2024-02-29', '2026-12-31']);
});

describe('the page of a day', () => {
  it('says how it was compared, what moved and what differs', async () => {
    const text = await read(pageOf(filled.openDay));
    expect(text).toContain('by asking the gateway about each movement');
    expect(text).toContain('10.20 EUR');
    expect(text).toContain('-1.00 EUR');
    expect(text).toContain('captured at the gateway, not paid here');
    expect(text).toContain('does not run');
    expect(text).toMatch(/<code>[0-9a-f]{64}<\/code>/);
    expect(await read(pageOf(filled.youngDay, 'sandbox'))).toContain(
      'with the list of the gateway',
    );
    expect(await read(pageOf('2020-02-29'))).toContain('not compared');
  });

  it.each([
    '/accounts/none/2026-11-20',
    '/accounts/zarinpal/2026-02-30',
    '/accounts/zarinpal/none/file',
    '/accounts/file?month=',
    '/accounts/differences/99999/explain',
    '/accounts/differences/none/explain',
  ])('%s is not there', async (path) => {
    expect((await admin.get(path)).status).toBe(404);
  });

  it.each([
    '/accounts/file?month=2026-13',
    '/accounts/file?month=2026-1',
    '/accounts/file?month=1405-08',
    '/accounts/file?month=2026-11&application=nobody',
    '/accounts/file?month=2026-11&from=2026-11-03',
    '/accounts/month/file?month=2026-13',
    `/accounts/zarinpal/${filled.openDay}/file?state=open`,
  ])('%s is no file', async (path) => {
    const { status, headers } = await admin.get(path);
    expect([status, headers['content-disposition']]).toEqual([400, undefined]);
  });

  it('lists its differences by their state, and goes on after 50', async () => {
    const day = '2020-03-01';
    await sql`
      insert into account_differences (gateway, day, kind, subject, state)
      select 'zarinpal', ${day}, 'not_answered', 'many:' || n, case when n > 10 then 'mended' else 'open' end
      from generate_series(1, 70) n`;
    const subjects = (text: string) => [...text.matchAll(/>(many:\d+)</g)].map(([, name]) => name);
    const first = await read(pageOf(day));
    const next = /href="([^"]+)" rel="next"/.exec(first)?.[1] ?? '';
    const second = await read(next);
    expect([subjects(first).length, subjects(second).length]).toEqual([50, 20]);
    expect(new Set([...subjects(first), ...subjects(second)]).size).toBe(70);
    expect(subjects(await read(`${pageOf(day)}?state=open`))).toHaveLength(10);
    await sql`delete from account_differences where day = ${day}`;
  });

  it('says whose midnight it means', async () => {
    await sql`update gateways set time_zone = 'Asia/Tehran' where slug = 'zarinpal'`;
    expect(await read(pageOf(filled.greenDay))).toContain('Asia/Tehran');
  });

  it('leads to the payment and the refund of a difference, and to none that is not here', async () => {
    const [refund] = await sql<{ id: string; paymentId: string }[]>`
      select id, payment_id as "paymentId" from refunds limit 1`;
    const { id = '', paymentId = '' } = refund ?? {};
    const [day, away] = ['2020-04-01', 'PAY_00000000000000000000000000'];
    await sql`
      insert into account_differences (gateway, day, kind, subject, payment_id, refund_id)
      values ('zarinpal', ${day}, 'amount_differs', ${`refund:${id}`}, ${paymentId}, ${id}),
        ('zarinpal', ${day}, 'kind_unknown', 'txn_1', ${away}, null)`;
    const text = await read(pageOf(day));
    expect(text).toContain(`href="/payments/${paymentId}"`);
    expect(text).toContain(`href="/refunds/${id}"`);
    expect(text).toContain(away);
    expect(text).not.toContain(`href="/payments/${away}"`);
    await sql`delete from account_differences where day = ${day}`;
  });

  it('has a worker compare the day again, which leaves no record', async () => {
    const { status, headers } = await admin.post(`${pageOf(filled.youngDay)}/compare`);
    const page = headers.location ?? '';
    expect([status, page]).toEqual([303, expect.stringContaining(pageOf(filled.youngDay))]);
    expect(compared).toEqual([{ gateway: 'zarinpal', day: filled.youngDay }]);
    const records = await sql`select action from audit_log where actor = 'accountant'`;
    expect(records.map(({ action }) => String(action))).not.toContain('account_day.compare');
  });

  it('shows the result of a comparison by itself, and polls no longer', async () => {
    const day = filled.youngDay;
    const { headers } = await admin.post(`${pageOf(day)}/compare`);
    const page = `${headers.location}&application=shop`;
    const text = await read(page, admin);
    const [, poll = ''] = /hx-get="([^"]+)"/.exec(text) ?? [];
    expect(text).toContain('The comparison runs.');
    const address = poll.replaceAll('&amp;', '&');
    expect((await admin.get(address)).status).toBe(204);
    await sql`
      update account_days set compared_at = now() where gateway = 'zarinpal' and day = ${day}`;
    const part = await read(address, admin);
    expect(part).toContain('The day was compared.');
    expect(part).not.toContain('hx-get');
    // The application of the page stays chosen.
    expect(part).toContain('Application: shop');
  });

  it('says that a comparison has no result for long', async () => {
    const text = await read(`${pageOf('2020-02-29')}?begun=0.1000`);
    expect(text).toContain('has no result yet');
    expect(text).not.toContain('hx-get');
  });

  it('compares no day of the future', async () => {
    const day = addDays(new Date().toISOString().slice(0, 10), 2);
    expect((await admin.post(`${pageOf(day)}/compare`)).status).toBe(409);
    expect(await read(pageOf(day), admin)).not.toContain('/compare');
  });
});

describe('a person of an application', () => {
  it('sees its differences and its sums alone, and nothing of the whole service', async () => {
    const day = filled.openDay;
    const own = `${pageOf(day)}?application=shop`;
    expect(await cellOf(`${monthOf(day)}&application=shop`, own, shop)).toBe(
      `${numberOf(day)} ▲ 1 open difference`,
    );
    const month = await read(`${monthOf(day)}&application=shop`, shop);
    const text = await read(own, shop);
    for (const each of [month, text]) {
      expect(each).toContain('captured at the gateway, not paid here');
      expect(each).not.toContain('tickets');
      expect(each).not.toContain('another amount at the gateway');
      expect(each).not.toContain('>none<');
    }
    expect(month).toContain('href="/accounts" aria-current="page"');
    expect(text).toContain('10.20 EUR');
    expect(text).not.toMatch(/Hash|[0-9a-f]{64}|\/compare/);
  });

  it('sees no gateway that its application has nothing to do with', async () => {
    await sql`insert into gateways (slug, driver, kind) values ('of-others', 'sandbox', 'sandbox')`;
    expect(await read('/accounts', inTest)).toContain('Days of of-others');
    const path = `${monthOf(filled.openDay)}&application=shop`;
    for (const person of [shop, shop.lookingAt('test')])
      expect(await read(path, person)).not.toContain('of-others');
    expect(await read(path, shop)).toContain('Days of zarinpal');
  });

  it('may mend a difference of its application, and explains none', async () => {
    const at = `/accounts/differences/${filled.mendable}`;
    const text = await read(`${pageOf(filled.openDay)}?application=shop`, shop);
    expect(text).toContain(`${at}/mend`);
    expect(text).not.toContain('/explain');
    const { headers } = await act(`${at}/mend`, shop);
    expect(headers.location).toBe(`${pageOf(filled.openDay)}?application=shop`);
    expect((await act(`${at}/explain`, shop)).status).toBe(404);
  });
});

describe('a difference', () => {
  const stateOf = async (id: number) => {
    const [row] = await sql`select state, reason from account_differences where id = ${id}`;
    return row;
  };

  it('is explained and opened again', async () => {
    const id = filled.open;
    const at = `/accounts/differences/${id}`;
    expect(await read(pageOf(filled.openDay), admin)).toContain(`${at}/explain`);
    const { status, headers } = await act(`${at}/explain`);
    expect([status, headers.location]).toEqual([303, pageOf(filled.openDay)]);
    expect(await stateOf(id)).toEqual({ state: 'explained', reason: 'receipt 4711' });
    expect(await read(pageOf(filled.openDay))).toContain('receipt 4711');
    expect((await act(`${at}/explain`)).status).toBe(409);
    await act(`${at}/reopen`, admin, { reason: 'another receipt' });
    expect(await stateOf(id)).toEqual({ state: 'open', reason: 'another receipt' });
  });

  it('explains itself: both sides, what it means, and what to do', async () => {
    const text = await read(`/accounts/differences/${filled.open}`, admin);
    expect(text).toMatch(/Amount[^]*12\.00 EUR[^]*12\.50 EUR[^]*More there[^]*0\.50 EUR/);
    expect(text).toContain('no payment becomes paid with another amount');
    expect(text).toContain('href="/accounts/differences#amount_differs"');
    expect(text).toContain(`/accounts/differences/${filled.open}/explain`);
    expect(text).toContain(`href="${pageOf(filled.openDay)}"`);
    expect(await read('/attention')).toContain('href="/accounts#differences"');
    expect(await read(monthOf(filled.openDay))).toContain('id="differences"');
  });

  it('has its section of the documentation in the console, whatever its kind', async () => {
    const text = await read('/accounts/differences');
    for (const kind of Object.keys(accountDifferences)) expect(text).toContain(`id="${kind}"`);
    expect(text).toContain('<code>docs/operating/restoring.md</code>');
    expect(text).not.toMatch(/\*\*|\]\(|`/);
  });

  it('says what would mend it, and one that no routine can mend is refused', async () => {
    const { text } = await admin.get(`/accounts/differences/${filled.mendable}/mend`);
    expect(text).toContain('ask the gateway about the payment');
    const refused = await act(`/accounts/differences/${filled.unknown}/mend`);
    expect([refused.status, refused.text.includes('No routine can mend it')]).toEqual([409, true]);
  });
});

describe('the month', () => {
  it('has the sums by kind, the payouts beside the bank’s lines, and what is open', async () => {
    const text = await read(monthOf(filled.openDay));
    expect(text).toContain('zarinpal, EUR');
    expect(text).toContain('Left at the gateway');
    expect(text).toContain('Payouts of the month');
    expect(text).toMatch(/What is open in the month[^]*another amount at the gateway/);
    const own = await read(`${monthOf(filled.openDay)}&application=shop`, shop);
    expect(own).not.toContain('Payouts of the month');
  });

  it('says to who may download its file which gateways have days that are not closed', async () => {
    const words = `zarinpal is closed up to ${addDays(filled.youngDay, -1)}`;
    expect(await read(monthOf(filled.youngDay), admin)).toContain(words);
    expect(await read(monthOf(filled.youngDay))).not.toContain(words);
    expect(await read('/accounts?month=2020-02', admin)).toContain(
      'zarinpal is not closed on any day',
    );
  });
});

describe('the movements as CSV', () => {
  const download = async (path: string, person = admin) => {
    const { status, headers, text } = await person.get(path);
    const [heading = '', ...rows] = text.trimEnd().split('\r\n');
    const column = heading.split(',').indexOf('application');
    return {
      status,
      type: headers['content-type'],
      name: /filename="([^"]+)"/.exec(headers['content-disposition'] ?? '')?.[1],
      heading,
      applications: rows.map((row) => row.split(',')[column] ?? '').toSorted(),
    };
  };

  it('are those of the day', async () => {
    const day = filled.greenDay;
    expect(await download(`${pageOf(day)}/file`)).toEqual({
      status: 200,
      type: 'text/csv; charset=utf-8',
      name: `movements-zarinpal-${day}.csv`,
      heading: expect.stringMatching(/^movement_id,kind,day,/),
      applications: ['', 'shop', 'shop', 'tickets', 'tickets'],
    });
  });

  it('are those of a month of all gateways', async () => {
    const month = filled.greenDay.slice(0, 7);
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from movements where to_char(day, 'YYYY-MM') = ${month} and not test`;
    const file = await download(`/accounts/file?month=${month}`);
    expect([file.name, file.applications.length]).toEqual([`movements-${month}.csv`, row?.count]);
  });

  it('are sums by kind of a month', async () => {
    const month = filled.greenDay.slice(0, 7);
    const { name, heading, applications } = await download(`/accounts/month/file?month=${month}`);
    expect([name, heading.split(',')[4]]).toEqual([`month-${month}.csv`, 'kind']);
    expect(new Set(applications)).toEqual(new Set(['', 'shop', 'tickets']));
    const own = await download(`/accounts/month/file?month=${month}&application=shop`, shop);
    expect(new Set(own.applications.filter((each) => each !== ''))).toEqual(new Set(['shop']));
  });

  it('are those of the own application alone', async () => {
    const day = filled.greenDay;
    const file = await download(`${pageOf(day)}/file?application=shop`, shop);
    expect(file.applications).toEqual(['shop', 'shop']);
    const month = await download(`/accounts/file?month=${day.slice(0, 7)}&application=shop`, shop);
    expect(new Set(month.applications)).toEqual(new Set(['shop']));
    const others = `${pageOf(day)}/file?application=tickets`;
    expect((await shop.get(others)).status).toBe(404);
  });

  it('are not made of an address with two months', async () => {
    for (const path of ['/accounts/file', '/accounts/month/file'])
      expect((await download(`${path}?month=2026-10&month=2026-11`)).status).toBe(400);
  });

  it('are for operators', async () => {
    expect((await viewer.get(`${pageOf(filled.greenDay)}/file`)).status).toBe(403);
    expect(await read(pageOf(filled.greenDay))).not.toContain('/file');
  });
});
