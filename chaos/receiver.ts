import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verifySignature } from '../demo/client.ts';
import { peerOf } from './peer.ts';
import type { Random } from './random.ts';

/** A POST as it arrived, and what became of it. */
export interface Post {
  at: number;
  /** Undefined where no answer was given. */
  status?: number;
  /** When it was answered, or broken off. */
  endedAt?: number;
  number: number;
  eventId: string;
  kind: string;
  isSigned: boolean;
  body: Buffer;
  paymentId: string;
  /** The process that sent it; undefined where that was not found out, as when it was gone by then. */
  sender?: number;
}

type Behaviour = 'accept' | 'refuse' | 'break' | 'hang';

export interface ReceiverOptions {
  random: Random;
  /** How many of the events are not accepted at their first attempt. */
  failing: number;
}

/** The applications' webhook URL: records every POST, and fails the first attempt of some events. */
export const startReceiver = async ({ random, failing }: ReceiverOptions) => {
  const posts: Post[] = [];
  const secrets: string[] = [];
  const senders = new WeakMap<Socket, number>();
  let candidates: () => readonly number[] = () => [];
  /** Decided once for an event: its first attempt fails however often it is repeated. */
  const behaviours = new Map<string, Behaviour>();
  const behaviourOf = ({ eventId, number }: Post): Behaviour => {
    if (number > 1) return 'accept';
    const known = behaviours.get(eventId);
    if (known) return known;
    const drawn = random.chance(failing)
      ? random.pick<Behaviour>(['refuse', 'break', 'hang'])
      : 'accept';
    behaviours.set(eventId, drawn);
    return drawn;
  };
  const server = createServer((req, res) => {
    const at = Date.now();
    const header = (name: string) => String(req.headers[name] ?? '');
    void buffer(req)
      .then((body) => {
        const post: Post = {
          ...{ at, body, eventId: header('x-service-event-id'), kind: header('x-service-event') },
          number: Number(header('x-service-delivery-attempt')),
          paymentId: String(parsed(body)['payment_id']),
          isSigned: secrets.some(
            (secret) =>
              verifySignature({ header: header('x-service-signature'), rawBody: body, secret })
                .valid,
          ),
        };
        const sender = senders.get(req.socket);
        if (sender !== undefined) post.sender = sender;
        posts.push(post);
        res.once('close', () => (post.endedAt ??= Date.now()));
        const behaviour = behaviourOf(post);
        if (behaviour === 'hang') return;
        if (behaviour === 'break') return void req.socket.destroy();
        post.status = behaviour === 'accept' ? 204 : 500;
        post.endedAt = Date.now();
        res.writeHead(post.status).end();
      })
      .catch(() => {}); // The sender died in the middle of its request.
  });
  server.on('connection', (socket) => {
    const sender = peerOf(socket, candidates());
    if (sender !== undefined) senders.set(socket, sender);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, // It listens on TCP.
    /** Whose signatures are right. */
    trust: (secret: string) => void secrets.push(secret),
    /** Who may send: processes that live now. */
    expect: (pids: () => readonly number[]) => void (candidates = pids),
    posts: (): readonly Post[] => posts,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const parsed = (body: Buffer): Record<string, unknown> => {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>; // Ours, or it is none.
  } catch {
    return {};
  }
};
