import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/*
 * The part of an application that knows the payment service: its calls, and the check of its webhooks.
 * The rest of the demo imports nothing else about the service, so a client package can replace this file.
 */

const paymentSchema = z.looseObject({
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

/** A call that failed, with the service's own code and message where there is one. */
export class ClientError extends Error {
  readonly code: string | undefined;
  constructor(message: string, { code, ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

const timeoutMs = 10_000;
const maxAttempts = 3;

interface Request {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

/** The token stays on the server. */
export const createClient = ({ apiBaseUrl, token }: { apiBaseUrl: string; token: string }) => {
  const payments = `${apiBaseUrl}/api/v1/payments`;

  const send = async (url: string, { method = 'GET', headers, body }: Request) => {
    try {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, content: parseJson(await response.text()) };
    } catch (cause) {
      throw new ClientError(`${method} ${url} failed (${reasonFor(cause)}).`, { cause });
    }
  };

  /** Repeats a request without a clear result. @throws ClientError */
  const call = async <T>(schema: z.ZodType<T>, url: string, request: Request = {}): Promise<T> => {
    for (let attempts = 1; attempts < maxAttempts; attempts += 1) {
      const response = await send(url, request).catch(() => undefined);
      if (response && response.status < 500) return read(schema, response);
      await sleep(300 * attempts);
    }
    return read(schema, await send(url, request));
  };

  return {
    /** The key makes repeating safe: however often the call is sent, it makes one payment. */
    create: (payment: NewPayment, idempotencyKey: string): Promise<Payment> =>
      call(paymentSchema, payments, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(payment),
      }),

    /** Undefined when the application has no such payment. */
    async get(paymentId: string): Promise<Payment | undefined> {
      try {
        return await call(paymentSchema, `${payments}/${encodeURIComponent(paymentId)}`);
      } catch (error) {
        if (error instanceof ClientError && error.code === 'PAYMENT_NOT_FOUND') return undefined;
        throw error;
      }
    },

    /** The newest 100, the newest first. */
    list: async (): Promise<Payment[]> => (await call(listSchema, `${payments}?per_page=100`)).data,
  };
};
export type Client = ReturnType<typeof createClient>;

const read = <T>(schema: z.ZodType<T>, response: { status: number; content: unknown }): T => {
  const { status, content } = response;
  const error = errorSchema.safeParse(content).data?.error;
  if (error)
    throw new ClientError(`The service answered ${status} ${error.code}: ${error.message}`, {
      code: error.code,
    });
  const { data } = schema.safeParse(content);
  if (status < 300 && data !== undefined) return data;
  throw new ClientError(`The service answered ${status} with an unexpected body.`);
};

/** Undefined when the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `fetch failed` hides the reason in its cause. */
export const reasonFor = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause = error } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
};

export interface SignedRequest {
  /** The value of `X-Service-Signature`. */
  header: string | undefined;
  /** The body's bytes as they arrived, before any JSON parsing. */
  rawBody: Uint8Array;
  /** The whole webhook secret, with `whsec_`. */
  secret: string;
  /** Now by default. */
  receivedAt?: Date;
}

export type Verification = { valid: true } | { valid: false; reason: string };

/** The clocks of the service and of the receiver may differ by this much, in either direction. */
const toleranceSeconds = 300;

/** Checks that the payment service sent exactly this body, just now. */
export const verifySignature = ({
  header,
  rawBody,
  secret,
  receivedAt = new Date(),
}: SignedRequest): Verification => {
  // With an empty key anybody could sign.
  if (secret === '') throw new Error('The webhook secret is empty');
  const parsed = parseHeader(header);
  if (!parsed) return invalid('The X-Service-Signature header is missing or malformed.');
  const nowSeconds = Math.floor(receivedAt.getTime() / 1000);
  if (Math.abs(nowSeconds - Number(parsed.timestamp)) > toleranceSeconds)
    return invalid(`The timestamp is more than ${toleranceSeconds} seconds away from now.`);
  const expected = createHmac('sha256', secret)
    .update(`${parsed.timestamp}.`)
    .update(rawBody)
    .digest('hex');
  // While the secret is rotated there are two signatures, and one that matches is enough.
  return parsed.signatures.some((signature) => equalInConstantTime(signature, expected))
    ? { valid: true }
    : invalid('No signature in the header matches the body and the secret.');
};

const invalid = (reason: string): Verification => ({ valid: false, reason });

/** `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; parts of other schemes are ignored. */
const parseHeader = (header = '') => {
  const parts = header.split(',').map((part) => {
    const at = part.indexOf('=');
    return { name: part.slice(0, Math.max(at, 0)), value: part.slice(at + 1) };
  });
  const valuesOf = (name: string) =>
    parts.filter((part) => part.name === name).map((part) => part.value);
  const [timestamp = '', secondTimestamp] = valuesOf('t');
  const signatures = valuesOf('v1');
  const isComplete = secondTimestamp === undefined && signatures.length > 0;
  return isComplete && /^\d{1,12}$/.test(timestamp) ? { timestamp, signatures } : undefined;
};

/** The time that `===` takes would reveal how many characters are right. */
const equalInConstantTime = (left: string, right: string): boolean => {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
};
