/*
 * A whole small shop for Node 24:
 *
 *   node shop.ts [serve | catch-up | refund ORDER]
 *
 * The files `token` and `webhook-secret` are beside it. PAYMENTS_URL and PORT have the defaults of `npm start`.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { ApiError, isKnownEvent, type KnownEvent, Payments } from '@example/payments';
import { createInbox, inboxTables, sqliteQuery } from '@example/payments/inbox';
import { readRequest, SignatureError } from '@example/payments/webhooks';

const { PAYMENTS_URL: baseUrl = 'http://127.0.0.1:3000', PORT: port = '8080' } = process.env;
const read = (file: string) => readFileSync(file, 'utf8').trim();
const secret = read('webhook-secret');
// Anybody could sign with an empty key.
if (!secret.startsWith('whsec_')) throw new Error('webhook-secret holds no whsec_… secret');
// The client repeats a call that got no answer, 429, 500 or 503 twice, with the same idempotency key.
const client = new Payments({ token: read('token'), baseUrl, timeoutMs: 10_000 });
const price = { amount: 1250, currency: 'EUR' } as const; // 12.50 euros, in cents
const hour = 60 * 60_000;

const database = new DatabaseSync('shop.sqlite', { timeout: 30_000 });
database.exec(`${inboxTables}
create table if not exists orders (
  id text primary key,
  status text not null,
  amount integer not null,
  currency text not null,
  test boolean not null,
  locale text not null default 'en',
  payment_id text not null default '' -- that changed it last
);`);

interface Order {
  id: string;
  status: string;
  locale: string;
  payment_id: string;
}
const findOrder = (id: string) =>
  database.prepare('select * from orders where id = ?').get(id) as unknown as Order | undefined;
/** In these an order can be paid. All others are your own business: paid, shipped, done. */
const isOpen = ({ status }: Order) =>
  ['pending', 'failed', 'cancelled', 'expired', 'refunded'].includes(status);

// Events: from the webhook or, where none came, from the feed.

/** The status that the event gives its order, where the order allows it. */
const statusAfter = (event: KnownEvent): string | undefined => {
  if (!('payment_amount' in event)) return event.status;
  const isLost = event.event === 'dispute.closed' && event.status === 'lost';
  if (event.event !== 'refund.succeeded' && !isLost) return undefined;
  const lost = 'amount_disputed' in event ? event.amount_disputed : 0;
  return event.amount_refunded + lost >= event.payment_amount ? 'refunded' : undefined;
};

const change = (event: KnownEvent) => {
  console.log(`${event.event} ${event.payment_id} for order ${event.order_id}`);
  // Before or after the event of the payment that has paid the order. It changes no order.
  if (event.failure_code === 'order_already_paid') {
    console.log(
      `Tell the payer of ${event.payment_id}: the order is paid, and this money goes back`,
    );
    return;
  }
  const status = statusAfter(event);
  if (status === undefined) return;
  const { changes } = database
    .prepare(
      `update orders set status = $status, payment_id = $payment
       where id = $id and amount = $amount and currency = $currency and test = $test
         and (status in ('pending', 'failed', 'cancelled', 'expired')
           or ($status = 'paid' and status = 'refunded' and payment_id <> $payment)
           or ($status = 'refunded' and payment_id = $payment))`,
    )
    .run({
      $status: status,
      $payment: event.payment_id,
      $id: event.order_id,
      // In events of refunds and disputes the payment has fields of its own.
      $amount: 'payment_amount' in event ? event.payment_amount : event.amount,
      $currency: 'payment_currency' in event ? event.payment_currency : event.currency,
      $test: Number(event.test),
    });
  if (changes === 1) console.log(`Order ${event.order_id} is ${status}`);
};

const inbox = createInbox({
  client,
  secret,
  since: new Date('2026-01-01'), // when your shop began to use the service; it stays
  bothModes: true, // `change` compares `test`
  query: sqliteQuery(database),
  async once(event, isFirst) {
    database.exec('begin immediate');
    try {
      // One transaction: a process that is killed has stored both, or neither.
      if ((await isFirst(sqliteQuery(database))) && isKnownEvent(event)) change(event);
      database.exec('commit');
    } catch (error) {
      database.exec('rollback');
      throw error;
    }
  },
});

const catchUp = async () => console.log(`Caught up: ${await inbox.catchUp()}`);

