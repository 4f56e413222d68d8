import {
  ApiError,
  Payments,
  isKnownEvent,
  webhooks,
  type Answer,
  type CreatePayment,
  type Event,
  type Payment,
} from '@example/payments';
import { SignatureError, verify } from '@example/payments/webhooks';

// An application that a test compiles against the installed package.

declare const token: string;
const client = new Payments({ token, baseUrl: 'https://pay.example', timeoutMs: undefined });

const order: CreatePayment = { order_id: 'order-1', amount: 1250, currency: 'EUR' };

export const pay = async (signal: AbortSignal): Promise<string | null> => {
  try {
    const payment: Payment = await client.payments.create(order, { idempotencyKey: 'k', signal });
    // Known values are offered, and a new one is no error.
    if (payment.status === 'paid' || payment.status === 'a status of tomorrow') return null;
    return payment.checkout_url;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'RATE_LIMITED') return error.requestId ?? null;
    throw error;
  }
};

export const all = async (): Promise<number> => {
  let sum = 0;
  for await (const { amount } of client.payments.list({ status: 'paid', per_page: 100 }))
    sum += amount;
  for await (const { data } of client.events.list({ order: 'asc' }).pages()) sum += data.length;
  const answer: Answer<Payment> = await client.payments.get('PAY_1').withResponse();
  const [me] = await Promise.all([client.me(), client.payments.get(answer.data.payment_id)]);
  return me.token_mode === 'test' ? sum : 0;
};

export const receive = async (request: Request): Promise<Response> => {
  const secret = 'whsec_x';
  const signature = request.headers.get('x-service-signature');
  try {
    const body = await request.arrayBuffer();
    const event: Event = await verify({ body, signature, secret });
    await webhooks.verify({ body: new Uint8Array(body), signature, secret: [secret] });
    return new Response(event.event === 'payment.paid' ? null : event.failure_code, {
      status: 200,
    });
  } catch (error) {
    return new Response(null, { status: error instanceof SignatureError ? 400 : 500 });
  }
};

// Each kind of event has its own fields, and a kind of tomorrow is handled apart.
export const describe = (event: Event): string => {
  if (!isKnownEvent(event)) return event.event;
  if (event.event === 'payment.paid') return event.paid_at;
  if (event.event === 'payment.failed') return event.failure_code;
  if (event.event === 'refund.failed') return `${event.refund_id} ${event.failure_code}`;
  // @ts-expect-error -- only a refund has its id
  if (event.event === 'payment.expired') return event.refund_id;
  return event.status;
};

export const optional: CreatePayment = { ...order, description: undefined, sandbox: undefined };

// @ts-expect-error -- the amount is a number of minor units
export const wrong: CreatePayment = { order_id: 'order-1', amount: '12.50', currency: 'EUR' };
