import { expect, it } from 'vitest';
import { newPaymentId, refundId } from '../../../../contract/ids.ts';
import { fillConsole } from '../../../support/data/fill-console.ts';
import { fillReserved } from '../../../support/data/fill-reserved.ts';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';

const console = await forFile(startConsole({ temporal: {} }));
const ids = await fillConsole(console.sql);
const stops = await fillReserved(console.sql, ids);
const ada = await console.logIn('admin', 'ada');
const eve = await console.logIn('admin', 'eve');

/** Asks for a refund that another admin must confirm. */
const askFor = async (amount: number, reason: string) => {
  await console.sql`insert into refund_approvals (currency, above) values ('EUR', 0)`;
  const wish = { amount, reason, recorded: false };
  const { refund } = await console.deps.operationsOf('ada').refunds.create(ids.paid, wish);
  await console.sql`delete from refund_approvals`;
  return refund.id;
};

const own = await askFor(200, 'the seat is taken');

const textOf = async (path: string, { cookie }: { cookie: string }) => {
  const { status, text } = await console.call(path, { cookie });
  expect(status, path).toBe(200);
  return text;
};

it('a refund has a page with what one signs for, found by the search and from its payment', async () => {
  await console.sql`update payments set card_pan_masked = '424242******4242' where id = ${ids.paid}`;
  const [payment] = await console.sql<{ order: string }[]>`
    select order_id as order from payments where id = ${ids.paid}`;
  for (const path of [`/refunds/${own}`, `/refunds/${own}/confirm`]) {
    const text = await textOf(path, eve);
    for (const fact of ['2.00 EUR', '424242******4242', 'ada', 'the seat is taken'])
      expect(text, path).toContain(fact);
    for (const fact of [payment?.order ?? '', `/payments/${ids.paid}`])
      expect(text, path).toContain(fact);
  }
  expect(await textOf(`/payments/${ids.paid}`, eve)).toContain(`/refunds/${own}`);
  const form = { csrf: eve.csrf, text: ` see ${own.toLowerCase()} ` };
  const found = await console.call('/search', { ...eve, method: 'POST', form });
  expect(found.headers.location).toBe(`/refunds/${own}`);
});

it('the asker is offered no “Confirm”, and the question refuses before a reason is typed', async () => {
  const person = await console.logIn('admin', ' Ada');
  for (const path of ['/refunds', `/refunds/${own}`, `/payments/${ids.paid}`]) {
    expect(await textOf(path, eve), path).toContain(`/refunds/${own}/confirm`);
    expect(await textOf(path, ada), path).not.toContain(`/refunds/${own}/confirm`);
    expect(await textOf(path, person), path).not.toContain(`/refunds/${own}/confirm`);
  }
  const { status, text } = await console.call(`/refunds/${own}/confirm`, ada);
  expect([status, text.includes('<textarea')]).toEqual([409, false]);
});

it.each([
  [`/refunds/${ids.byHand[0]}`, 'confirm', 'refuse', 'cancel', 'release'],
  [`/refunds/${own}`, 'succeeded', 'failed', 'release'],
  [`/refunds/${stops.reserved}`, 'confirm', 'refuse', 'succeeded', 'failed', 'release'],
])('%s is not asked what its state does not allow', async (path, ...others) => {
  for (const other of others) {
    const { status, text } = await console.call(`${path}/${other}`, eve);
    expect([other, status, text.includes('<textarea')]).toEqual([other, 409, false]);
  }
});

it('the page says who confirmed it, and why', async () => {
  const id = await askFor(100, 'paid twice');
  const form = { csrf: eve.csrf, reason: 'seen in the books' };
  await console.call(`/refunds/${id}/confirm`, { ...eve, method: 'POST', form });
  const text = await textOf(`/refunds/${id}`, ada);
  for (const fact of ['confirmed by eve', 'seen in the books', 'asked for by ada', 'paid twice'])
    expect(text).toContain(fact);
  const list = await textOf('/refunds', ada);
  expect(list).toMatch(new RegExp(`/refunds/${id}[^]*?<bdi>ada</bdi>`));
});

it('people of one application see its refunds without the audit log, and those of others are not there', async () => {
  const shop = await console.logIn('operator', 'of the shop', ['shop']);
  const tickets = await console.logIn('operator', 'of the tickets', ['tickets']);
  const [refund] = await console.sql<{ application: string }[]>`
    select application from refunds where id = ${own}`;
  const [insider, stranger] = refund?.application === 'shop' ? [shop, tickets] : [tickets, shop];
  const text = await textOf(`/refunds/${own}`, insider);
  expect(text).toContain('2.00 EUR');
  expect(text).not.toContain('the seat is taken');
  expect((await console.call(`/refunds/${own}`, stranger)).status).toBe(404);
});

it.each(['', '/confirm', '/refuse', '/cancel', '/release', '/succeeded', '/failed', '/state'])(
  '%s of a refund that does not exist is not there',
  async (path) => {
    for (const id of [refundId(['nothing']), newPaymentId(), 'nothing'])
      expect((await console.call(`/refunds/${id}${path}`, eve)).status).toBe(404);
  },
);
