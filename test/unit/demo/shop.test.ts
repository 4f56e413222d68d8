import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ApiError, type CreatePayment, type Gateway, Payments } from '../../../client/src/index.ts';
import { aPayment, anEvent, aRefund, aRefundEvent, aShop } from '../../support/demo/shop.ts';
import { listenForTest } from '../../support/servers/listen.ts';

/** The shop with an order that waits for its payment. */
const aShopWithOrder = async (...calls: Parameters<typeof aShop>) => {
  const shop = await aShop(...calls);
  shop.orders.add(aPayment());
  return shop;
};

const aShopWithPaidOrder = async (...calls: Parameters<typeof aShop>) => {
  const shop = await aShopWithOrder(...calls);
  await shop.webhook(anEvent());
  return shop;
};

describe('POST /buy', () => {
  it('keeps the status of a webhook that comes before the response', async () => {
    const shop = await aShop({
      create: async () => {
        await shop.webhook(anEvent({ event: 'payment.failed', status: 'failed' }));
        return aPayment();
      },
    });
    expect((await shop.buy('beans')).status).toBe(303);
    expect(shop.orders.find('C-1')).toMatchObject({ status: 'failed', webhook: { times: 1 } });
  });

  it('answers 404 for an unknown product', async () => {
    const shop = await aShop();
    expect((await shop.buy('yacht')).status).toBe(404);
    expect(shop.orders.list()).toEqual([]);
  });

  it('answers 502 with the message of the service', async () => {
    const shop = await aShop({
      create: async () => {
        throw new ApiError('Later <b>please</b>.', { code: 'INTERNAL', status: 500 });
      },
    });
    const answer = await shop.buy('beans');
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('Later &lt;b&gt;please&lt;/b&gt;.');
  });
});

const aGateway = (slug: string, own: Partial<Gateway> & { min?: number; step?: number } = {}) => {
  const { min = 1, step = 1, ...changes } = own;
  const terms = { currencies: [{ currency: 'EUR', min, max: 99_999, step }], refunds: null };
  const account = { slug, kind: 'sandbox', position: null, answers: true } as const;
  return { ...account, ...terms, expires_in: { min: 60, max: 3_600 }, ...changes };
};

/** The choices of each product. */
const choicesOf = (page: string) =>
  page
    .split('<li class="card">')
    .slice(1)
    .map((card) =>
      [...card.matchAll(/<option[^>]*>([^<]*)</g)].slice(1).map(([, slug = '']) => slug),
    );

describe('the choice of a gateway', () => {
  const choose = async (...data: Gateway[]) => {
    const shop = await aShop({}, { gateways: { list: async () => ({ data }) } });
    return choicesOf(await shop.page('/'));
  };

  it('has for each product the gateways that take its amount, and open payments', async () => {
    const silent = aGateway('silent', { answers: false });
    const dear = aGateway('dear', { min: 1_800 });
    const round = aGateway('round', { step: 100 });
    expect(await choose(aGateway('one'), silent, aGateway('two'), dear, round)).toEqual([
      ['one', 'two'],
      ['one', 'two', 'dear', 'round'],
      ['one', 'two', 'dear'],
    ]);
  });

  it.each([
    ['one gateway', [aGateway('one')]],
    ['one that opens payments', [aGateway('one'), aGateway('two', { answers: false })]],
    [
      'none that takes the amount',
      [aGateway('one', { min: 9_999 }), aGateway('two', { min: 9_999 })],
    ],
    ['no gateway', []],
  ])('is not there with %s', async (_, gateways) => {
    expect(await choose(...gateways)).toEqual([[], [], []]);
  });

  it('is not there while the service does not answer, and the shop sells all the same', async () => {
    const silent = createServer();
    const baseUrl = `http://127.0.0.1:${await listenForTest(silent)}`;
    const { gateways } = new Payments({ baseUrl, token: 'svc_test_none' });
    const shop = await aShop({}, { gateways });
    expect(choicesOf(await shop.page('/'))).toEqual([[], [], []]);
    expect((await shop.buy('beans')).status).toBe(303);
  });

  it('pins the payment; without one the service chooses', async () => {
    const created: CreatePayment[] = [];
    const shop = await aShop({
      create: async (payment) => {
        created.push(payment);
        return aPayment();
      },
    });
    for (const choice of [{ gateway: 'two' }, { gateway: '' }, {}]) await shop.buy('mug', choice);
    expect(created.map(({ gateway }) => gateway)).toEqual(['two', undefined, undefined]);
  });

  it.each(['VALIDATION_FAILED', 'GATEWAY_NOT_ALLOWED'])(
    'asks for another one after %s, as the page was old',
    async (code) => {
      const shop = await aShop({
        create: async () => {
          throw new ApiError('It has no gateway two in use.', { code, status: 422 });
        },
      });
      const answer = await shop.buy('mug', { gateway: 'two' });
      expect([answer.status, (await answer.text()).includes('Choose another one')]).toEqual([
        409,
        true,
      ]);
      expect((await shop.buy('mug')).status).toBe(502);
    },
  );
});

