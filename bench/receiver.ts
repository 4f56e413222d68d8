import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const timeoutMs = 120_000;

const Event = z.object({ payment_id: z.string(), created_at: z.string(), status: z.string() });

export interface Arrival {
  /** From the event's created_at, set just before the outcome is committed, to its POST. */
  latencyMs: number;
  status: string;
}

/** An application's webhook URL. By default it accepts every event. */
export const startReceiver = async (
  respond: (res: ServerResponse, paymentId: string) => unknown = (res) => res.writeHead(204).end(),
) => {
  const waiting = new Map<string, (arrival: Arrival) => void>();
  const server = createServer((req, res) => {
    const arrivedMs = performance.timeOrigin + performance.now();
    void text(req).then((body) => {
      const event = Event.parse(JSON.parse(body));
      respond(res, event.payment_id);
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

    /** Waits for the first POST of a payment's event. Call it before the payment can end. */
    async arrival(paymentId: string): Promise<Arrival> {
      const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
      waiting.set(paymentId, resolve);
      const timer = setTimeout(
        () => reject(new Error(`No webhook came for ${paymentId} within ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      return promise.finally(() => clearTimeout(timer));
    },

    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
