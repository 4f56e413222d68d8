import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { timed } from './load.ts';
import type { Receiver } from './receiver.ts';

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
  expect: number | readonly number[];
}

const timeoutMs = 30_000;

/** HTTP with keep-alive. Any other than the expected status ends the benchmark. */
export const createHttp = () => {
  const agent = new Agent({
    connections: 300,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async call({ method, url, headers = {}, body, expect }: Call) {
      const response = await request(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher: agent,
      });
      const text = await response.body.text();
      const { statusCode: status } = response;
      if ([expect].flat().includes(status))
        return { status, text, location: String(response.headers.location) };
      throw new Error(`${method} ${url} answered ${status} instead of ${String(expect)}: ${text}`);
    },
    close: () => agent.destroy(),
  };
};
export type Http = ReturnType<typeof createHttp>;

export interface Deps {
  http: Http;
  apiBaseUrl: string;
  token: string;
  receiver: Pick<Receiver, 'arrival'>;
  /** Pays on the gateway's page, and returns the address that the payer is sent back to. */
  payAt?: ((page: string) => Promise<string>) | undefined;
}

/** The waits of callers, in milliseconds. */
export interface Paid {
  createMs: number;
  /** The service opens the payment at the gateway before it answers. */
  checkoutMs: number;
  /** The payer's return: the service asks the gateway before it answers. */
  returnMs: number;
  /** From the outcome to the webhook. */
  latencyMs: number;
}

const Created = z.object({ payment_id: z.string() });

/** An application and its payers, who use the service over HTTP alone. */
export const createPayers = ({ http, apiBaseUrl, token, receiver, payAt }: Deps) => {
  const payments = `${apiBaseUrl}/api/v1/payments`;
  const authorization = `Bearer ${token}`;
  const get = (url: string) =>
    http.call({ method: 'GET', url, headers: { authorization }, expect: 200 });

  const create = async (): Promise<string> => {
    const order = randomUUID();
    const { text } = await http.call({
      method: 'POST',
      url: payments,
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': order },
      body: orderBody(order),
      expect: 201,
    });
    return Created.parse(JSON.parse(text)).payment_id;
  };
  /** Repeats, as the payer's page does, while the payment is being opened at the gateway. */
  const checkout = async (id: string): Promise<string> => {
    for (let attempts = 1; attempts <= 6; attempts += 1) {
      const url = `${payments}/${id}/checkout`;
      const { status, location } = await http.call({ method: 'GET', url, expect: [302, 503] });
      if (status === 302) return location;
      await sleep(100);
    }
    throw new Error(`${id} was not opened within a minute`);
  };
  const payAtSandbox = async (page: string): Promise<string> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'action=pay';
    return (await http.call({ method: 'POST', url: page, headers, body, expect: 303 })).location;
  };

  return {
    create,
    read: (id: string) => get(`${payments}/${id}`),
    /** The newest 20. */
    list: () => get(payments),

    /** Begins a replay of all events of the last day that were delivered. */
    async replayDelivered(): Promise<void> {
      const [from, to] = [-86_400_000, 0].map((ms) => new Date(Date.now() + ms).toISOString());
      await http.call({
        method: 'POST',
        url: `${apiBaseUrl}/api/v1/replays`,
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ from, to, delivery: 'delivered' }),
        expect: 202,
      });
    },

    /** A whole payment: created, paid on the gateway's page, its webhook received. */
    async pay(): Promise<Paid> {
      const began = performance.now();
      const id = await create();
      const createMs = performance.now() - began;
      const arriving = receiver.arrival(id);
      arriving.catch(() => {}); // The first failure below is the one to report.
      const asked = performance.now();
      const page = await checkout(id);
      const checkoutMs = performance.now() - asked;
      const back = await (payAt ?? payAtSandbox)(page);
      const returnMs = await timed(() => http.call({ method: 'GET', url: back, expect: 303 }));
      const { status, latencyMs } = await arriving;
      if (status === 'paid') return { createMs, checkoutMs, returnMs, latencyMs };
      throw new Error(`${id} ended ${status} instead of paid`);
    },
  };
};
export type Payers = ReturnType<typeof createPayers>;

/** A typical order. The bare insert route takes the same bytes. */
export const orderBody = (order: string): string =>
  JSON.stringify({
    order_id: order,
    amount: 125_000,
    currency: 'EUR',
    description: 'Two tickets for the evening',
    metadata: { customer: 'c-48151', channel: 'web' },
  });