describe('POST /webhook', () => {
  it('updates the order, and shows the headers and the body', async () => {
    const shop = await aShopWithOrder();
    expect((await shop.webhook(anEvent())).status).toBe(204);
    expect(shop.orders.find('C-1')?.status).toBe('paid');
    expect(shop.log).toEqual([]);
    const page = await shop.page('/orders/C-1');
    expect(page).toContain('Signature verified');
    expect(page).toContain('x-service-signature');
    expect(page).toContain('&quot;event_id&quot;:&quot;e-1&quot;');
  });

  it('answers 400 for a signed body that is no event', async () => {
    const shop = await aShop();
    expect((await shop.webhook({ hello: 'world' })).status).toBe(400);
  });

  it('acts once on an event that comes again', async () => {
    const shop = await aShopWithPaidOrder();
    const again = await shop.webhook(anEvent({ status: 'failed' }));
    expect(again.status).toBe(204);
    expect(shop.orders.find('C-1')).toMatchObject({ status: 'paid', webhook: { times: 2 } });
  });

  it('adds an order that it lost in a restart', async () => {
    const shop = await aShop();
    expect((await shop.webhook(anEvent())).status).toBe(204);
    const answer = await fetch(`${shop.url}/orders/C-1.json`);
    expect(await answer.json()).toMatchObject({
      payment_id: 'PAY_1',
      status: 'paid',
      webhook: { verified: true, body: JSON.stringify(anEvent()) },
    });
  });

  it('shows an order as paid when one of its payments is paid and another expires', async () => {
    const shop = await aShopWithOrder();
    shop.orders.add(aPayment({ payment_id: 'PAY_2' }));
    await shop.webhook(anEvent({ payment_id: 'PAY_2', event_id: 'e-2' }));
    const expired = { event: 'payment.expired', status: 'expired' };
    expect((await shop.webhook(anEvent(expired))).status).toBe(204);
    expect(shop.orders.findByPayment('PAY_1')?.status).toBe('expired');
    expect(shop.orders.find('C-1')).toMatchObject({ paymentId: 'PAY_2', status: 'paid' });
    shop.orders.add(aPayment({ payment_id: 'PAY_3' }));
    const answer = await fetch(`${shop.url}/orders/C-1.json`);
    expect(await answer.json()).toMatchObject({ payment_id: 'PAY_2', status: 'paid' });
  });

  it('disputes a payment of another amount', async () => {
    const shop = await aShop();
    shop.orders.add(aPayment({ amount: 4250 }));
    await shop.webhook(anEvent());
    expect(shop.orders.find('C-1')?.status).toBe('disputed');
  });

  it.each([
    ['amount', { amount: 1 }],
    ['currency', { currency: 'IRR' as const }],
  ])('takes no payment of another %s for an order, by webhook or return', async (_, changes) => {
    const other = { payment_id: 'PAY_2', ...changes };
    const shop = await aShopWithOrder({
      get: async (id) => aPayment({ ...changes, payment_id: id, status: 'paid' }),
    });
    expect((await shop.webhook(anEvent({ ...other, event_id: 'e-2' }))).status).toBe(204);
    expect(await shop.page('/return?payment_id=PAY_3&order_id=C-1&status=paid')).not.toContain(
      'Thank you',
    );
    expect(shop.orders.findByPayment('PAY_2')?.status).toBe('disputed');
    expect(shop.orders.findByPayment('PAY_3')?.status).toBe('disputed');
    expect(shop.orders.find('C-1')).toMatchObject({ paymentId: 'PAY_1', status: 'pending' });
    // The order's own payment pays it all the same.
    await shop.webhook(anEvent());
    expect(shop.orders.find('C-1')).toMatchObject({ paymentId: 'PAY_1', status: 'paid' });
  });

  it.each([
    ['a live payment', { test: false }],
    ['a kind that it does not know', { event: 'payment.reversed', status: 'reversed' }],
  ])('accepts the event of %s, and changes nothing', async (_, changes) => {
    const shop = await aShopWithOrder();
    expect((await shop.webhook(anEvent(changes))).status).toBe(204);
    expect(shop.orders.find('C-1')).toMatchObject({ status: 'pending' });
  });

  it('never takes a paid payment back', async () => {
    const shop = await aShopWithPaidOrder();
    for (const status of ['failed', 'cancelled', 'expired'])
      await shop.webhook(anEvent({ event: `payment.${status}`, event_id: status, status }));
    expect(shop.orders.find('C-1')?.status).toBe('paid');
  });
});

