import { describe, expect, it } from 'vitest';
import { newPaymentId } from '../../../../contract/ids.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import type { Person } from '../../../support/service/console.ts';
import { startFilledConsole } from '../../../support/service/filled-console.ts';

const { console, sql, ids } = await startFilledConsole();
const stops = await fillReserved(sql, ids);
const ada = await console.logIn('admin', 'ada');
const eve = await console.logIn('admin', 'eve');

/** Asks for a refund that another admin must confirm. */
const askFor = async (amount: number, reason: string) => {
  await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 0)`;
  const wish = { amount, reason, recorded: false };
  const { refund } = await console.deps.operationsOf('ada').refunds.create(ids.paid, wish);
  await sql`delete from approvals where kind = 'refund'`;
  return refund.id;
};

const own = await askFor(200, 'the seat is taken');

const textOf = (path: string, person: Person) => person.read(path);

it('a refund has a page with what one signs for, found by the search and from its payment', async () => {
  await sql`update payments set card_pan_masked = '424242******4242' where id = ${ids.paid}`;
  const [payment] = await sql<{ order: string }[]>`
    select order_id as order from payments where id = ${ids.paid}`;
  for (const path of [`/refunds/${own}`, `/refunds/${own}/confirm`]) {
    const text = await textOf(path, eve);
    for (const fact of ['2.00 EUR', '424242******4242', 'ada', 'the seat is taken'])
      expect(text, path).toContain(fact);
    for (const fact of [payment?.order ?? '', `/payments/${ids.paid}`])
      expect(text, path).toContain(fact);
  }
  const ofPayment = await textOf(`/payments/${ids.paid}`, eve);
  for (const words of [
    `/refunds/${own}`,
    'A refund of 2.00 EUR is being processed.',
    'Eine Erstattung von 2,00 EUR ist in Bearbeitung.',
  ])
    expect(ofPayment).toContain(words);
  expect(await eve.search(` see ${own.toLowerCase()} `)).toBe(`/refunds/${own}`);
});

it('the asker is offered no “Confirm”, and the question refuses before a reason is typed', async () => {
  const person = await console.logIn('admin', ' Ada');
  for (const path of ['/refunds', `/refunds/${own}`, `/payments/${ids.paid}`]) {
    expect(await textOf(path, eve), path).toContain(`/refunds/${own}/confirm`);
    expect(await textOf(path, ada), path).not.toContain(`/refunds/${own}/confirm`);
    expect(await textOf(path, person), path).not.toContain(`/refunds/${own}/confirm`);
  }
  const { status, text } = await ada.get(`/refunds/${own}/confirm`);
  expect([status, text.includes('<textarea')]).toEqual([409, false]);
});

it.each([
  [`/refunds/${ids.byHand[0]}`, 'confirm', 'refuse', 'cancel', 'release'],
  [`/refunds/${own}`, 'succeeded', 'failed', 'release'],
  [`/refunds/${stops.reserved}`, 'confirm', 'refuse', 'succeeded', 'failed', 'release'],
])('%s is not asked what its state does not allow', async (path, ...others) => {
  for (const other of others) {
    const { status, text } = await eve.get(`${path}/${other}`);
    expect([other, status, text.includes('<textarea')]).toEqual([other, 409, false]);
  }
});

it('says why another admin must confirm it: before the button, and on its page to both admins', async () => {
  const [other] = await sql<{ id: string }[]>`
    select p.id from payments p join payments own on own.id = ${ids.paid} and p.id <> own.id and p.test = own.test
    where p.status = 'paid' and p.gateway = 'sandbox' and p.amount_refund_pending + p.amount_refunded = 0 limit 1`;
  await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 250)`;
  const path = `/payments/${other?.id}/refund/give?amount=1.00+EUR`;
  const { question, answer } = await ada.act(path, {});
  await sql`delete from approvals where kind = 'refund'`;
  const page = answer.headers.location ?? '';
  const why = (who: string) =>
    `because with it ${who} asked for 3.00 EUR within 24 hours, and the rule is 2.50 EUR`;
  expect(question.text).toContain(why('you have'));
  expect(await textOf(page, ada)).toContain(why('you have'));
  for (const each of [page, `${page}/confirm`])
    expect(await textOf(each, eve)).toContain(why('ada has'));
});

