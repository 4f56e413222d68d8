import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { createInbox, type Inbox } from '../client/src/inbox.ts';
import { Payments } from '../client/src/index.ts';
import { DemoError, readConnection } from './connection.ts';
import { startMailbox } from './mailbox.ts';
import { createOrders } from './orders.ts';
import { createShop } from './routes.ts';

/** Less than the stack waits for the shop. */
const stopLimitMs = 500;

const start = async (connectionFile: string | undefined): Promise<() => Promise<void>> => {
  if (connectionFile === undefined) throw new DemoError('Usage: node demo/shop.ts CONNECTION_FILE');
  const connection = readConnection(connectionFile);
  const orders = createOrders(join(dirname(connectionFile), 'shop.sqlite'));
  const { apiBaseUrl: baseUrl, token, webhookSecret: secret } = connection;
  const client = new Payments({ baseUrl, token, userAgent: 'demo-shop' });
  const { payments, gateways } = client;
  // The shop is as old as its service, so it has used the inbox for every event.
  const inbox = createInbox({ ...orders.inbox, client, secret, since: new Date(0) });
  const mailbox =
    connection.smtpPort === undefined ? undefined : await startMailbox(connection.smtpPort);
  const { app, close } = createShop({
    payments,
    gateways,
    orders,
    inbox,
    connection,
    ...(mailbox && { mails: mailbox.mails }),
    log: console.error,
  });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(Number(new URL(connection.shopUrl).port), '127.0.0.1');
  await once(server, 'listening');
  void catchUp(inbox);
  return async () => {
    close();
    mailbox?.close();
    // Requests in flight may finish; connections that stay open are cut.
    setTimeout(() => server.closeAllConnections(), stopLimitMs).unref();
    await new Promise((resolve) => server.close(resolve));
  };
};

const maxCatchUps = 30;

/** The events that came while the shop was down. The API can be starting at the same time. */
const catchUp = async (inbox: Inbox) => {
  for (let tries = 1; ; tries += 1)
    try {
      return await inbox.catchUp();
    } catch (error) {
      if (tries === maxCatchUps)
        return console.error('The shop could not read the events that it missed:', error);
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
