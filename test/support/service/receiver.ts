import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../servers/listen.ts';

/** A received webhook. */
export interface Received {
  at: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  json: Record<string, unknown>;
}

/** Handles the nth POST (from 1) of a payment: returns a status, or responds itself. */
export type Behaviour = (nth: number, res: ServerResponse) => number | Promise<number> | undefined;

/** An HTTP server on loopback that records every POST and responds 204 by default. */
export const startReceiver = async () => {
  const received: Received[] = [];
  let behave: Behaviour = () => 204;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      const json = JSON.parse(body.toString()) as Record<string, unknown>;
      received.push({ at: Date.now(), headers: req.headers, body, json });
      const nth = received.filter((one) => one.json['payment_id'] === json['payment_id']).length;
      void Promise.resolve(behave(nth, res)).then((status) => {
        if (status !== undefined) res.writeHead(status).end();
      });
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    all: received,
    of: (paymentId: string): Received[] =>
      received.filter(({ json }) => json['payment_id'] === paymentId),
    behave(behaviour: Behaviour) {
      behave = behaviour;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