it('the page says who confirmed it, and why', async () => {
  const id = await askFor(100, 'paid twice');
  await eve.post(`/refunds/${id}/confirm`, { reason: 'seen in the books' });
  const text = await textOf(`/refunds/${id}`, ada);
  for (const fact of [
    'eve confirmed a refund',
    'seen in the books',
    'ada asked for a refund',
    'paid twice',
  ])
    expect(text).toContain(fact);
  const list = await textOf('/refunds', ada);
  expect(list).toMatch(new RegExp(`/refunds/${id}[^]*?<bdi>ada</bdi>`));
});

it('people of one application see its refunds without the audit log', async () => {
  const [refund] = await sql<{ application: string }[]>`
    select application from refunds where id = ${own}`;
  const insider = await console.logIn('operator', 'insider', [refund?.application ?? '']);
  const text = await textOf(`/refunds/${own}`, insider);
  expect(text).toContain('2.00 EUR');
  expect(text).not.toContain('the seat is taken');
});

describe('the amount of a refund', () => {
  const live = { amount: 10_000, currency: 'EUR' };
  const aPayment = async ({ amount, currency }: typeof live, gateway = 'sandbox') => {
    const id = newPaymentId();
    await sql`
      insert into payments (id, application, test, order_id, status, amount, currency, gateway, callback_url, metadata,
        expires_at, created_at, updated_at, paid_at, gateway_reference)
      values (${id}, 'shop', true, ${id}, 'paid', ${amount}, ${currency}, ${gateway}, 'https://shop.example/return', '{}',
        now(), now(), now(), now(), ${id})`;
    return id;
  };
  const choose = (id: string, fields: Record<string, string>) =>
    ada.post(`/payments/${id}/refund`, fields);
  const refundsOf = (id: string) => sql`select amount from refunds where payment_id = ${id}`;

  it.each([
    [live, { amount: '6.00' }, '6.00 EUR', 600],
    [live, { amount: '6,00 €' }, '6.00 EUR', 600],
    [live, { amount: '', part: '50.00' }, '50.00 EUR', 5_000],
    [{ amount: 8_400, currency: 'KWD' }, { amount: '1.005' }, '1.005 KWD', 1_005],
  ])(
    '%j and %j is what the button names and what goes back: %s',
    async (money, fields, sum, amount) => {
      const id = await aPayment(money);
      const { headers } = await choose(id, fields);
      const { location = '' } = headers;
      expect(await textOf(location, ada)).toContain(`Give ${sum} back`);
      expect(await refundsOf(id)).toEqual([]);
      const given = await ada.post(location, { reason: 'a test' });
      expect(given.headers.location).toMatch(/^\/refunds\/REFUND_/);
      expect(await refundsOf(id)).toEqual([{ amount }]);
    },
  );

  it.each([
    ['100.01', '100.00 EUR is left'],
    ['6.00 USD', 'USD'],
    ['6,000', 'Write it without them, like &quot;12.50 EUR&quot;'],
    ['1e2', 'It is not money'],
    ['0.00', 'It must be'],
    ['', 'Type an amount'],
  ])('%j is refused with what is wrong, and stays typed', async (amount, words) => {
    const id = await aPayment(live);
    const { status, text } = await choose(id, { amount });
    expect([status, text.includes(words)], text).toEqual([409, true]);
    expect(text).toContain(`value="${amount}"`);
    const question = `/payments/${id}/refund/give?amount=${encodeURIComponent(amount)}`;
    expect((await ada.post(question, { reason: 'a test' })).status).toBe(409);
    expect(await refundsOf(id)).toEqual([]);
  });

  it('a half is offered where the gateway gives a half back, and elsewhere the page says what it gives', async () => {
    const pageOf = (id: string) => textOf(`/payments/${id}/refund`, ada);
    const ofSandbox = await pageOf(await aPayment(live));
    expect(ofSandbox).toContain('Half: 50.00 EUR');
    expect(ofSandbox).not.toContain('The gateway gives');
    await sql`insert into gateways (slug, driver, kind) values ('whole', 'payping', 'live')`;
    const whole = await aPayment(live, 'whole');
    expect(await pageOf(whole)).not.toContain('Half:');
    expect(await pageOf(whole)).toContain('gives the whole amount back, and no part of it');
    await sql`update payments set paid_at = paid_at - interval '1 hour' where id = ${whole}`;
    expect(await pageOf(whole)).toContain('gives money back only for a while, and that is over');
  });

  it('that another admin must confirm is asked for and not given, and the question says so', async () => {
    const id = await aPayment(live);
    const { location = '' } = (await choose(id, { amount: '6.00' })).headers;
    await sql`insert into approvals (kind, currency, above) values ('refund', 'EUR', 599)`;
    const text = await textOf(location, ada);
    await sql`delete from approvals where kind = 'refund'`;
    expect(text).toContain('Another admin must confirm it');
    expect(text).toContain('>Ask for the refund of 6.00 EUR</button>');
    expect(await textOf(location, ada)).toContain('6.00 EUR goes back to the payer.');
  });

  it('money that was given back elsewhere is recorded, and the button says so', async () => {
    const id = await aPayment(live);
    const { headers } = await choose(id, { amount: '6.00', recorded: 'yes' });
    expect(await textOf(headers.location ?? '', ada)).toContain('Record 6.00 EUR as given back');
  });
});

