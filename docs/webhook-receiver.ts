import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

// node webhook-receiver.ts SECRET_FILE [PORT]; the file holds the secret as it was shown to you.
const [secretFile = 'webhook-secret', port = '8080'] = process.argv.slice(2);
const secret = readFileSync(secretFile, 'utf8').trim();
// With an empty key anybody could sign.
if (!secret.startsWith('whsec_')) throw new Error(`${secretFile} holds no whsec_… secret`);

const maxBodyBytes = 64 * 1024;
const toleranceSeconds = 300;

/** Whether the payment service sent exactly these bytes, just now. */
const isGenuine = (header: string, rawBody: Buffer): boolean => {
  const parts = header.split(',').map((part) => part.split('='));
  const valuesOf = (name: string) =>
    parts.flatMap(([key, value = '']) => (key === name ? value : []));
  const [timestamp = ''] = valuesOf('t');
  if (!/^\d+$/.test(timestamp)) return false;
  // To both sides: a clock that runs ahead is as suspicious as an old request.
  if (Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > toleranceSeconds) return false;

  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
  // Two while the secret is being rotated: one that matches is enough.
  return valuesOf('v1').some((hex) => {
    const given = Buffer.from(hex, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};

/** In your database this is a table with a unique index, written in the same transaction as the order. */
const seen = new Set<string>();

const handle = (event: {
  event: string;
  event_id: string;
  payment_id: string;
  order_id: string;
}) => {
  if (seen.has(event.event_id)) return; // The same event again: it was acted on before.
  seen.add(event.event_id);
  // Look the order up by payment_id, compare amount and currency with your own, and move it on.
  console.log(`${event.event} ${event.payment_id} for order ${event.order_id}`);
};

const receive = async (request: IncomingMessage): Promise<number> => {
  // The service always says how long it is.
  if (!(Number(request.headers['content-length']) <= maxBodyBytes)) return 413;
  // The raw bytes, before any JSON parsing: parsed and written again they are other bytes.
  const rawBody = await buffer(request);
  if (!isGenuine(String(request.headers['x-service-signature'] ?? ''), rawBody)) return 400;
  handle(JSON.parse(rawBody.toString('utf8')));
  return 204;
};

const server = createServer((request, response) => {
  void receive(request)
    // Not accepted, so it comes again.
    .catch(() => 500)
    .then((status) => response.writeHead(status).end());
});

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`Listening on port ${(server.address() as AddressInfo).port}`);
});
