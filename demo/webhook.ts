import type { IncomingMessage } from 'node:http';
import { getRawBody } from 'raw-body';
import { z } from 'zod';
import { parseJson } from './http.ts';
import type { Orders } from './orders.ts';
import { verifySignature } from './signature.ts';

const eventSchema = z.object({
  event_id: z.string(),
  payment_id: z.string(),
  order_id: z.string(),
  status: z.string(),
  amount: z.number(),
  currency: z.string(),
  failure_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
});

export interface Deps {
  orders: Pick<Orders, 'receive'>;
  secret: string;
  now?: () => Date;
}

/** The answer to a webhook: 204 when it is understood, 400 with a sentence when it is not. */
export type Reply = { status: 204 } | { status: 400; message: string };

/** Receives the service's events: verify first, parse then, act once. */
export const createWebhookReceiver =
  ({ orders, secret, now = () => new Date() }: Deps) =>
  async (request: IncomingMessage): Promise<Reply> => {
    const rawBody = await getRawBody(request, { limit: '64kb' });
    const receivedAt = now();
    const headers = plainHeaders(request);
    const header = headers['x-service-signature'];
    const verification = verifySignature({ header, rawBody, secret, receivedAt });
    if (!verification.valid) return { status: 400, message: verification.reason };

    const text = rawBody.toString('utf8');
    const event = eventSchema.safeParse(parseJson(text));
    if (!event.success) return { status: 400, message: 'The body is not a payment event.' };
    orders.receive(event.data, { receivedAt, headers, rawBody: text });
    return { status: 204 };
  };

const plainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
