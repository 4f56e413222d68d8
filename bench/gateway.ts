import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

interface Session {
  id: string;
  amount: number;
  currency: string;
  returnUrl: string;
  isPaid: boolean;
}

interface Reply {
  status: number;
  location?: string;
  body?: object;
}

/**
 * Stands for Stripe, with one call to open a payment and one to ask: each answer takes so long. Its
 * payer's page takes the POST that the sandbox's takes, at once.
 */
export const startGateway = async ({ answerMs }: { answerMs: () => number }) => {
  const book = new Map<string, Session>();
  const held = { open: 0, ask: 0 };
  let baseUrl = '';

  const create = (form: URLSearchParams): Reply => {
    const id = `cs_test_${book.size + 1}`;
    const price = (name: string) => form.get(`line_items[0][price_data][${name}]`) ?? '';
    const session = {
      id,
      amount: Number(price('unit_amount')),
      currency: price('currency'),
      returnUrl: form.get('success_url') ?? '',
      isPaid: false,
    };
    book.set(id, session);
    return { status: 200, body: toBody(session, `${baseUrl}/pay/${id}`) };
  };

  const reply = async (req: IncomingMessage): Promise<Reply> => {
    const form = new URLSearchParams(await text(req));
    const { pathname } = new URL(req.url ?? '', baseUrl);
    const session = book.get(pathname.split('/').at(-1) ?? '');
    if (session && pathname.startsWith('/pay/')) {
      session.isPaid = true;
      return { status: 303, location: session.returnUrl };
    }
    const what = session ? 'ask' : 'open';
    held[what] += 1;
    await sleep(answerMs());
    held[what] -= 1;
    if (session) return { status: 200, body: toBody(session, null) };
    return req.method === 'POST' ? create(form) : { status: 404, body: {} };
  };

  const server = createServer((req, res) => {
    void reply(req).then(({ status, location, body }) =>
      res
        .writeHead(status, { 'content-type': 'application/json', ...(location && { location }) })
        .end(body && JSON.stringify(body)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  baseUrl = `http://127.0.0.1:${port}`;
  return {
    credentials: JSON.stringify({ secretKey: 'sk_test_0123456789abcdef', baseUrl }),
    /** Calls that wait for their answer. */
    held: held as Readonly<typeof held>,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const toBody = ({ id, amount, currency, isPaid }: Session, url: string | null) => ({
  id,
  livemode: false,
  status: isPaid ? 'complete' : 'open',
  payment_status: isPaid ? 'paid' : 'unpaid',
  amount_total: amount,
  currency,
  url,
  payment_intent: isPaid
    ? { id: `pi_${id}`, status: 'succeeded', latest_charge: { refunded: false } }
    : null,
});
