import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { aPayment } from '../../support/demo/shop.ts';
import { runJourney } from '../../../demo/journey.ts';
import { listenForTest } from '../../support/servers/listen.ts';

const secret = `whsec_${'s'.repeat(43)}`;
const paymentId = 'PAY_1';
const goodEvent = { event: 'payment.paid', payment_id: paymentId };

/** The final status of the payment, and the webhook that the shop shows. */
interface Behaviour {
  status?: string;
  arrives?: boolean;
  event?: object;
  signedWith?: string;
  verified?: boolean;
}

const aWebhook = ({ event = goodEvent, signedWith = secret, verified = true }: Behaviour) => {
  const payload = JSON.stringify(event);
  const { webhooks } = new Stripe('sk_test_none');
  const header = webhooks.generateTestHeaderString({ payload, secret: signedWith });
  const receivedAt = new Date().toISOString();
  const headers = { 'x-service-signature': header };
  return { verified, received_at: receivedAt, headers, body: payload };
};

/** A fake of the service, its gateway and the shop. */
const aConnection = async (behaviour: Behaviour) => {
  const order = { id: '' };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (body.startsWith('{')) order.id = (JSON.parse(body) as { order_id: string }).order_id;
    const route = `${request.method} ${request.url}`;
    const payment = aPayment({ order_id: order.id, checkout_url: `${url}/checkout` });
    const webhook = (behaviour.arrives ?? true) ? aWebhook(behaviour) : null;
    const responses: Record<string, [status: number, text: string]> = {
      'POST /api/v1/payments': [201, JSON.stringify({ ...payment, status: 'pending' })],
      'GET /checkout': [302, '/gateway'],
      'GET /gateway': [200, '<form>'],
      'POST /gateway': [303, '/return'],
      'GET /return': [303, '/shop/return'],
      'GET /shop/return': [200, ''],
      [`GET /api/v1/payments/${paymentId}`]: [
        200,
        JSON.stringify({ ...payment, status: behaviour.status ?? 'paid' }),
      ],
      [`GET /shop/orders/${order.id}.json`]: [200, JSON.stringify({ webhook })],
    };
    const [status, content] = responses[route] ?? [404, ''];
    if (status >= 300 && status < 400) response.setHeader('location', content);
    response.writeHead(status).end(content);
  };
  const server = createServer((request, response) => void respond(request, response));
  const url = `http://127.0.0.1:${await listenForTest(server)}`;
  return {
    apiBaseUrl: url,
    shopUrl: `${url}/shop`,
    token: 'svc_test_none',
    webhookSecret: secret,
    smtpPort: undefined,
    workflowUrl: () => null,
  };
};

const silent = () => {};
const terminal = {
  step: silent,
  sent: silent,
  received: silent,
  block: silent,
  good: silent,
  end: silent,
  bad: silent,
};

const run = async (behaviour: Behaviour) =>
  runJourney(await aConnection(behaviour), terminal, { paidMs: 300, webhookMs: 300 });

describe('the journey of npm run demo', () => {
  it('succeeds when the payment is paid and its webhook is genuine', async () => {
    await expect(run({})).resolves.toBeUndefined();
  });

  it.each<[Behaviour, string]>([
    [{ status: 'pending' }, 'did not become paid: it is pending after 0.3 s'],
    [{ status: 'failed' }, 'did not become paid: it is failed'],
    [{ arrives: false }, 'No webhook with a valid signature reached the shop within 0.3 s'],
    [{ verified: false }, 'No webhook with a valid signature'],
    [{ signedWith: `whsec_${'o'.repeat(43)}` }, 'signature is wrong'],
    [{ event: { ...goodEvent, payment_id: 'PAY_2' } }, 'does not say that this payment is paid'],
    [{ event: { ...goodEvent, event: 'payment.failed' } }, 'does not say that this payment'],
  ])('fails on %j', async (behaviour, reason) => {
    await expect(run(behaviour)).rejects.toThrow(reason);
  });
});
