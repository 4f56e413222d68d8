import { describe, expect, it } from 'vitest';
import { disputeEventId, disputeId, newPaymentId } from '../../../../contract/ids.ts';
import { hourMs } from '../../../../contract/time.ts';
import { runLine } from '../../../support/service/admin-line.ts';
import { operationsOn } from '../../../support/service/admin-operations.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids: filled } = await startFilledConsole();
const ids = filled.disputes;
const reader = await console.logIn('viewer', 'reader');

interface Found {
  id: string;
  payment: string;
  application: string;
  order: string;
  reference: string;
}
const rowOf = async (id: string): Promise<Found> => {
  const [row] = await sql<Found[]>`
    select id, payment_id as payment, application, order_id as order, gateway_reference as reference
    from disputes where id = ${id}`;
  if (!row) throw new Error(`There is no dispute ${id}`);
  return row;
};
const textOf = (path: string, who = reader) => who.read(path);
/** The value of a fact of a page, without its marks. */
const factOf = (text: string, name: string): string | undefined =>
  new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`)
    .exec(text)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
    .trim();
it('a dispute has a page with its facts, found by its payment, by its id and by the reference at the gateway', async () => {
  const dispute = await rowOf(ids.inquiry);
  const text = await textOf(`/disputes/${dispute.id}`);
  expect(factOf(text, 'Payment')).toBe(dispute.payment);
  expect(factOf(text, 'Order')).toBe(dispute.order);
  expect(factOf(text, 'Gateway')).toBe('zarinpal');
  expect(factOf(text, 'Network&#39;s reason')).toBe('13.1');
  expect(factOf(text, 'Reason')).toContain('product_not_received');
  expect(factOf(text, 'Gateway&#39;s reference')).toBe(dispute.reference);
  expect(factOf(text, 'Time left')).toBe('11 days, 23 hours');
  expect(await textOf(`/payments/${dispute.payment}`)).toContain(`/disputes/${dispute.id}`);
  expect(await reader.search(` see ${dispute.id.toLowerCase()} `)).toBe(`/disputes/${dispute.id}`);
  expect(await reader.search(dispute.reference)).toBe(`/disputes/${dispute.id}`);
});

it.each([
  ['urgent', true],
  ['review', true],
  ['lost', true],
  ['inquiry', false],
  ['won', false],
  ['closed', false],
] as const)('says what a dispute holds against refunds: %s', async (name, holds) => {
  const text = await textOf(`/disputes/${ids[name]}`);
  const amount = factOf(text, 'Amount');
  expect(amount).toMatch(/EUR$/);
  expect(factOf(text, 'Held against refunds')).toBe(holds ? amount : 'nothing');
});

it('a dispute in another currency holds the whole payment', async () => {
  const { payment } = await rowOf(ids.lost);
  await sql`update disputes set currency = 'USD', amount = 1 where id = ${ids.lost}`;
  const text = await textOf(`/disputes/${ids.lost}`);
  const [paid] = await sql<{ amount: number }[]>`
    select amount from payments where id = ${payment}`;
  expect(factOf(text, 'Amount')).toBe('0.01 USD');
  expect(factOf(text, 'Held against refunds')).toBe(
    `${((paid?.amount ?? 0) / 100).toFixed(2)} EUR`,
  );
});

it('the last 72 hours to answer are marked, and after them nobody can answer', async () => {
  const { id } = await rowOf(ids.urgent);
  const stateIn = async (hours: number) => {
    await sql`update disputes set respond_by = ${new Date(Date.now() + hours * hourMs)} where id = ${id}`;
    const text = await textOf(`/disputes/${id}`);
    const advice = /<\/h1>(.*)<dl/.exec(text)?.[1] ?? '';
    return [factOf(text, 'Time left'), advice.includes('notice bad'), advice.includes('<time')];
  };
  expect(await stateIn(73)).toEqual(['3 days', false, true]);
  expect(await stateIn(71.9)).toEqual(['▲ 2 days, 23 hours', true, true]);
  expect(await stateIn(1.03)).toEqual(['▲ 1 hour, 1 minute', true, true]);
  expect(await stateIn(-1)).toEqual([undefined, false, false]);
  expect(await stateIn(48.5)).toEqual(['▲ 2 days', true, true]);
});

it.each([
  ['status=needs_response', ['urgent', 'inquiry']],
  ['stage=inquiry', ['inquiry', 'closed']],
  ['status=lost&stage=chargeback', ['lost']],
  ['gateway=sandbox', []],
  ['gateway=zarinpal&status=won', ['won']],
] as const)('the list takes %s', async (query, names) => {
  const text = await textOf(`/disputes?${query}`);
  const shown = new Set([...text.matchAll(/DISPUTE_\w{26}/g)].map(([id]) => id));
  expect(shown).toEqual(new Set(names.map((name) => ids[name])));
});

it('the list has those of one application, and pages', async () => {
  const { application } = await rowOf(ids.urgent);
  const text = await textOf(`/disputes?application=${application}`);
  const own = await sql<{ id: string }[]>`
    select id from disputes where application = ${application} and not test order by opened_at desc`;
  const shown = [...new Set([...text.matchAll(/DISPUTE_\w{26}/g)].map(([id]) => id))];
  expect(shown).toEqual(own.map(({ id }) => id));
  const payment = await rowOf(ids.test);
  await sql`
    insert into disputes (id, payment_id, application, test, order_id, gateway, gateway_reference, stage, status, amount,
      currency, opened_at, updated_at)
    select 'DISPUTE_' || lpad(n::text, 26, '0'), ${payment.payment}, ${payment.application}, true, 'many', 'zarinpal',
      'dp_many_' || n, 'chargeback', 'lost', 1, 'EUR', now() - n * interval '1 minute', now()
    from generate_series(1, 60) as n`;
  const tests = reader.lookingAt('test');
  const seen = new Set<string>();
  for (let path: string | undefined = '/disputes'; path !== undefined;) {
    const shownTests: string = await textOf(path, tests);
    for (const [id] of shownTests.matchAll(/DISPUTE_\w{26}/g)) seen.add(id);
    path = /<a href="([^"]+)" rel="next"/.exec(shownTests)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(seen.size).toBe(62);
  expect(seen).toContain(ids.test);
  await sql`delete from disputes where order_id = 'many'`;
});

describe('the page at the gateway', () => {
  it.each([
    ['live', 'https://dashboard.stripe.com/disputes/du_7'],
    ['sandbox', 'https://dashboard.stripe.com/test/disputes/du_7'],
  ])('is linked for a %s account of Stripe, for people of the whole service', async (kind, url) => {
    const id = disputeId(kind, 'du_7');
    await sql`insert into gateways (slug, driver, kind) values (${`stripe-${kind}`}, 'stripe', ${kind})`;
    const { payment, application } = await rowOf(ids.urgent);
    await sql`
      insert into disputes (id, payment_id, application, test, order_id, gateway, gateway_reference, stage, status, amount,
        currency, opened_at, updated_at, respond_by)
      values (${id}, ${payment}, ${application}, false, 'one', ${`stripe-${kind}`}, 'du_7', 'inquiry', 'needs_response', 1,
        'EUR', now(), now(), now() + interval '9 days')`;
    const own = await console.logIn('operator', `own ${kind}`, [application]);
    expect(await textOf(`/disputes/${id}`)).toContain(`href="${url}"`);
    expect(await textOf(`/disputes/${id}`, own)).not.toContain('dashboard.stripe.com');
    await sql`delete from disputes where id = ${id}`;
  });

  it('is not linked where this version knows none', async () => {
    expect(await textOf(`/disputes/${ids.urgent}`)).not.toMatch(/href="https?:/);
  });
});

it('the events of a dispute are on its page, which they lead back to', async () => {
  const { payment, application } = await rowOf(ids.lost);
  const event = disputeEventId(ids.lost, 1, 'dispute.opened');
  await sql`
    insert into events (id, subject, payment_id, application, test, kind, body, created_at)
    values (${event}, ${ids.lost}, ${payment}, ${application}, false, 'dispute.opened', '{}', now())`;
  await sql`
    insert into deliveries (event_id, payment_id, application, test, order_id, kind, created_at, recorded_at, status)
    values (${event}, ${payment}, ${application}, false, 'o', 'dispute.opened', now(), now(), 'delivered')`;
  expect(await textOf(`/disputes/${ids.lost}`)).toContain(`/events/${event}`);
  expect(await textOf(`/disputes/${ids.won}`)).not.toContain(`/events/`);
  for (const path of [`/events/${event}`, `/payments/${payment}`])
    expect(await textOf(path), path).toContain(`"/disputes/${ids.lost}"`);
});

it('people of another application find no trace of a dispute', async () => {
  const dispute = await rowOf(ids.inquiry);
  const other = dispute.application === 'shop' ? 'tickets' : 'shop';
  const insider = await console.logIn('viewer', 'insider', [dispute.application]);
  const stranger = await console.logIn('operator', 'stranger', [other]);
  expect(await insider.search(dispute.reference)).toBe(`/disputes/${dispute.id}`);
  expect(await insider.read(`/disputes/${dispute.id}`)).toContain(dispute.order);
  for (const text of [dispute.reference, dispute.id])
    expect(await stranger.search(text)).toBeUndefined();
  expect(await stranger.read(`/disputes?application=${other}`)).not.toContain(dispute.id);
});

it('a dispute of a test is found among tests, and its page says so', async () => {
  const { reference } = await rowOf(ids.test);
  expect(await reader.search(reference)).toBeUndefined();
  const tests = reader.lookingAt('test');
  expect(await tests.search(reference)).toBe(`/disputes/${ids.test}`);
  expect(await textOf(`/disputes/${ids.test}`)).toContain('mode-bar');
});

it('markup of a gateway stays text', async () => {
  const text = await textOf(`/disputes/${ids.urgent}`);
  expect(text).toContain('&lt;img');
  expect(text).not.toContain('<img src=x');
});

describe('npm run admin -- disputes', () => {
  const run = (...line: string[]) => runLine(() => operationsOn(sql), ['disputes', ...line], {});

  it('lists those of a filter', async () => {
    const { code, out } = await run('list', '--stage', 'inquiry', '--status', 'needs_response');
    expect([code, [...out.matchAll(/DISPUTE_\w{26}/g)].map(([id]) => id)]).toEqual([
      0,
      [ids.inquiry],
    ]);
    expect((await run('list', '--payment', newPaymentId())).code).toBe(1);
    expect((await run('list', '--gateway', 'sandbox', '--json')).out.trim()).toBe('[]');
  });

  it('shows one, with what to do', async () => {
    const { payment } = await rowOf(ids.inquiry);
    const { code, out } = await run('show', ids.inquiry);
    expect([code, out.includes(payment), out.includes('11 days')]).toEqual([0, true, true]);
    expect((await run('show', disputeId('nobody', 'dp_1'))).code).toBe(1);
  });
});

it('the advice promises no refund of a payment of which nothing is left', async () => {
  const { payment } = await rowOf(ids.won);
  const words = 'It can be refunded again.';
  expect(await textOf(`/disputes/${ids.won}`)).toContain(words);
  const [before] = await sql<{ refunded: number }[]>`
    select amount_refunded as refunded from payments where id = ${payment}`;
  await sql`update payments set amount_refunded = amount where id = ${payment}`;
  expect(await textOf(`/disputes/${ids.won}`)).not.toContain(words);
  await sql`update payments set amount_refunded = ${before?.refunded ?? 0} where id = ${payment}`;
});
