import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { createAdminOrders } from '../../../../postgres/admin/orders.ts';
import { fieldOf } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql } = await startFilledConsole();
await sql`insert into gateways (slug, driver, kind) values ('bank', 'sandbox', 'live')`;
const alma = await console.logIn('admin', 'alma');
const operator = await console.logIn('operator', 'oskar');
const viewer = await console.logIn('viewer', 'vera');

/** @returns the id of a payment of the order */
const pay = async (order: string, { gateway = 'bank', amount = 2_000, status = 'paid' } = {}) => {
  const id = newPaymentId();
  const isPaid = status === 'paid';
  const [another] = await sql`
    select from payments where order_id = ${order} and status = 'paid' limit 1`;
  await sql`
    insert into payments (id, application, test, order_id, status, amount, currency, gateway, callback_url, metadata,
      expires_at, created_at, updated_at, paid_at, failure_code, gateway_reference, tracking_code, paid_twice_at)
    values (${id}, 'shop', false, ${order}, ${status}, ${amount}, 'EUR', ${gateway}, 'https://shop.example/return', '{}',
      now(), now(), now(), ${isPaid ? sql`now()` : null}, ${isPaid ? null : 'card_declined'}, ${id}, ${isPaid ? `T-${id}` : null},
      ${isPaid && another ? sql`now()` : null})`;
  return id;
};
const pathOf = (order: string, below = '') =>
  `/orders/shop${below}?${String(new URLSearchParams({ mode: 'live', order }))}`;

describe('an order that is paid more than once', () => {
  // Its characters mean something in an address.
  const order = 'BK/DOUBLE 77#&%2F..';
  const path = pathOf(order);

  it('is found by the search, and its page begins with that, with what each payment is', async () => {
    const [one, two] = [await pay(order), await pay(order)];
    await pay(order, { gateway: 'sandbox', status: 'failed' });
    expect(await viewer.search(order)).toBe(path);
    const text = await viewer.read(path);
    expect(text).toMatch(
      /<\/h1> *<div[^>]*> *<div class="notice bad"[^>]*>This order is paid 2 times: <ul> <li>20/,
    );
    for (const id of [one, two]) expect(text).toContain(`T-${id}`);
    for (const fact of [
      '<dt>Paid</dt><dd><bdi>40.00 EUR',
      '<dt>Left</dt><dd><bdi>40.00 EUR',
      'card declined',
    ])
      expect(text).toContain(fact);
    expect(text).toContain('takes several paid payments for an order');
    await sql`update payments set order_claimed_at = now() where id = ${two}`;
    expect(await viewer.read(path)).toMatch(
      new RegExp(`Held by</dt><dd><a [^>]*>${two}</a> since .*?: it is paid, and not all`),
    );
  });

  it('is marked in the list and in the search, and on the page of each payment', async () => {
    const mark = `<a href="${path.replaceAll('&', '&amp;')}"><span class="state bad">`;
    for (const list of ['/payments', '/search?text=BK%2FDOUBLE'])
      expect((await viewer.read(list)).split(mark)).toHaveLength(3);
    for (const { id } of await sql`select id from payments where order_id = ${order}`)
      expect(await viewer.read(`/payments/${String(id)}`)).toContain('is paid more than once');
  });

  it('needs attention, until a person has marked it as checked or one of them has gone back', async () => {
    await pay('fake twice', { gateway: 'sandbox' });
    await pay('fake twice');
    const line = async () =>
      /<strong>(\d+)<\/strong> <span>(orders? (?:are|is) paid[^<]*)/
        .exec(await viewer.read('/attention'))
        ?.slice(1);
    expect(await line()).toEqual([
      '2',
      'orders are paid more than once, 1 of them twice with real money',
    ]);
    expect(await viewer.read('/attention')).toContain('href="/attention/paid-twice"');
    const list = await viewer.read('/attention/paid-twice');
    for (const words of [path.replaceAll('&', '&amp;'), '2 live', '1 live, 1 sandbox'])
      expect(list).toContain(words);
    expect(await viewer.read(pathOf('fake twice'))).toContain('not more than once with real money');
    expect(await viewer.read(path)).not.toContain('Mark as checked');
    expect(await operator.read(path)).toContain('Mark as checked');
    expect((await operator.act(pathOf(order, '/checked'), {})).answer.headers.location).toBe(path);
    expect(await line()).toEqual([
      '1',
      'order is paid more than once, but not twice with real money',
    ]);
    await sql`update payments set amount_refunded = amount where order_id = 'fake twice' and gateway = 'bank'`;
    expect(await line()).toBeUndefined();
    const again = await operator.get(pathOf(order, '/checked'));
    expect(again.status).toBe(409);
    expect(await console.auditOf('oskar')).toMatchObject([{ action: 'payment.order_checked' }]);
    // One more is news.
    await pay(order);
    expect(await line()).toEqual(['1', 'order is paid more than once']);
  });

  it('stays in a short list behind one whose money has gone back since, which nothing marks', async () => {
    await pay('charged back');
    const [lost] = [await pay('charged back'), await pay('charged back', { status: 'failed' })];
    await sql`update payments set amount_disputed = amount, amount_lost = amount where id = ${lost}`;
    const [first] = await createAdminOrders(sql).listPaidTwice(false, 1);
    expect(first).toMatchObject({ orderId: order, payments: 3, live: 3 });
    for (const { id } of await sql`select id from payments where order_id = 'charged back'`)
      expect(await viewer.read(`/payments/${String(id)}`)).not.toContain('paid more than once');
  });
});

