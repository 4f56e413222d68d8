import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../stack/ports.ts';
import { packAndInstall } from '../../support/client/install.ts';
import type { StartedReceiver } from '../../support/client/receivers.ts';
import {
  aPage,
  breakOff,
  failure,
  json,
  type Reply,
  token,
} from '../../support/client/scripted-server.ts';
import { type ShopOfLanguage, startFront, useShops } from '../../support/client/shops.ts';
import { forFile } from '../../support/for-file.ts';
import { useProgram } from '../../support/runner/use-program.ts';
import { answered } from '../../support/service/journey.ts';
import { useService } from '../../support/service/service.ts';
import { listenForTest } from '../../support/servers/listen.ts';
import { until } from '../../support/until.ts';

/*
 * The shops of docs/first-payment, as they stand, at the service: a payer's browser, the service's webhooks, and the
 * commands of the pages.
 */

const { application } = await packAndInstall();
const service = await forFile(useService());

type Make = Awaited<ReturnType<ShopOfLanguage['find']>>;

const secretOfNobody = `whsec_${'s'.repeat(43)}`;
const orderOfNobody = `order-${'0'.repeat(16)}`;
const openPayment = {
  payment_id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  order_id: orderOfNobody,
  status: 'pending',
  failure_code: null,
  checkout_url: 'http://127.0.0.1:9/checkout',
};
const hidden = (page: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
/** The fields of a form of a shop's page: of the order's form, or else of the first one. */
const formOf = (page: string, order = '') => {
  const forms = page.split('<form').slice(1);
  const form = forms.find((each) => hidden(each, 'order') === order) ?? forms[0] ?? '';
  const fields = ['order', 'try', 'locale'].map((name) => [name, hidden(form, name)]);
  return Object.fromEntries(fields) as { order: string; try: string; locale: string };
};

/** What a payer's browser does with a shop. */
const aBrowser = (url: string) => {
  const open = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init });
    const { status, headers } = response;
    return { status, location: headers.get('location') ?? '', text: await response.text() };
  };
  return {
    open,
    form: async (locale = 'en', order = '') =>
      formOf((await open(`/?locale=${locale}`)).text, order),
    send: (fields: Record<string, string>) =>
      open('/pay', { method: 'POST', body: new URLSearchParams(fields) }),
  };
};

/** A shop that runs, with an application of its own and a front before its webhook. */
const aShop = async (make: Make) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const front = await startFront(`${url}/webhook`);
  const {
    journey,
    token: own,
    secret,
    application: slug,
  } = await service.anApplication({
    ordersPaidOnce: true,
    callbackUrls: [`${url}/return`],
    webhookUrl: front.url,
  });
  await service.sql`update applications set refund_events = true where slug = ${slug}`;
  const shop = await make({ token: own, secret, paymentsUrl: service.url, port });
  let running: StartedReceiver | undefined = await shop.start();
  const kill = async () => {
    await running?.stop();
    running = undefined;
  };
  onTestFinished(kill);
  const browser = aBrowser(url);
  const paymentIn = (location: string) => /PAY_\w{26}/.exec(location)?.[0] ?? '';

  const self = {
    journey,
    front,
    browser,
    run: shop.run,
    kill,
    async start() {
      running = await shop.start();
    },
    output: () => running?.output() ?? '',
    order: shop.order,
    becomes: (id: string, status: string) =>
      until(`${id} is ${status}`, () => self.order(id)?.status === status),
    /** The payer begins to pay, a new order or this one, and is at the gateway. */
    async begin(order?: string, locale = 'en') {
      const fields = await browser.form(locale, order);
      const sent = await browser.send(fields);
      expect(sent.status, sent.text).toBe(303);
      const payment = paymentIn(sent.location);
      expect(sent.location).toBe(`${service.url}/api/v1/payments/${payment}/checkout`);
      const checkout = await answered(() => journey.checkout(payment));
      expect(checkout.status, checkout.text).toBe(302);
      return { order: fields.order, payment };
    },
    /** The payer comes back to the shop, and sees its page. */
    async comeBack(payment: string) {
      const { headers } = await journey.comeBack(payment);
      const location = headers.get('location') ?? '';
      expect(location).toContain(`${url}/return?`);
      return (await browser.open(location.replace(url, ''))).text;
    },
    /** The payer chooses, and comes back until this is on the page. */
    async end(payment: string, action: string, shows: string) {
      await journey.choose(payment, action);
      return until(`the page says ${shows}`, async () => {
        const page = await self.comeBack(payment);
        return page.includes(shows) && page;
      });
    },
    /** The payer buys a new order, and pays it. */
    async buy() {
      const begun = await self.begin();
      await self.end(begun.payment, 'pay', 'Your order is paid. Thank you.');
      await self.becomes(begun.order, 'paid');
      return begun;
    },
    /** The only request about a payment that has come so far. */
    request: (payment: string) => until('its webhook', () => front.of(payment)[0]),
  };
  return self;
};

