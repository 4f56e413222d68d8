import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { contractProblems, type Exchange } from '../checks/contract-problems.ts';
import { until } from '../until.ts';

/** A response of the API with its body. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

/** Compares a response with the contract. @returns it with its body parsed */
export const checkedAnswer = (exchange: Exchange): Answer => {
  expect(contractProblems(exchange)).toEqual([]);
  const { status, headers, text } = exchange;
  const isJson = headers.get('content-type')?.startsWith('application/json');
  const json = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status, headers, text, json };
};

/** Asks again while the service says that it cannot answer now, as every client does. */
export const answered = (ask: () => Promise<Answer>): Promise<Answer> =>
  until('an answer', async () => {
    const answer = await ask();
    return answer.status !== 503 && answer;
  });

/**
 * An application that calls the public API, and the browser of its payers. It follows no redirects. Its address is
 * its own where the service trusts the proxy, as the shared one does.
 */
export const createJourney = ({ url: base }: { url: string }, token: string) => {
  const address = `2001:db8:${randomBytes(4)
    .toString('hex')
    .replace(/(.{4})/, '$1:')}::1`;
  const call = async (method: string, path: string, init: RequestInit = {}): Promise<Answer> => {
    const url = path.startsWith('http') ? path : `${base}${path}`;
    const sent = new Headers(init.headers);
    if (!sent.has('x-forwarded-for')) sent.set('x-forwarded-for', address);
    const response = await fetch(url, { ...init, headers: sent, method, redirect: 'manual' });
    const { status, headers } = response;
    return checkedAnswer({ method, url, status, headers, text: await response.text() });
  };
  const authorization = `Bearer ${token}`;
  const form = (fields: Record<string, string>) => ({ body: new URLSearchParams(fields) });

  const journey = {
    call,
    /** An authenticated request. A text body is sent unchanged, any other as JSON. */
    request: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      call(method, path, {
        headers: {
          authorization,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),

    /** Creates a payment and returns its id. */
    async create(fields: Record<string, unknown> = {}): Promise<string> {
      const created = await journey.request('POST', '/api/v1/payments', {
        order_id: 'order-1',
        amount: 1250,
        currency: 'EUR',
        ...fields,
      });
      expect(created.status, created.text).toBe(201);
      return String(created.json['payment_id']);
    },
    get: (id: string) => journey.request('GET', `/api/v1/payments/${id}`),
    verify: (id: string) => journey.request('POST', `/api/v1/payments/${id}/verify`),
    checkout: (id: string) => call('GET', `/api/v1/payments/${id}/checkout`),
    /** The payer chooses on the sandbox gateway's page. */
    choose: (id: string, action: string, fields: Record<string, string> = {}) =>
      call('POST', `/api/v1/sandbox/${id}`, form({ action, ...fields })),
    comeBack: (id: string) => call('GET', `/api/v1/payments/${id}/return`),

    /** Creates a payment and sends its payer to the sandbox gateway's page. */
    async atGateway(fields: Record<string, unknown> = {}): Promise<string> {
      const id = await journey.create(fields);
      // On a busy machine the opening takes longer than a checkout waits.
      const sent = await answered(() => journey.checkout(id));
      expect(sent.status, sent.text).toBe(302);
      return id;
    },
    /** Creates a payment whose payer chooses and comes back, until the outcome is there. */
    async finish(action: string, fields: Record<string, string> = {}): Promise<string> {
      const id = await journey.atGateway();
      await journey.choose(id, action, fields);
      await until('the outcome', async () => {
        const { headers } = await journey.comeBack(id);
        return !headers.get('location')?.includes('status=processing');
      });
      return id;
    },
  };
  return journey;
};
export type Journey = ReturnType<typeof createJourney>;