/** Gives all of an order's money back. The event `refund.succeeded` makes the order `refunded`. */
const refund = async (id: string) => {
  const order = findOrder(id);
  if (order?.status !== 'paid') throw new Error(`${id} is no paid order`);
  const { refund_id, status } = await client.payments.refunds.create(
    order.payment_id,
    { reason: 'requested_by_customer' },
    { idempotencyKey: `${order.payment_id}-whole` }, // again and again: one refund
  );
  console.log(`Refund ${refund_id} of ${id}: ${status}`);
};

// Pages.

const words = {
  en: {
    buy: 'Buy for 12.50 EUR',
    again: 'Pay',
    orders: 'Your orders',
    paid: 'Your order is paid. Thank you.',
    pending: 'The payment is not finished. You can continue it.',
    processing:
      'The outcome of your payment is not certain yet. Please do not pay again: this page shows it by itself.',
    failed:
      'The payment did not go through. Money that has left your account comes back by itself. You can try again.',
    cancelled: 'The payment was cancelled. You can pay again.',
    expired: 'The time for this payment is over. You can pay again.',
    order_already_paid:
      'Your order is paid already. The money of your second payment goes back to you by itself.',
    unavailable: 'Paying is not possible at the moment. Please try again in a few minutes.',
    unknown: 'We do not know this payment.',
  },
  fa: {
    buy: 'خرید به مبلغ ۱۲٫۵۰ یورو',
    again: 'پرداخت',
    orders: 'سفارش‌های شما',
    paid: 'سفارش شما پرداخت شد. سپاسگزاریم.',
    pending: 'پرداخت کامل نشده است. می‌توانید آن را ادامه دهید.',
    processing:
      'نتیجهٔ پرداخت شما هنوز مشخص نیست. لطفاً دوباره پرداخت نکنید: این صفحه نتیجه را خودبه‌خود نشان می‌دهد.',
    failed:
      'پرداخت انجام نشد. پولی که از حساب شما کم شده باشد خودبه‌خود برمی‌گردد. می‌توانید دوباره تلاش کنید.',
    cancelled: 'پرداخت لغو شد. می‌توانید دوباره پرداخت کنید.',
    expired: 'مهلت این پرداخت گذشته است. می‌توانید دوباره پرداخت کنید.',
    order_already_paid:
      'سفارش شما پیش‌تر پرداخت شده است. پول پرداخت دوم خودبه‌خود به شما برمی‌گردد.',
    unavailable: 'اکنون نمی‌توان پرداخت کرد. لطفاً چند دقیقهٔ دیگر دوباره تلاش کنید.',
    unknown: 'این پرداخت را نمی‌شناسیم.',
  },
};
type Word = keyof (typeof words)['en'];
const wordsOf = (locale: string | null | undefined) => (locale === 'fa' ? words.fa : words.en);

const escape = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const nonce = () => randomBytes(8).toString('hex');

/** The form has the idempotency key: a double click, and a reload after a crash, make one payment. */
const payForm = (locale: string, label: string, order = `order-${nonce()}`, attempt = nonce()) =>
  `<form method="post" action="/pay"><input type="hidden" name="order" value="${order}">
<input type="hidden" name="try" value="${attempt}"><input type="hidden" name="locale" value="${locale}">
<button>${label}</button></form>`;

const html = (locale: string, body: string, { reloads = false } = {}) =>
  `<!doctype html><html lang="${locale}" dir="${locale === 'fa' ? 'rtl' : 'ltr'}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
${reloads ? '<meta http-equiv="refresh" content="5">' : ''}<title>Shop</title>${body}</html>`;
const say = (locale: string, word: Word, more = '') =>
  html(locale, `<p>${wordsOf(locale)[word]}</p>${more}`, { reloads: word === 'processing' });

type Answer = [status: number, body: string, headers?: Record<string, string>];

const home = (locale: string): Answer => {
  const orders = database.prepare('select * from orders').all() as unknown as Order[];
  const items = orders.map((order) => {
    const form = isOpen(order) ? payForm(locale, wordsOf(locale).again, order.id) : '';
    return `<li>${escape(order.id)}: ${escape(order.status)} ${form}</li>`;
  });
  const { buy, orders: title } = wordsOf(locale);
  return [200, html(locale, `${payForm(locale, buy)}<h1>${title}</h1><ul>${items.join('')}</ul>`)];
};