describe('everything of an order', () => {
  const refundsOf = (order: string) => sql`
    select amount, to_confirm from refunds where order_id = ${order} order by to_confirm`;
  const ask = async (order: string) => {
    const { text } = await alma.get(pathOf(order, '/refund'));
    return { text: text.replaceAll(/\s+/g, ' '), seen: fieldOf(text, 'seen') };
  };

  it('goes back after one question, by a refund of each payment and under the rule of the second admin', async () => {
    await pay('all', { gateway: 'sandbox' });
    await pay('all', { gateway: 'sandbox' });
    await pay('all', { gateway: 'sandbox', status: 'failed' });
    await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 3000)`;
    const { text, seen } = await ask('all');
    for (const words of [
      '40.00 EUR of a sandbox goes back to the payer, by 2 refunds.',
      'Another admin must confirm 1 of them first.',
      'because with it you have asked for 40.00 EUR within 24 hours, and the rule is 30.00 EUR',
    ])
      expect(text).toContain(words);
    await sql`update approvals set above = 1000`;
    expect((await ask('all')).text).toContain(
      'Another admin must confirm 2 refunds. Then 40.00 EUR of a sandbox goes back to the payer.',
    );
    await sql`update approvals set above = 3000`;
    const { answer } = await alma.act(pathOf('all', '/refund'), { seen });
    await sql`delete from approvals where kind = 'refund'`;
    expect(answer.headers.location).toBe(pathOf('all'));
    expect(await refundsOf('all')).toEqual([
      { amount: 2_000, to_confirm: false },
      { amount: 2_000, to_confirm: true },
    ]);
    const page = await viewer.read(pathOf('all'));
    expect(page).toContain('<dt>Refund pending</dt><dd><bdi>40.00 EUR of a sandbox');
    expect(page.match(/href="\/refunds\/REFUND_/g)).toHaveLength(2);
    expect((await alma.get(pathOf('all', '/refund'))).text).toContain(
      'Nothing is left of the order',
    );
    expect(await console.auditOf('alma')).toMatchObject([
      { action: 'refund.create', reason: 'a test' },
      { action: 'refund.create', reason: 'a test' },
    ]);
  });

  it('stays where the payments are others than those that the admin has seen', async () => {
    await pay('changes', { gateway: 'sandbox' });
    const { seen } = await ask('changes');
    await pay('changes', { gateway: 'sandbox' });
    const { answer } = await alma.act(pathOf('changes', '/refund'), { seen });
    expect([answer.status, answer.text.includes('have changed meanwhile')]).toEqual([409, true]);
    expect(await refundsOf('changes')).toEqual([]);
  });

  it('is for admins alone', async () => {
    expect((await operator.get(pathOf('changes', '/refund'))).status).toBe(403);
    expect(await operator.read(pathOf('changes'))).not.toContain('Give everything back');
  });
});

it.each(['/payments', '/refunds', '/disputes', '/links', '/deliveries'])(
  'the orders of %s lead to their pages',
  async (list) => {
    const text = await viewer.read(list);
    expect(text).toMatch(/<a href="\/orders\/\w+\?[^"]*"> *<bdi class="cut"/);
    expect(text).not.toMatch(/<a href="\/payments\/[^>]*> *<bdi class="cut"/);
  },
);

it('an order of another application, of the other mode or of nobody is not there', async () => {
  const bound = await console.logIn('viewer', 'bound', ['tickets']);
  expect((await bound.get(pathOf('changes'))).status).toBe(404);
  const own = await console.logIn('viewer', 'own', ['shop']);
  expect((await own.get(pathOf('changes'))).status).toBe(200);
  for (const path of [pathOf('changes').replace('live', 'test'), pathOf('none'), '/orders/none'])
    expect((await viewer.get(path)).status, path).toBe(404);
});

it('an order whose money an open chargeback holds takes no other payment, until it is lost', async () => {
  const order = 'held by a bank';
  const id = await pay(order);
  await sql`update applications set orders_paid_once = true where slug = 'shop'`;
  await sql`update payments set amount_disputed = amount where id = ${id}`;
  expect(await viewer.read(pathOf(order))).toContain('no other payment is taken');
  await sql`update payments set amount_lost = amount where id = ${id}`;
  expect(await viewer.read(pathOf(order))).toContain('none is paid and has money left');
  await sql`update applications set orders_paid_once = false where slug = 'shop'`;
});
