import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// node webhook-receiver.ts SECRET_FILE [PORT]; the file holds the secret that you were shown.
const [secretFile = 'webhook-secret', port = '8080'] = process.argv.slice(2);
const secret = readFileSync(secretFile, 'utf8').trim();
// Anybody could sign with an empty key.
if (!secret.startsWith('whsec_')) throw new Error(`${secretFile} holds no whsec_… secret`);

const maxBodyBytes = 64 * 1024;
const toleranceSeconds = 300;

/** True if the payment service sent exactly these bytes, just now. */
const isGenuine = (header: string, rawBody: Buffer): boolean => {
  // A proxy may put spaces after the commas.
  const parts = header.split(',').map((part) => part.trim().split('='));
  const valuesOf = (name: string) =>
    parts.flatMap(([key, value = '']) => (key === name ? value : []));
  const [timestamp = ''] = valuesOf('t');
  if (!/^\d+$/.test(timestamp)) return false;
  // Both sides count: a timestamp in the future is as suspicious as an old one.
  if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > toleranceSeconds) return false;

  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
  // There are two digests during a rotation of the secret. One match is enough.
  return valuesOf('v1').some((hex) => {
    const given = Buffer.from(hex, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};

const notGenuine =
  'Refused: no fresh signature of these bytes. JSON that was parsed and written again has other bytes.';

/** In your database: a table with a unique index, written in the same transaction as the order. */
const seen = new Set<string>();
/** In your database. `test` is true where you test your shop, and `payment` is the one that changed the order last. */
const orders = new Map([
  ['order-1042', { status: 'pending', amount: 1250, currency: 'EUR', test: false, payment: '' }],
]);
/** In these an order waits for money. All others are your own business: paid, shipped, done, refunded. */
const waiting = ['pending', 'failed', 'cancelled', 'expired'];

interface Event {
  event: string;
  event_id: string;
  payment_id: string;
  order_id: string;
  status: string;
  amount: number;
  currency: string;
  test: boolean;
  failure_code?: string | null;
  /** In events of refunds and disputes, whose own amount and currency are others. */
  payment_amount?: number;
  payment_currency?: string;
  amount_refunded?: number;
  amount_disputed?: number;
}

/** The status that the event gives its order, where the order allows it. */
const statusAfter = (event: Event): string | undefined => {
  if (/^payment\.(paid|failed|cancelled|expired)$/.test(event.event)) return event.status;
  const isLost = event.event === 'dispute.closed' && event.status === 'lost';
  if (event.event !== 'refund.succeeded' && !isLost) return undefined; // There may be new kinds.
  const gone = (event.amount_refunded ?? 0) + (event.amount_disputed ?? 0);
  return gone >= (event.payment_amount ?? Infinity) ? 'refunded' : undefined;
};

const change = (event: Event) => {
  console.log(`${event.event} ${event.payment_id} for order ${event.order_id}`);
  // Before or after the event of the payment that has paid the order. It changes no order.
  if (event.failure_code === 'order_already_paid') {
    console.log(
      `Tell the payer of ${event.payment_id}: the order is paid, and this money goes back`,
    );
    return;
  }
  const order = orders.get(event.order_id);
  const status = statusAfter(event);
  // Test events come here, too.
  if (!status || !order || order.test !== event.test) return;
  if (order.amount !== (event.payment_amount ?? event.amount)) return;
  if (order.currency !== (event.payment_currency ?? event.currency)) return;
  const isSame = order.payment === event.payment_id;
  const isAllowed =
    waiting.includes(order.status) ||
    // Its money has gone back, and another payment buys it again.
    (status === 'paid' && order.status === 'refunded' && !isSame) ||
    (status === 'refunded' && isSame);
  if (!isAllowed) return;
  Object.assign(order, { status, payment: event.payment_id });
  console.log(`Order ${event.order_id} is ${status}`);
};

const handle = (event: Event) => {
  if (seen.has(event.event_id)) return; // The same event again.
  change(event);
  // After its work: what breaks off comes again.
  seen.add(event.event_id);
};

/** The raw bytes: JSON that was parsed and written again may have other bytes. Undefined if they are too many. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  // Counted here: a proxy that sends the body on in chunks announces no length.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBodyBytes) return undefined;
  }
  return Buffer.concat(chunks);
};

const receive = async (request: IncomingMessage): Promise<number> => {
  const rawBody = await readBody(request);
  if (!rawBody) return 413;
  const signature = request.headers['x-service-signature'];
  if (!isGenuine(String(signature ?? ''), rawBody)) {
    if (signature) console.error(notGenuine);
    return 400;
  }
  handle(JSON.parse(rawBody.toString('utf8')));
  return 204;
};

const server = createServer((request, response) => {
  void receive(request)
    // Not accepted, so the service sends it again.
    .catch(() => 500)
    .then((status) => response.writeHead(status).end())
    // Unread bytes are dropped: a sender that is cut off would not see the response.
    .then(() => request.resume());
});

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`Listening on port ${(server.address() as AddressInfo).port}`);
});