describe('the question about a refund is true of', () => {
  const question = (id: string | undefined, path: string) => textOf(`/refunds/${id}/${path}`, eve);

  it('an application that no webhook tells of its end', async () => {
    const [id] = ids.byHand;
    const set = (on: boolean, url: string | null) =>
      sql`update applications set refund_events = ${on}, webhook_url = ${url}`;
    for (const [on, url, words] of [
      [false, 'https://shop.example/webhook', 'its events of refunds are off'],
      [true, null, 'it has no webhook URL'],
      [true, 'https://shop.example/webhook', 'and a webhook tells the application'],
    ] as const) {
      await set(on, url);
      expect(await question(id, 'succeeded')).toContain(words);
    }
    await set(false, 'https://shop.example/webhook');
  });

  it('a payment whose money a chargeback holds: nothing goes back, and nothing can be refunded again', async () => {
    const hold = (share: number) =>
      sql`update payments set amount_disputed = amount * ${share}::int where id in (
        select payment_id from refunds where id in (${own}, ${stops.held}, ${ids.byHand[0] ?? ''}))`;
    const paths = [
      [own, 'confirm', 'goes back to the payer'],
      [stops.held, 'release', 'The gateway is told now'],
      [own, 'refuse', 'can be refunded again'],
      [own, 'cancel', 'can be refunded again'],
      [ids.byHand[0], 'failed', 'can be refunded again'],
    ] as const;
    for (const [id, path, words] of paths) expect(await question(id, path), path).toContain(words);
    await hold(1);
    for (const [id, path, words] of paths) {
      const text = await question(id, path);
      expect(text, path).not.toContain(words);
      expect(text, path).toMatch(/nothing goes back|while chargebacks hold [\d.]+ EUR/);
    }
    await hold(0);
  });

  it('a gateway that was told before', async () => {
    await sql`update refunds set times_told = 1, stage = 'sent' where id = ${stops.held}`;
    expect(await question(stops.held, 'release')).toContain('The gateway was told before');
    await sql`update refunds set times_told = 0, stage = 'reserved' where id = ${stops.held}`;
  });

  it('the own wish, which is called off and not refused', async () => {
    expect(await textOf(`/refunds/${own}`, ada)).toContain(`/refunds/${own}/cancel">Call off`);
    const { answer } = await ada.act(`/refunds/${own}/cancel`, {});
    expect(answer.status).toBe(303);
    expect(await textOf(`/refunds/${own}`, ada)).toContain('ada called a refund off');
  });
});
