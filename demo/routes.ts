import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Router } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import {
  ApiError,
  type CreatePayment,
  type CreateRefund,
  type Gateway,
  type GatewayList,
  type ListGateways,
  type Payment,
  PaymentsError,
  type RequestOptions,
  SignatureError,
  webhooks,
} from '../client/src/index.ts';
import type { Inbox } from '../client/src/inbox.ts';
import type { Connection } from './connection.ts';
import { contentSecurityPolicy, layout, type Page } from './layout.ts';
import { createLiveStreams } from './live.ts';
import { type Mail, mailboxPage } from './mailbox.ts';
import { orderPage, orderPath } from './order-page.ts';
import { isOpen, type Order, type Orders, type RefundState } from './orders.ts';
import { messagePage, ordersPage, shopPage } from './pages.ts';
import { currency, findProduct, type Product } from './products.ts';

/** The calls of the client package that the shop makes. */
export interface PaymentCalls {
  create: (payment: CreatePayment) => Promise<Payment>;
  get: (paymentId: string) => Promise<Payment>;
  refunds: {
    create: (
      paymentId: string,
      refund: CreateRefund,
      options: { idempotencyKey: string },
    ) => PromiseLike<RefundState>;
  };
}

export interface Deps {
  payments: PaymentCalls;
  /** Without it the payer has no choice, as with one gateway alone. */
  gateways?: {
    list: (query: ListGateways, options: RequestOptions) => PromiseLike<GatewayList>;
  };
  orders: Orders;
  inbox: Pick<Inbox, 'receive'>;
  connection: Pick<Connection, 'shopUrl' | 'workflowUrl'>;
  /** Mails of the service, newest first. */
  mails?: () => readonly Mail[];
  log: (line: string) => void;
}

/** The shop as a Koa application. `close` ends the live streams of open pages. */
export const createShop = (deps: Deps) => {
  const streams = createLiveStreams(deps.orders);
  const app = new Koa().use(guard).use(ownRequests(new URL(deps.connection.shopUrl)));
  for (const router of [payerRoutes(deps), orderRoutes(deps), serviceRoutes(deps, streams.open)])
    app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A browser breaks off the live stream of a page that it leaves.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') deps.log(error.stack ?? error.message);
  });
  return { app, close: streams.close };
};

