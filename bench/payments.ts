import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Answer, Http } from './http.ts';
import type { Arrival, Receiver } from './receiver.ts';

export interface Deps {
  http: Http;
  receiver: Pick<Receiver, 'arrival'>;
  apiBaseUrl: string;
  token: string;
}

const Created = z.object({ payment_id: z.string() });

/** The application and its payers, as they meet the service: over HTTP alone. */
export const createPayments = ({ http, receiver, apiBaseUrl, token }: Deps) => {
  const payments = `${apiBaseUrl}/api/v1/payments`;
  const authorization = `Bearer ${token}`;

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

  let lists = 0;
  const list = (query: string) =>
    http.call({
      method: 'GET',
      url: `${payments}${query}`,
      headers: { authorization },
      expect: 200,
    });

  let waits = 0;
  /** Tries again like the page that a payer is shown when the opening takes more than 10 s. */
  const checkout = async (id: string): Promise<Answer> => {
    const url = `${payments}/${id}/checkout`;
    for (let tries = 1; tries <= 3; tries += 1) {
      const answer = await http.call({ method: 'GET', url, expect: [302, 503] });
      if (answer.status === 302) return answer;
      waits += 1;
    }
    throw new Error(`${id} was not opened within half a minute`);
  };

  return {
    create,

    /** How often a payer was asked to wait longer than 10 s. */
    waits: () => waits,

    read: (id: string) =>
      http.call({
        method: 'GET',
        url: `${payments}/${id}`,
        headers: { authorization },
        expect: 200,
      }),

    /** The newest 20. */
    list: () => list(''),

    /** The same 20, asked for as nobody else asks. */
    listAlone: () => {
      lists += 1;
      return list(`?to=${new Date(Date.UTC(2100) + lists).toISOString()}`);
    },

    /** A body of 64 KB, which is read whole before it is refused. */
    refusedCreate: () =>
      http.call({
        method: 'POST',
        url: payments,
        headers: { authorization, 'content-type': 'application/json' },
        body: largeBody,
        expect: 422,
      }),

    /** A whole payment: created, paid on the sandbox page, its webhook here. */
    async pay(): Promise<Arrival> {
      const id = await create();
      const arrival = receiver.arrival(id);
      // What fails below must not leave a rejection that nobody handles.
      arrival.catch(() => {});
      const page = await checkout(id);
      const back = await http.call({
        method: 'POST',
        url: page.location,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'action=pay',
        expect: 303,
      });
      await http.call({ method: 'GET', url: back.location, expect: 303 });
      const arrived = await arrival;
      if (arrived.status === 'paid') return arrived;
      throw new Error(`${id} ended ${arrived.status} instead of paid`);
    },
  };
};
export type BenchPayments = ReturnType<typeof createPayments>;

const largeBody = JSON.stringify({
  order_id: 'large',
  amount: 125_000,
  currency: 'EUR',
  metadata: Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [`key-${n}`, 'x'.repeat(1_290)]),
  ),
});

/** A typical order; the bare insert route takes the same bytes. */
export const orderBody = (order: string): string =>
  JSON.stringify({
    order_id: order,
    amount: 125_000,
    currency: 'EUR',
    description: 'Two tickets for the evening',
    metadata: { customer: 'c-48151', channel: 'web' },
  });
