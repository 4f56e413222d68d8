import { expect, it } from 'vitest';
import { startFilledConsole } from '../../../support/service/filled-console.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';

const { console, sql, ids } = await startFilledConsole();
// One payment of the list is open long after its deadline, and the gateway does not answer about it.
await sql`
  update payments set expires_at = now() + interval '10 minutes'
  where status = 'pending' and id <> ${ids.open}`;
await sql`update payments set expires_at = now() - interval '1 hour' where id = ${ids.open}`;
await sql`
  insert into gateway_exchanges (payment_id, gateway, at, operation, result, duration_ms)
  select id, gateway, now() - case gateway when 'sandbox' then interval '20 hours' else interval '0' end, 'verify', 'no_answer', 9
  from payments where id = ${ids.open} or gateway = 'zarinpal' and status = 'pending'`;
await sql`update refunds set cancel_requested = true where id = ${ids.toConfirm[1] ?? ''}`;
// More tests than live ones, so that no list shows the other mode's.
await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 0)`;
for (const mode of ['live', 'test', 'test'] as const)
  await operationsOn(sql).tokens.issue(
    { application: 'shop', mode, name: 'gives back', scopes: ['refund'], expiresAt: null },
    null,
  );
await sql`update tokens set expires_at = now() where hash = (select hash from tokens where to_confirm and mode = 'test' limit 1)`;
await operationsOn(sql).tokens.issue(
  { application: 'shop', mode: 'test', name: 'gives', scopes: ['refund'], expiresAt: null },
  null,
);
await sql`delete from approvals where kind = 'refund'`;
await sql`insert into refund_rule_requests (application, currency, amount, asked_by) values (null, 'EUR', 1, 'ada')`;
const viewer = await console.logIn('viewer');
type Mode = 'live' | 'test';
const read = (path: string, mode: Mode = 'live') => viewer.lookingAt(mode).read(path);
/** The rows of the page: each count, its words and where its list is. */
const linesOf = async (path = '/attention', mode: Mode = 'live') => {
  const text = await read(path, mode);
  const found = text.matchAll(/<strong>([\d,]+)<\/strong> <span>(.*?)<\/span> <a href="([^"]+)"/g);
  return [...found].map(([, count = '', what = '', href = '']) => ({
    count: Number(count),
    what,
    href: href.replaceAll('&amp;', '&'),
  }));
};
/** Of the table at the mark of the address; otherwise of the last one of the page, which is its list. */
const rowsOf = async (path: string, mode: Mode = 'live'): Promise<number> => {
  const text = await read(path, mode);
  const [, mark] = path.split('#');
  const begin = mark === undefined ? text.lastIndexOf('<table') : text.indexOf(`id="${mark}"`);
  return text.slice(begin).split('</table>')[0]?.match(/<tr>/g)?.slice(1).length ?? 0;
};

it('counts what waits for a person, and every count leads to a list of as many', async () => {
  const lines = await linesOf();
  expect(lines.map(({ what }) => what.replaceAll(/ \d{4}-.*/g, ''))).toEqual([
    'payment is not paid, and its gateway may hold money of it',
    'disputes to answer, the first one until',
    'refunds wait for a decision',
    'refund waits for a second admin',
    'looser rule for refunds waits for a second admin',
    'token that may give money back waits for a second admin',
    'differences from the books of gateways',
    'webhooks of tickets exhausted: refused by the receiver',
    'webhooks of shop exhausted: refused by the receiver',
    'webhooks of shop failing: no answer in time',
    'payments: zarinpal has not answered since',
    'payment: sandbox has not answered about it, and answers about others',
    'payment is open for too long after its deadline',
  ]);
  for (const { what, href, count } of lines) expect(await rowsOf(href), what).toBe(count);
  expect(await linesOf('/')).toEqual(lines);
});

it('lists disputes to answer, the first one first, and is red in the 72 hours before it', async () => {
  const { urgent, inquiry } = ids.disputes;
  const stateIn = async (hours: number) => {
    await sql`update disputes set respond_by = now() + make_interval(hours => ${hours}) where id = ${urgent}`;
    const text = await read('/attention');
    const [, className] = /<li class="(\w+)">(?:(?!<li).)*attention\/disputes/.exec(text) ?? [];
    const found = (await read('/attention/disputes')).matchAll(/DISPUTE_\w{26}/g);
    return [className, [...new Set([...found].map(([id]) => id))]];
  };
  expect(await stateIn(71)).toEqual(['bad', [urgent, inquiry]]);
  expect(await stateIn(74)).toEqual(['open', [urgent, inquiry]]);
  expect(await stateIn(24 * 20)).toEqual(['open', [inquiry, urgent]]);
  expect(await stateIn(-1)).toEqual(['open', [inquiry]]);
  expect(await stateIn(48)).toEqual(['bad', [urgent, inquiry]]);
});

it('says since when the receiver behind undelivered webhooks is unwell, in this mode', async () => {
  await sql`
    insert into receivers (application, test, state, since) values
      ('shop', false, 'failing', '2026-11-20T10:00:00Z'), ('shop', true, 'exhausted', now()), ('tickets', false, 'ok', now())`;
  const unwell = (await linesOf()).filter(({ what }) => what.includes('unwell'));
  expect(unwell.map(({ what }) => what)).toEqual([
    expect.stringMatching(
      /^webhooks of shop exhausted: refused by the receiver; the receiver is unwell since 2026-11-20 /,
    ),
    expect.stringMatching(
      /^webhooks of shop failing: no answer in time; the receiver is unwell since 2026-11-20 /,
    ),
  ]);
  const text = await read('/applications/shop');
  expect(text).toContain('does not accept events');
  for (const status of ['pending', 'exhausted'])
    expect(text).toContain(`/deliveries?status=${status}&amp;application=shop`);
  expect(await read('/applications/shop', 'test')).toContain('events have no attempt left');
  await sql`delete from receivers`;
});

it('counts and lists tests alone for a person who looks at tests', async () => {
  const [live, test] = [await linesOf(), await linesOf('/attention', 'test')];
  expect(test.length).toBeGreaterThan(0);
  expect(test).not.toEqual(live);
  for (const { what, href, count } of test) expect(await rowsOf(href, 'test'), what).toBe(count);
});

it('no longer lists money that somebody has checked', async () => {
  const operator = await console.logIn('operator', 'checks');
  const form = { reason: 'it went back on Monday' };
  const path = `/payments/${ids.toCheck}/checked`;
  expect(await read(`/payments/${ids.toCheck}`)).toContain('may still hold money');
  const answer = await operator.post(path, form);
  expect([answer.status, answer.headers.location]).toEqual([303, `/payments/${ids.toCheck}`]);
  expect((await linesOf())[0]?.what).toMatch(/^disputes to answer/);
  expect(await read(`/payments/${ids.toCheck}`)).not.toContain('may still hold money');
  const again = await operator.post(path, form);
  expect(again.status).toBe(409);
});

it('says that nothing waits when nothing does', async () => {
  await sql`update deliveries set status = 'delivered', next_attempt_at = null, error_class = null`;
  await sql`delete from late_payments`;
  await sql`delete from refunds`;
  await sql`delete from disputes`;
  await sql`delete from refund_rule_requests`;
  await sql`update tokens set revoked_at = now() where to_confirm`;
  await sql`update account_differences set state = 'mended'`;
  await sql`update payments set expires_at = now() + interval '1 hour'`;
  await sql`delete from gateway_exchanges`;
  expect(await read('/attention')).toContain('Nothing waits for a person.');
});
