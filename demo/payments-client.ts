import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Connection, DemoError } from './connection.ts';
import { type Answer, parseJson, send } from './http.ts';

const paymentSchema = z.object({
  payment_id: z.string(),
  order_id: z.string(),
  status: z.string(),
  amount: z.number(),
  currency: z.string(),
  checkout_url: z.string().nullable(),
  failure_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime({ offset: true }),
});
export type Payment = z.infer<typeof paymentSchema>;

const listSchema = z.object({ data: z.array(paymentSchema) });
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export interface NewPayment {
  order_id: string;
  amount: number;
  currency: string;
  description?: string;
  metadata?: Record<string, unknown>;
}

const attempts = 3;
const isPassing = (status: number) => status >= 500;
const notAnswered = (error: unknown): undefined => {
  if (!(error instanceof DemoError)) throw error;
};

/** The calls of the API that a shop needs. The token stays on the server. */
export const createPaymentsClient = ({
  apiBaseUrl,
  token,
}: Pick<Connection, 'apiBaseUrl' | 'token'>) => {
  const url = `${apiBaseUrl}/api/v1/payments`;
  const authorization = `Bearer ${token}`;

  const post = (payment: NewPayment, idempotencyKey: string) =>
    send(url, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(payment),
    });

  return {
    /**
     * Tries again when no clear answer came: the same key makes sure that there is one payment.
     * @throws DemoError with the service's own code and message
     */
    async create(payment: NewPayment, idempotencyKey: string): Promise<Payment> {
      for (let attempt = 1; attempt < attempts; attempt += 1) {
        const answer = await post(payment, idempotencyKey).catch(notAnswered);
        if (answer && !isPassing(answer.status)) return paymentOf(answer, 201);
        await sleep(300 * attempt);
      }
      return paymentOf(await post(payment, idempotencyKey), 201);
    },

    /** Undefined when the application has no such payment. */
    async get(paymentId: string): Promise<Payment | undefined> {
      const answer = await send(`${url}/${encodeURIComponent(paymentId)}`, {
        headers: { authorization },
      });
      return answer.status === 404 ? undefined : paymentOf(answer, 200);
    },

    /** The newest 100, the newest first. */
    async list(): Promise<Payment[]> {
      const answer = await send(`${url}?per_page=100`, { headers: { authorization } });
      return contentOf(answer, { expected: 200, schema: listSchema }).data;
    },
  };
};
export type PaymentsClient = ReturnType<typeof createPaymentsClient>;

/** @throws DemoError when the answer is not a payment */
export const paymentOf = (answer: Answer, expected: number): Payment =>
  contentOf(answer, { expected, schema: paymentSchema });

const contentOf = <T>(
  { status, text }: Answer,
  { expected, schema }: { expected: number; schema: z.ZodType<T> },
): T => {
  const content = parseJson(text);
  const refusal = errorSchema.safeParse(content);
  if (refusal.success) {
    const { code, message } = refusal.data.error;
    throw new DemoError(`The service answered ${status} ${code}: ${message}`);
  }
  const parsed = schema.safeParse(content);
  if (status === expected && parsed.success) return parsed.data;
  throw new DemoError(`The service answered ${status} with something that was not asked for.`);
};
