import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, DemoError, readConnection } from './connection.ts';
import { createOrders, type Orders } from './orders.ts';
import { createPaymentsClient, type PaymentsClient } from './payments-client.ts';
import { createShop } from './routes.ts';

/** Less than the stack waits for the shop. */
const stopLimitMs = 500;

const start = async (connection: Connection): Promise<() => Promise<void>> => {
  const orders = createOrders();
  const payments = createPaymentsClient(connection);
  const { app, close } = createShop({ payments, orders, connection, log: console.error });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  await listen(server, new URL(connection.shopUrl));
  void recall(orders, payments);
  return async () => {
    close();
    // Requests in flight may end; whoever keeps a connection longer is cut off.
    setTimeout(() => server.closeAllConnections(), stopLimitMs).unref();
    await new Promise((resolve) => server.close(resolve));
  };
};

/** A restart forgets orders, the service does not. It may start at the same time: it is asked again. */
const recall = async (orders: Orders, payments: PaymentsClient) => {
  for (let tries = 1; ; tries += 1) {
    try {
      return orders.recall(await payments.list());
    } catch (error) {
      if (tries === recallTries)
        return console.error('The shop does not know its old orders:', error);
      await sleep(1_000);
    }
  }
};
const recallTries = 30;

/** @throws DemoError when the address is not on this machine, or taken */
const listen = (server: Server, { hostname, port, origin }: URL) =>
  new Promise<void>((resolve, reject) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    if (!['127.0.0.1', '::1', 'localhost'].includes(host))
      return reject(new DemoError(`The demo shop listens on this machine only, not on ${origin}.`));
    server.once('error', (error) =>
      reject(new DemoError(`The demo shop cannot listen on ${origin}: ${error.message}`)),
    );
    server.listen({ host, port: Number(port || 80) }, resolve);
  });

const run = async (connectionFile: string | undefined) => {
  if (connectionFile === undefined) throw new DemoError('Usage: node demo/shop.ts CONNECTION_FILE');
  let stopping: Promise<void> | undefined;
  const stop = await start(readConnection(connectionFile));
  const shutDown = () => {
    stopping ??= stop().finally(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, shutDown);
  // A shop whose parent is gone has nobody to stop it later.
  if (process.send) process.on('disconnect', shutDown);
  process.send?.('ready');
};

try {
  await run(process.argv[2]);
} catch (error) {
  console.error(error instanceof DemoError ? error.message : error);
  process.exit(1);
}