/** Shows failures of the service as a page, and lets pages load nothing from elsewhere. */
const guard: Middleware = async (ctx, next) => {
  ctx.set({
    'Content-Security-Policy': contentSecurityPolicy,
    // Under a stricter one a browser names no origin with a form.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  try {
    await next();
    // A 405 is, for instance, the address of a failed purchase, opened again.
    if ((ctx.status === 404 || ctx.status === 405) && !ctx.body)
      await showMessage(ctx, ctx.status, 'There is no such page.');
  } catch (error) {
    if (!(error instanceof PaymentsError) || error instanceof SignatureError) throw error;
    await showMessage(ctx, 502, error.message);
  }
};

/**
 * The shop has no login: a web page whose name is bound to this machine could read its mailbox, and a form of another site
 * could refund an order.
 */
const ownRequests =
  ({ host, origin }: URL): Middleware =>
  (ctx, next) => {
    if (ctx.host !== host) {
      ctx.status = 421;
      ctx.body = `The shop is at ${origin}\n`;
      return;
    }
    const site = ctx.get('sec-fetch-site');
    const from = ctx.get('origin');
    const isForeign = site === '' ? from !== '' && from !== origin : site !== 'same-origin';
    if (!isForeign || ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    return showMessage(ctx, 403, 'This request comes from another site.');
  };

const show = async (ctx: Context, page: Omit<Page, 'path'>): Promise<void> => {
  ctx.type = 'html';
  ctx.set('Cache-Control', 'no-store');
  ctx.body = String(await layout({ ...page, path: ctx.path }));
};

const titles = {
  403: 'Not from there',
  404: 'Not here',
  405: 'Not here',
  409: 'Not now',
  502: 'The payment service reported a problem',
};

const showMessage = (ctx: Context, status: keyof typeof titles, message: string): Promise<void> => {
  ctx.status = status;
  const title = titles[status];
  return show(ctx, { title, content: messagePage({ title, message }) });
};

/** The payer looks, buys, and comes back. */
const payerRoutes = (deps: Deps) => {
  const { payments, gateways, orders } = deps;
  const find = async (paymentId: string): Promise<Order | undefined> => {
    const known = orders.findByPayment(paymentId);
    if (known) return known;
    try {
      orders.add(await payments.get(paymentId));
      return orders.findByPayment(paymentId);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'PAYMENT_NOT_FOUND') return undefined;
      throw error;
    }
  };

  /** The gateways that a payer may choose. A shop without an answer sells all the same, and soon. */
  const findChoices = async (): Promise<Gateway[]> => {
    try {
      const { data = [] } = (await gateways?.list({ currency }, soon)) ?? {};
      return data.filter(({ answers }) => answers);
    } catch (error) {
      if (error instanceof PaymentsError) return [];
      throw error;
    }
  };

  return new Router()
    .get('/', async (ctx) => show(ctx, { title: 'Shop', content: shopPage(await findChoices()) }))
    .post('/buy', async (ctx) => {
      const { body } = await webhooks.readRequest(ctx.req);
      const form = new URLSearchParams(Buffer.from(body).toString());
      const product = findProduct(form.get('product'));
      if (!product) return showMessage(ctx, 404, 'The shop does not have that.');
      const order = newOrder(product);
      const gateway = form.get('gateway') ?? '';
      let payment: Payment;
      try {
        payment = await payments.create(gateway === '' ? order : { ...order, gateway });
      } catch (error) {
        if (gateway === '' || !isRefusal(error)) throw error;
        // The page was old.
        return showMessage(ctx, 409, 'That gateway takes no payment now. Choose another one.');
      }
      orders.add(payment);
      ctx.redirect(payment.checkout_url ?? `/orders/${order.order_id}`);
      ctx.status = 303;
    })
    .get('/return', async (ctx) => {
      const { payment_id: paymentId, order_id: orderId, status } = ctx.query;
      const order =
        typeof paymentId === 'string' && paymentId !== '' ? await find(paymentId) : undefined;
      if (!order || order.orderId !== orderId)
        return showMessage(ctx, 404, 'The shop knows no such order.');
      await showOrder(ctx, deps, order, typeof status === 'string' ? status.slice(0, 40) : '');
    });
};

/** A payer does not wait for the list. */
const soon = { timeoutMs: 1_000, maxRetries: 0 };

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && ['VALIDATION_FAILED', 'GATEWAY_NOT_ALLOWED'].includes(error.code);

const newOrder = ({ id, name, amount }: Product): CreatePayment => ({
  order_id: `C-${randomBytes(4).toString('hex').toUpperCase()}`,
  amount,
  currency,
  description: name,
  metadata: { item: name, product: id },
});

const orderRoutes = (deps: Deps) => {
  const { orders, payments } = deps;
  return new Router()
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
    .post('/orders/:orderId/refund', async (ctx) => {
      const order = orders.find(ctx.params['orderId'] ?? '');
      if (!order) return showMessage(ctx, 404, 'The shop knows no such order.');
      // One refund for each order, however often somebody clicks.
      const options = { idempotencyKey: `refund-${order.orderId}` };
      orders.keepRefund(await payments.refunds.create(order.paymentId, {}, options));
      ctx.redirect(orderPath(order));
      ctx.status = 303;
    })
    .get('/orders/:orderId', async (ctx) => {
      const order = orders.find(ctx.params['orderId'] ?? '');
      if (!order) return showMessage(ctx, 404, 'The shop knows no such order.');
      await showOrder(ctx, deps, order);
    });
};

const showOrder = (ctx: Context, { orders, connection }: Deps, order: Order, hint?: string) =>
  show(ctx, {
    title: order.item,
    content: orderPage({
      order,
      hint,
      version: orders.version(),
      workflowUrl: connection.workflowUrl(order.paymentId),
    }),
    live: {
      reloads: isOpen(order) || order.webhook === undefined || order.refunds.pending > 0,
    },
  });

const presentOrder = ({ orderId, paymentId, status, webhook }: Order) => ({
  order_id: orderId,
  payment_id: paymentId,
  status,
  webhook: webhook
    ? {
        verified: true,
        received_at: webhook.receivedAt,
        times: webhook.times,
        headers: webhook.headers,
        body: webhook.rawBody,
      }
    : null,
});

/** The service sends its webhooks, and open pages read their stream of changes. */
const serviceRoutes = (
  { orders, inbox, mails = () => [], log }: Deps,
  openStream: ReturnType<typeof createLiveStreams>['open'],
) => {
  const receive = async (ctx: Context) => {
    try {
      const request = await webhooks.readRequest(ctx.req);
      const { event, isFirst } = await inbox.receive(request);
      const webhook = {
        receivedAt: new Date().toISOString(),
        headers: plainHeaders(ctx.req),
        rawBody: Buffer.from(request.body).toString('utf8'),
      };
      if (event.event.startsWith('payment.'))
        orders.keepWebhook(event.payment_id, webhook, isFirst);
      ctx.status = 204;
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      log(`The shop rejected a webhook: ${error.message}`);
      ctx.status = error.reason === 'size' ? 413 : 400;
      ctx.body = { error: error.message };
    }
  };
  const router = new Router()
    .post('/webhook', receive)
    .get('/mailbox', (ctx) => show(ctx, { title: 'Mailbox', content: mailboxPage(mails()) }));
  return router.get('/events', (ctx) => {
    const stream = openStream();
    ctx.status = stream ? 200 : 503;
    ctx.type = 'text/event-stream';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = stream ?? '';
  });
};

const plainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
