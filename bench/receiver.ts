import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const patienceMs = 60_000;

const Event = z.object({ payment_id: z.string(), created_at: z.string(), status: z.string() });

export interface Arrival {
  /** From the event's created_at, set just before the outcome is committed, to the POST here. */
  latencyMs: number;
  status: string;
}

const accept = (res: ServerResponse): unknown => res.writeHead(204).end();

/** Stands for the application that gets the webhooks. */
export const startReceiver = async (
  answer: (res: ServerResponse, paymentId: string) => unknown = accept,
) => {
  const waiting = new Map<string, (arrival: Arrival) => void>();
  const server = createServer((req, res) => {
    const arrivedMs = performance.timeOrigin + performance.now();
    void text(req).then((body) => {
      const event = Event.parse(JSON.parse(body));
      answer(res, event.payment_id);
      const resolve = waiting.get(event.payment_id);
      waiting.delete(event.payment_id);
      resolve?.({ latencyMs: arrivedMs - Date.parse(event.created_at), status: event.status });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  return {
    url: `http://127.0.0.1:${port}/webhook`,

    /** To be asked before the payment can end. */
    async arrival(paymentId: string): Promise<Arrival> {
      const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
      waiting.set(paymentId, resolve);
      const timer = setTimeout(
        () => reject(new Error(`No webhook came for ${paymentId} within ${patienceMs / 1000} s`)),
        patienceMs,
      );
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },

    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