/** A shop with logins also asks whether the order is the payer's own. */
const pay = async (form: URLSearchParams): Promise<Answer> => {
  const [id = '', attempt = ''] = ['order', 'try'].map((name) => form.get(name) ?? '');
  const locale = form.get('locale') === 'fa' ? 'fa' : 'en';
  if (!/^order-[0-9a-f]{16}$/.test(id) || !/^[0-9a-f]{16}$/.test(attempt))
    return [400, say(locale, 'unknown')];
  database
    .prepare(
      `insert into orders (id, status, amount, currency, test, locale) values (?, 'pending', ?, ?, ?, ?)
       on conflict do nothing`,
    )
    .run(id, price.amount, price.currency, Number(client.mode === 'test'), locale);
  const order = findOrder(id);
  if (!order || !isOpen(order)) return [200, say(locale, 'paid')];
  try {
    const payment = await client.payments.create(
      { order_id: id, ...price, payer: { locale } },
      { idempotencyKey: `${id}-${attempt}` },
    );
    return [303, '', { location: payment.checkout_url ?? '/' }];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ORDER_ALREADY_PAID')
      return [200, say(locale, 'paid')];
    console.error(error);
    // The same key again: what the service has made meanwhile is not made twice.
    return [503, say(locale, 'unavailable', payForm(locale, wordsOf(locale).again, id, attempt))];
  }
};

/** The payer is back, which proves nothing: the service says how the payment stands. */
const comeBack = async (id: string): Promise<Answer> => {
  if (!/^PAY_[0-9A-Z]{26}$/.test(id)) return [404, say('en', 'unknown')];
  let payment;
  try {
    payment = await client.payments.get(id);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return [404, say('en', 'unknown')];
    console.error(error);
    return [200, say('en', 'processing')];
  }
  const order = findOrder(payment.order_id);
  if (!order) return [404, say('en', 'unknown')];
  const { locale } = order;
  const { again } = wordsOf(locale);
  if (payment.failure_code === 'order_already_paid')
    return [200, say(locale, 'order_already_paid')];
  if (payment.status === 'pending' && payment.checkout_url)
    return [200, say(locale, 'pending', `<a href="${escape(payment.checkout_url)}">${again}</a>`)];
  if (payment.status === 'paid') return [200, say(locale, 'paid')];
  const isOver = ['failed', 'cancelled', 'expired'].includes(payment.status);
  // A status of a later version is no outcome either.
  if (!isOver) return [200, say(locale, 'processing')];
  const form = isOpen(order) ? payForm(locale, again, order.id) : '';
  return [200, say(locale, payment.status as Word, form)];
};

const answer = async (request: IncomingMessage): Promise<Answer> => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
  const route = `${request.method} ${pathname}`;
  if (route === 'POST /webhook') {
    // readRequest takes the raw bytes: JSON that was parsed and written again may have others.
    await inbox.receive(await readRequest(request));
    return [204, ''];
  }
  if (route === 'POST /pay') {
    const { body } = await readRequest(request);
    return pay(new URLSearchParams(new TextDecoder().decode(body)));
  }
  if (route === 'GET /return') return comeBack(searchParams.get('payment_id') ?? '');
  if (route === 'GET /') return home(searchParams.get('locale') === 'fa' ? 'fa' : 'en');
  return [404, say('en', 'unknown')];
};

const failed = (error: unknown): Answer => {
  if (!(error instanceof SignatureError)) {
    console.error(error);
    return [500, '']; // Not accepted, so the service sends it again.
  }
  if (error.reason === 'mismatch') console.error(error.message);
  return [error.status, error.message];
};

const send = (response: ServerResponse, [status, body, headers = {}]: Answer) => {
  const type = body.startsWith('<') ? 'text/html' : 'text/plain';
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(body);
};

const serve = () => {
  createServer((request, response) => {
    void answer(request)
      .catch(failed)
      .then((sent) => send(response, sent))
      // Unread bytes are dropped: a sender that is cut off would not see the answer.
      .then(() => request.resume());
  }).listen(Number(port), '127.0.0.1', () => console.log(`The shop: http://127.0.0.1:${port}/`));
  const every = () =>
    void catchUp().catch(({ message }: Error) =>
      console.error(`Could not catch up, and tries again in an hour: ${message}`),
    );
  every(); // what came while the shop was down
  setInterval(every, hour);
};

const [command = 'serve', orderId = ''] = process.argv.slice(2);
if (command === 'serve') serve();
else if (command === 'catch-up') await catchUp();
else if (command === 'refund') await refund(orderId);
else throw new Error('node shop.ts [serve | catch-up | refund ORDER]');