describe('GET /return', () => {
  it('shows the status of the order, not the status in the address', async () => {
    const shop = await aShopWithOrder();
    const page = await shop.page('/return?payment_id=PAY_1&order_id=C-1&status=paid');
    expect(page).toContain('Waiting for payment');
    expect(page).toContain('only a hint');
    expect(page).not.toContain('Thank you');
  });

  it('reads an order that it lost in a restart from the service', async () => {
    const shop = await aShop({ get: async () => aPayment({ status: 'paid', checkout_url: null }) });
    expect(await shop.page('/return?payment_id=PAY_1&order_id=C-1&status=paid')).toContain(
      'Thank you',
    );
  });

  it('offers the payment only to payers who cannot have paid', async () => {
    const shop = await aShop();
    const isSent = async (path: string) => (await shop.page(path)).includes('Go to payment');
    const back = '/return?payment_id=PAY_1&order_id=C-1&status=';
    shop.orders.add(aPayment());
    expect(await isSent(`${back}pending`)).toBe(true);
    expect(await isSent('/orders/C-1')).toBe(true);
    for (const status of ['processing', 'paid', 'cancelled', ''])
      expect(await isSent(back + status)).toBe(false);
    shop.orders.add(aPayment({ payment_id: 'PAY_2', order_id: 'C-2', status: 'processing' }));
    expect(await isSent('/orders/C-2')).toBe(false);
  });

  it.each([
    '/return',
    '/return?payment_id=PAY_2&order_id=C-1&status=paid',
    '/return?payment_id=PAY_1&order_id=C-2&status=paid',
    '/return?payment_id=PAY_1&payment_id=PAY_1&order_id=C-1',
    '/orders/C-2',
    '/orders/C-2.json',
  ])('answers 404 for %s', async (path) => {
    const shop = await aShopWithOrder();
    expect((await fetch(shop.url + path)).status).toBe(404);
  });
});

it('escapes foreign text on every page', async () => {
  const shop = await aShop();
  const item = '<script>alert(1)</script>';
  shop.orders.add(aPayment({ order_id: item, metadata: { item }, failure_reason: item }));
  await shop.webhook(anEvent({ order_id: item, failure_reason: item, metadata: { item } }));
  const query = new URLSearchParams({ payment_id: 'PAY_1', order_id: item, status: item });
  const order = encodeURIComponent(item);
  for (const path of ['/orders', `/orders/${order}`, `/return?${String(query)}`]) {
    const page = await shop.page(path);
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&lt;script&gt;alert');
  }
});

it('shows a page with 405 at the address of a form', async () => {
  const shop = await aShop();
  const answer = await fetch(`${shop.url}/buy`);
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('POST');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await answer.text()).toContain('There is no such page.');
});

it('shows the date of an order, and a status that it does not know', async () => {
  const shop = await aShop();
  shop.orders.add(aPayment({ status: 'refunded' }));
  const page = await shop.page('/orders');
  expect(page).toContain('2026-11-20 10:41:37 UTC');
  expect(page).toMatch(/badge[^]*refunded/);
});

it('formats amounts of its own currency only', async () => {
  const shop = await aShopWithOrder();
  // ISO 4217 has two decimals, Intl shows none.
  shop.orders.add(aPayment({ payment_id: 'PAY_2', order_id: 'C-2', currency: 'HUF' }));
  expect(await shop.page('/orders/C-1')).toContain('<dd>€12.90</dd>');
  expect(await shop.page('/orders/C-2')).toContain('<dd>1290 HUF minor units</dd>');
});

