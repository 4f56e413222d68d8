import { expect, it } from 'vitest';
import { createAuditLog, type NewAuditRecord } from '../../../../postgres/audit-log.ts';
import { newReplayId } from '../../../../contract/ids.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids } = await startFilledConsole();
const replay = newReplayId();
await sql`
  insert into replays (id, trigger, delivery, to_at, matched) values (${replay}, 'admin', 'failing', now(), 1)`;
const [difference] = await sql<{ id: number }[]>`select id::int from account_differences limit 1`;
const [refund] = await sql<{ id: string; payment: string }[]>`
  select id, payment_id as payment from refunds order by created_at limit 1`;
if (!difference || !refund) throw new Error('They are missing');

const record = (wanted: Partial<NewAuditRecord>) =>
  createAuditLog(sql).insert({
    actor: 'ada',
    action: 'payment.checked',
    subject: `payment:${ids.paid}`,
    before: null,
    after: null,
    reason: null,
    via: 'console',
    ...wanted,
  });

const reader = await console.logIn('viewer', 'reader');
const read = async (path: string) => (await reader.get(path)).text;
const countOf = async (path: string) =>
  /<tbody>[^]*<\/tbody>/.exec(await read(path))?.[0].match(/<tr>/g)?.length ?? 0;

it.each([
  `payment:${ids.paid}`,
  `refund:${refund.id}`,
  'application:shop',
  'gateway:zarinpal',
  'person:reader',
  `replay:${replay}`,
  `account_difference:${difference.id}`,
])('the subject %s leads to the thing', async (subject) => {
  await record({ subject });
  const text = await read(`/audit?subject=${encodeURIComponent(subject)}`);
  const [, row = ''] = /<tbody>([^]*)<\/tbody>/.exec(text) ?? [];
  const [, href = ''] = /data-heading="Thing"[^]*?<a[^>]* href="([^"]+)"/.exec(row) ?? [];
  const found = await reader.get(href);
  const page = found.headers.location ? await read(found.headers.location) : found.text;
  const name = subject.split(':')[1] ?? '';
  expect(href).not.toContain('/audit');
  expect(page).toContain(subject.startsWith('account') ? `Difference ${name}` : name);
  expect(page).not.toContain('Not found');
});

it('the audit of a payment has the records of its refunds, and leads to each id in them', async () => {
  await record({
    action: 'refund.create',
    subject: `refund:${refund.id}`,
    after: { amount: 100 },
    reason: `of ${refund.payment}`,
  });
  await record({ subject: `payment:${refund.payment}`, reason: 'looked there' });
  const text = await read(`/audit?subject=payment:${refund.payment}`);
  for (const fact of ['asked for a refund', 'marked as checked', `href="/refunds/${refund.id}"`])
    expect(text).toContain(fact);
  expect(text).toContain(`<a href="/payments/${refund.payment}"`);
  expect(await countOf(`/audit?subject=refund:${refund.id}`)).toBeLessThan(
    await countOf(`/audit?subject=payment:${refund.payment}`),
  );
});

it('says every amount in its currency', async () => {
  const limit = (per_day: number | null) => ({ currency: 'KWD', per_day });
  const changes: [Partial<NewAuditRecord>, string][] = [
    [{ action: 'refund.create', after: { amount: 31_000, currency: 'EUR' } }, 'amount: 310.00 EUR'],
    [{ after: { amount: 31_000, currency: 'JPY' } }, 'amount: 31,000 JPY'],
    [
      { subject: 'currency:EUR', before: { above: null }, after: { above: 10_000 } },
      'above: none → 100.00 EUR',
    ],
    [{ before: limit(12_500), after: limit(null) }, 'per day: 12.500 KWD → none'],
    [
      { after: { taken_amount: 5, taken_currency: 'USD', amount: 4, currency: 'EUR' } },
      'taken amount: 0.05 USD',
    ],
  ];
  for (const [change, words] of changes) {
    await record({ actor: 'sums', ...change });
    const [row = ''] = /<tbody>[^]*?<\/tr>/.exec(await read('/audit?actor=sums')) ?? [];
    const text = row.replaceAll(/<[^>]+>/g, '');
    expect(text).toContain(words);
    expect(text).not.toMatch(/31000|10000|12500|currency:/);
  }
});

it('filters by person, by words, by reason and by time, and hides logins unless asked for', async () => {
  await record({
    actor: 'eve',
    action: 'token.revoke',
    subject: 'application:shop',
    reason: 'It has LEAKED',
  });
  await record({ actor: 'eve', action: 'console.login', subject: 'person:eve' });
  const of = (query: string) => countOf(`/audit?actor=eve&${query}`);
  expect(await of('')).toBe(1);
  expect(await of('logins=shown')).toBe(2);
  expect(await countOf('/audit?action=console.login&actor=eve')).toBe(1);
  expect([
    await of('text=leaked'),
    await of('text=revoked+a+tok'),
    await of('text=nothing'),
  ]).toEqual([1, 1, 0]);
  const times = (from: number, to: number) =>
    new URLSearchParams({
      from: new Date(Date.now() + from).toISOString(),
      to: new Date(Date.now() + to).toISOString(),
    });
  expect(await of(String(times(-60_000, 60_000)))).toBe(1);
  expect(await of(String(times(-120_000, -60_000)))).toBe(0);
  expect(await of(String(times(60_000, 120_000)))).toBe(0);
});

it('keeps a pasted secret out of the address', async () => {
  const form = { text: 'svc_live_abcdefghijkl', actor: 'ada' };
  const { headers } = await reader.post('/audit/filter', form);
  expect(headers.location).toBe('/audit?actor=ada');
});

it('says how far back it has searched, and goes on from there', async () => {
  const [end] = await sql<{ id: number }[]>`select max(id)::int as id from audit_log`;
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into audit_log (id, actor, action, subject, hash)
      select ${end?.id ?? 0}::int + n, 'nobody', 'console.refuse_login', 'console:login', '' from generate_series(1, 20000) as n`;
  });
  const text = await read('/audit');
  expect(text).toContain('has searched back to');
  const [, older = ''] = /href="(\/audit\?after=\d+)" rel="next"/.exec(text) ?? [];
  expect(await countOf(older)).toBeGreaterThan(1);
});

it('a fact of before that the change does not speak of has no arrow', async () => {
  const before = { asked_by: 'ada' };
  await record({ actor: 'refuser', action: 'refund.refuse', before, after: null });
  await record({
    actor: 'refuser',
    action: 'refund.confirm',
    before,
    after: { confirmed_by: 'eve' },
  });
  const text = await read('/audit?actor=refuser');
  expect(text.match(/asked by: ada/g)?.length).toBeGreaterThan(1);
  expect(text).not.toMatch(/ada →/);
});

it('a list without entries is none', async () => {
  await record({ actor: 'emptier', before: { ids: [] }, after: { ids: ['3', '4'] } });
  expect(await read('/audit?actor=emptier')).toContain('ids: none → 3, 4');
});