const shops = useShops(application);

describe.each(shops)('the shop in $language', ({ find }) => {
  const make = useProgram(find);

  it('lets a payer whose card is declined try again, and shows the order as paid', async () => {
    const shop = await aShop(make());
    const { order, payment } = await shop.begin();
    const pending = (await shop.browser.open(`/return?payment_id=${payment}`)).text;
    expect(pending).toContain('The payment is not finished.');
    expect(pending).toContain(`href="${service.url}/api/v1/payments/${payment}/checkout"`);

    const failed = await shop.end(payment, 'refuse', 'The payment did not go through.');
    expect(failed).toContain('<html lang="en" dir="ltr">');
    expect(formOf(failed).order).toBe(order);
    await shop.becomes(order, 'failed');

    const again = await shop.begin(order);
    expect(again).toEqual({ order, payment: expect.not.stringMatching(payment) });
    await shop.end(again.payment, 'pay', 'Your order is paid. Thank you.');
    await shop.becomes(order, 'paid');
    expect(shop.order(order)?.payment_id).toBe(again.payment);

    // The failure arrives once more, and late.
    const late = await shop.request(payment);
    expect(await shop.front.forward(late)).toBe(204);
    expect(shop.order(order)?.status).toBe('paid');
    expect((await shop.browser.send({ order, try: '0'.repeat(16), locale: 'en' })).text).toContain(
      'Your order is paid. Thank you.',
    );
  });

  it('tells the payer of a second tab that the order is paid, and the money goes back', async () => {
    const shop = await aShop(make());
    const first = await shop.begin();
    const second = await shop.begin(first.order);
    expect(second.payment).not.toBe(first.payment);
    await shop.end(first.payment, 'pay', 'Your order is paid. Thank you.');
    await shop.becomes(first.order, 'paid');
    await until('the second one ends', async () => {
      const { json: payment } = await shop.journey.get(second.payment);
      return payment['failure_code'] === 'order_already_paid';
    });
    expect(await shop.comeBack(second.payment)).toContain(
      'The money of your second payment goes back to you by itself.',
    );
    await until('the shop knows', () => shop.output().includes('this money goes back'));
    expect(shop.order(first.order)).toMatchObject({ status: 'paid', payment_id: first.payment });
  });

  it('makes one payment of a form that is sent twice', async () => {
    const shop = await aShop(make());
    const form = await shop.browser.form();
    const [once, twice] = [await shop.browser.send(form), await shop.browser.send(form)];
    expect(once.status).toBe(303);
    expect(twice.location).toBe(once.location);
  });

  it('takes a webhook that comes twice once', async () => {
    const shop = await aShop(make());
    const { order, payment } = await shop.buy();
    const sent = await shop.request(payment);
    expect(await shop.front.forward(sent)).toBe(204);
    expect(shop.output().match(new RegExp(`Order ${order} is paid`, 'g'))).toHaveLength(1);
  });

  it('keeps an event that was stored before a kill, and takes it again without effect', async () => {
    const shop = await aShop(make());
    const { order, payment } = await shop.begin();
    shop.front.answerNothing(async (sent) => {
      void shop.front.forward(sent);
      await shop.becomes(order, 'paid');
      await shop.kill();
    });
    await shop.journey.choose(payment, 'pay');
    await shop.journey.verify(payment);
    const sent = await shop.request(payment);
    await until('the shop is dead', () => shop.output() === '');
    shop.front.answerNothing();
    await shop.start();
    expect(await shop.front.forward(sent)).toBe(204);
    expect(shop.order(order)).toMatchObject({ status: 'paid', payment_id: payment });
    expect(shop.output()).not.toContain('is paid');
  });

  it('catches up with three orders that were paid while it was down', async () => {
    const shop = await aShop(make());
    const begun = [await shop.begin(), await shop.begin(), await shop.begin()];
    await shop.kill();
    for (const { payment } of begun) await shop.journey.choose(payment, 'pay');
    for (const { payment } of begun) {
      await until('it is paid', async () => {
        await shop.journey.verify(payment);
        return (await shop.journey.get(payment)).json['status'] === 'paid';
      });
      await shop.request(payment);
    }
    expect(await shop.run('catch-up')).toContain('Caught up: 3');
    expect(begun.map(({ order }) => shop.order(order)?.status)).toEqual(['paid', 'paid', 'paid']);
    expect(await shop.run('catch-up')).toContain('Caught up: 0');
    // The webhook of one of them comes after all.
    await shop.start();
    expect(await shop.front.forward(await shop.request(begun[0]!.payment))).toBe(204);
    expect(shop.output()).not.toContain('payment.paid');
  });

  it('has Persian pages, from the right to the left, for a payer who reads Persian', async () => {
    const shop = await aShop(make());
    const { payment } = await shop.begin(undefined, 'fa');
    const { headers } = await shop.journey.call('GET', `/api/v1/sandbox/${payment}`);
    expect(headers.get('content-language')).toBe('fa');
    const page = await shop.end(payment, 'pay', 'سفارش شما پرداخت شد.');
    expect(page).toContain('<html lang="fa" dir="rtl">');
  });

  it('gives an order back in full, and sells it again', async () => {
    const shop = await aShop(make());
    const { order, payment } = await shop.buy();
    expect(await shop.run('refund', order)).toMatch(/^Refund \S+ of order-/);
    await shop.becomes(order, 'refunded');
    await expect(shop.run('refund', order)).rejects.toThrow(`${order} is no paid order`);
    const { json: refunds } = await shop.journey.request(
      'GET',
      `/api/v1/payments/${payment}/refunds`,
    );
    expect(refunds['data']).toHaveLength(1);

    const again = await shop.begin(order);
    await shop.end(again.payment, 'pay', 'Your order is paid. Thank you.');
    await shop.becomes(order, 'paid');
    expect(shop.order(order)?.payment_id).toBe(again.payment);
  });

  it('refuses what is no form of its own, and a payment that is not its own', async () => {
    const shop = await aShop(make());
    const good = await shop.browser.form();
    for (const changed of [{ order: "order-1'" }, { order: '' }, { try: '../..' }])
      expect((await shop.browser.send({ ...good, ...changed })).status).toBe(400);
    for (const id of ['', 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP', '../me', '%00'])
      expect((await shop.browser.open(`/return?payment_id=${id}`)).status).toBe(404);
  });

  /** A shop at a service that answers the creates in turn, and has this payment. */
  const atScript = async (creates: readonly Reply[], payment: object = {}) => {
    const keys: string[] = [];
    const server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      void buffer(request).then(() => {
        if (url.startsWith('/api/v1/events')) return json(200, aPage([], null))(response);
        if (method === 'GET') return json(200, { ...openPayment, ...payment })(response);
        keys.push(String(headers['idempotency-key']));
        return creates[Math.min(keys.length, creates.length) - 1]?.(response);
      });
    });
    const paymentsUrl = `http://127.0.0.1:${await listenForTest(server)}`;
    const shop = await make()({ token, secret: secretOfNobody, paymentsUrl });
    const started = await shop.start();
    onTestFinished(started.stop);
    const browser = aBrowser(shop.url);
    return { shop, keys, browser, form: await browser.form() };
  };
  const made = json(201, openPayment);

  it('repeats a create that gets no answer, with the same key', async () => {
    const { keys, browser, form } = await atScript([breakOff, failure(503, 'DOWN'), made]);
    const sent = await browser.send(form);
    expect([sent.status, sent.location]).toEqual([303, openPayment.checkout_url]);
    expect(keys).toEqual(Array.from({ length: 3 }, () => `${form.order}-${form.try}`));
  });

  it('gives up after three tries, and offers a form with the same key', async () => {
    const { keys, browser, form } = await atScript([failure(500, 'INTERNAL')]);
    const { status, text } = await browser.send(form);
    expect(status).toBe(503);
    expect(text).toContain('Paying is not possible at the moment.');
    expect(formOf(text)).toEqual(form);
    expect(keys).toHaveLength(3);
  });

  it('gives up at once where the service has no room for long', async () => {
    const full = failure(429, 'RATE_LIMITED', { 'retry-after': '40' });
    const { keys, browser, form } = await atScript([full]);
    expect((await browser.send(form)).status).toBe(503);
    expect(keys).toHaveLength(1);
  });

  it('repeats no create that was refused, and shows a paid order as paid', async () => {
    const { keys, browser, form } = await atScript([
      failure(422, 'VALIDATION_FAILED'),
      failure(409, 'ORDER_ALREADY_PAID'),
    ]);
    expect((await browser.send(form)).status).toBe(503);
    const paid = await browser.send(form);
    expect([paid.status, paid.text]).toEqual([200, expect.stringContaining('Your order is paid.')]);
    expect(keys).toHaveLength(2);
  });

  it.each(['processing', 'a status of a later version'])(
    'asks a payer of a payment that is %s to wait, on a page that reloads',
    async (status) => {
      const { browser, form } = await atScript([made], { status, order_id: orderOfNobody });
      await browser.send({ ...form, order: orderOfNobody });
      const { text } = await browser.open(`/return?payment_id=${openPayment.payment_id}`);
      expect(text).toContain('Please do not pay again');
      expect(text).toContain('http-equiv="refresh"');
      expect(text).not.toContain('<form');
    },
  );
});