describe('POST /orders/{order}/refund', () => {
  it('gives the money back once, and shows what becomes of it', async () => {
    const asked: unknown[] = [];
    const shop = await aShopWithPaidOrder({
      refunds: {
        create: async (payment_id, _, { idempotencyKey }) => {
          asked.push(idempotencyKey);
          return aRefund({ payment_id });
        },
      },
    });
    expect(await shop.page('/orders/C-1')).toContain('Give the money back');
    const refund = () =>
      fetch(`${shop.url}/orders/C-1/refund`, { method: 'POST', redirect: 'manual' });
    expect((await refund()).status).toBe(303);
    expect(await shop.page('/orders/C-1')).toContain('on its way');
    expect((await shop.webhook(aRefundEvent())).status).toBe(204);
    // A late response to the request changes nothing.
    await refund();
    expect(new Set(asked)).toEqual(new Set(['refund-C-1']));
    expect(shop.orders.find('C-1')).toMatchObject({
      status: 'paid',
      refunds: { succeeded: 1290, pending: 0, failed: 0 },
    });
    expect(await shop.page('/orders/C-1')).toContain('€12.90 given back');
  });

  it('leaves the order paid when a refund fails, and offers no second one', async () => {
    const shop = await aShopWithPaidOrder();
    await shop.webhook(aRefundEvent({ event: 'refund.failed', status: 'failed', sequence: 3 }));
    expect(shop.orders.find('C-1')?.status).toBe('paid');
    const page = await shop.page('/orders/C-1');
    expect(page).toContain('€12.90 not possible');
    expect(page).not.toContain('Give the money back');
  });

  it('adds up the refunds of a payment, and offers to give back the rest', async () => {
    const shop = await aShopWithPaidOrder();
    const part = (nth: number, amount: number, changes: object = {}) =>
      shop.webhook(
        aRefundEvent({ event_id: `e-2${nth}`, refund_id: `REFUND_${nth}`, amount, ...changes }),
      );
    await part(1, 1);
    expect(await shop.page('/orders/C-1')).toMatch(/€0.01 given back[^]*Give the money back/);
    await part(2, 289, { event: 'refund.created', status: 'pending', sequence: 1 });
    expect(await shop.page('/orders/C-1')).toContain('€0.01 given back, €2.89 on its way');
    await part(3, 1000);
    const page = await shop.page('/orders/C-1');
    expect(page).toContain('€10.01 given back, €2.89 on its way');
    expect(page).not.toContain('Give the money back');
  });

  it('acts on the event of a refund that happened last, in whatever order they come', async () => {
    const shop = await aShopWithPaidOrder();
    const failed = { event: 'refund.failed', event_id: 'e-3', status: 'failed', sequence: 3 };
    await shop.webhook(aRefundEvent(failed));
    await shop.webhook(aRefundEvent());
    expect(shop.orders.find('C-1')?.refunds).toEqual({ succeeded: 0, pending: 0, failed: 1290 });
  });
});

describe('a web page of somebody else', () => {
  /** The shop with one paid order, and the status of a request with these headers. */
  const aShopToAsk = async () => {
    const shop = await aShop();
    shop.orders.add(aPayment({ status: 'paid' }));
    const { host, origin, port } = new URL(shop.url);
    const ask = async (method: string, path: string, headers: OutgoingHttpHeaders) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return answer.resume().statusCode;
    };
    return { ask, host, origin, port };
  };

  it('reads nothing under a name that it has bound to this machine', async () => {
    const { ask, host, port } = await aShopToAsk();
    for (const path of ['/', '/orders', '/mailbox', '/orders/C-1.json']) {
      expect(await ask('GET', path, { host })).toBe(200);
      for (const other of ['evil.example', `evil.example:${port}`, `localhost:${port}`])
        expect(await ask('GET', path, { host: other }), other).toBe(421);
    }
  });

  it('sends no form, and links to the shop', async () => {
    const { ask, host, origin } = await aShopToAsk();
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      for (const path of ['/buy', '/orders/C-1/refund', '/webhook'])
        expect(await ask('POST', path, { host, ...headers }), JSON.stringify(headers)).toBe(403);
      expect(await ask('GET', '/return', { host, ...headers })).toBe(404);
    }
    for (const headers of [{ origin }, { origin: 'null', 'sec-fetch-site': 'same-origin' }, {}])
      expect(await ask('POST', '/orders/C-1/refund', { host, ...headers })).toBe(303);
  });
});
