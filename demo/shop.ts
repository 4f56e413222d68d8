import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Payments } from '../client/src/index.ts';
import { DemoError, readConnection } from './connection.ts';
import { createOrders, type Orders } from './orders.ts';
import { createShop } from './routes.ts';

/** Less than the stack waits for the shop. */
const stopLimitMs = 500;

const start = async (connectionFile: string | undefined): Promise<() => Promise<void>> => {
  if (connectionFile === undefined) throw new DemoError('Usage: node demo/shop.ts CONNECTION_FILE');
  const connection = readConnection(connectionFile);
  const orders = createOrders();
  const { apiBaseUrl: baseUrl, token } = connection;
  const { payments } = new Payments({ baseUrl, token, userAgent: 'demo-shop' });
  const { app, close } = createShop({ payments, orders, connection, log: console.error });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(Number(new URL(connection.shopUrl).port), '127.0.0.1');
  await once(server, 'listening');
  void loadOrders(orders, payments);
  return async () => {
    close();
    // Requests in flight may finish; connections that stay open are cut.
    setTimeout(() => server.closeAllConnections(), stopLimitMs).unref();
    await new Promise((resolve) => server.close(resolve));
  };
};

const maxLoadAttempts = 30;

/** A restart loses the orders, and the service has them. The API can be starting at the same time. */
const loadOrders = async (orders: Orders, payments: Payments['payments']) => {
  for (let attempts = 1; ; attempts += 1)
    try {
      return orders.load((await payments.list({ per_page: 100 }).page()).data);
    } catch (error) {
      if (attempts === maxLoadAttempts)
        return console.error('The shop could not load its earlier orders:', error);
      await sleep(1_000);
    }
};

try {
  const stop = await start(process.argv[2]);
  const shutDown = () => void stop().then(() => process.exit(0));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, shutDown);
  // The stack has gone, and nothing else would stop the shop.
  if (process.send) process.on('disconnect', shutDown);
  process.send?.('ready');
} catch (error) {
  console.error(error instanceof DemoError ? error.message : error);
  process.exit(1);
}
