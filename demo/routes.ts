import { randomBytes, randomUUID } from 'node:crypto';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import { getRawBody } from 'raw-body';
import type { Connection } from './connection.ts';
import { createLiveStreams } from './live.ts';
import { orderPage } from './order-page.ts';
import { isOpen, type Order, type Orders } from './orders.ts';
import { ordersPage, shopPage } from './pages.ts';
import type { PaymentsClient } from './payments-client.ts';
import { currency, type Product, productOf } from './products.ts';
import { guard, show, showMessage } from './show.ts';
import { createWebhookReceiver } from './webhook.ts';

export interface Deps {
  payments: PaymentsClient;
  orders: Orders;
  connection: Pick<Connection, 'webhookSecret' | 'workflowUrlOf'>;
  log: (line: string) => void;
}

/** The shop as a Koa application; `close` ends the pages' live streams. */
export const createShop = (deps: Deps) => {
  const streams = createLiveStreams(deps.orders);
  const buying = buyingRoutes(deps);
  const orders = orderRoutes(deps);
  const service = serviceRoutes(deps, streams.open);
  const app = new Koa().use(guard);
  for (const router of [buying, orders, service])
    app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A browser that leaves a page breaks its live stream off, which is no news.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') deps.log(error.stack ?? error.message);
  });
  return { app, close: streams.close };
};

/** What the payer does: looks, buys, and comes back. */
const buyingRoutes = ({ payments, orders, connection }: Deps) => {
  /** What this process has not seen the service knows. */
  const learn = async (paymentId: string): Promise<Order | undefined> => {
    const payment = await payments.get(paymentId);
    return payment && orders.add(payment);
  };

  return new Router()
    .get('/', (ctx) => show(ctx, { title: 'Shop', content: shopPage() }))
    .post('/buy', async (ctx) => {
      const form = new URLSearchParams(await getRawBody(ctx.req, { limit: '4kb', encoding: true }));
      const product = productOf(form.get('product'));
      if (!product) return showMessage(ctx, 404, 'The shop does not have that.');
      const order = newOrder(product);
      // One key per order: however often the call is repeated, it makes one payment.
      const payment = await payments.create(order, randomUUID());
      orders.add(payment);
      ctx.redirect(payment.checkout_url ?? `/orders/${order.order_id}`);
      ctx.status = 303;
    })
    .get('/return', async (ctx) => {
      const { payment_id: paymentId, order_id: orderId, status } = ctx.query;
      const order =
        typeof paymentId === 'string'
          ? (orders.ofPayment(paymentId) ?? (await learn(paymentId)))
          : undefined;
      if (!order || order.orderId !== orderId)
        return showMessage(ctx, 404, 'The shop knows no such order.');
      const hint = typeof status === 'string' ? status.slice(0, 40) : '';
      await showOrder(ctx, { order, hint, orders, connection });
    });
};

const newOrder = ({ id, name, amount }: Product) => ({
  order_id: `C-${randomBytes(4).toString('hex').toUpperCase()}`,
  amount,
  currency,
  description: name,
  metadata: { item: name, product: id },
});

const orderRoutes = ({ orders, connection }: Deps) =>
  new Router()
    .get('/orders', (ctx) => {
      const list = orders.list();
      const content = ordersPage({ orders: list, version: orders.version() });
      return show(ctx, { title: 'Orders', content, live: { reloads: list.some(isOpen) } });
    })
    .get('/orders/:orderId.json', (ctx) => {
      const order = orders.find(ctx.params['orderId'] ?? '');
      ctx.status = order ? 200 : 404;
      ctx.body = order ? presentOrder(order) : { error: 'The shop knows no such order.' };
    })
    .get('/orders/:orderId', async (ctx) => {
      const order = orders.find(ctx.params['orderId'] ?? '');
      if (!order) return showMessage(ctx, 404, 'The shop knows no such order.');
      await showOrder(ctx, { order, orders, connection });
    });

interface OrderToShow extends Pick<Deps, 'orders' | 'connection'> {
  order: Order;
  hint?: string;
}

const showOrder = (ctx: Context, { order, hint, orders, connection }: OrderToShow) =>
  show(ctx, {
    title: order.item,
    content: orderPage({
      order,
      version: orders.version(),
      workflowUrl: connection.workflowUrlOf(order.paymentId),
      hint,
    }),
    live: { reloads: isOpen(order) || order.webhook === undefined },
  });

const presentOrder = ({ orderId, paymentId, status, webhook }: Order) => ({
  order_id: orderId,
  payment_id: paymentId,
  status,
  webhook: webhook
    ? {
        verified: true,
        received_at: webhook.receivedAt.toISOString(),
        times: webhook.times,
        headers: webhook.headers,
        body: webhook.rawBody,
      }
    : null,
});

/** What machines call: the payment service its webhook, open pages their stream of changes. */
const serviceRoutes = (
  { orders, connection, log }: Deps,
  openStream: ReturnType<typeof createLiveStreams>['open'],
) => {
  const receive = createWebhookReceiver({ orders, secret: connection.webhookSecret });
  return new Router()
    .post('/webhook', async (ctx) => {
      const reply = await receive(ctx.req);
      ctx.status = reply.status;
      if (reply.status === 204) return;
      log(`The shop refused a webhook: ${reply.message}`);
      ctx.body = { error: reply.message };
    })
    .get('/events', (ctx) => {
      const stream = openStream();
      ctx.status = stream ? 200 : 503;
      ctx.type = 'text/event-stream';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = stream ?? '';
    });
};
