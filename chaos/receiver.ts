import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { verify } from '../client/src/webhooks.ts';
import type { Random } from './random.ts';
import { findSocketOwner } from './socket-owner.ts';

/** A POST as it arrived, with its response. */
export interface Post {
  at: number;
  /** Undefined without a response. */
  status?: number;
  /** When it was answered or broken off. */
  endedAt?: number;
  number: number;
  eventId: string;
  kind: string;
  isSigned: boolean;
  body: Buffer;
  paymentId: string;
  /** The process that sent it. Undefined if that is unknown, for instance because it had ended. */
  sender?: number;
}

export const failures = ['refuse', 'break', 'hang'] as const;
type Failure = (typeof failures)[number];
type Reaction = 'accept' | Failure;

export interface ReceiverOptions {
  random: Random;
  /** The share of events whose first attempt is not accepted. */
  failing: number;
}

/** The application's webhook URL: records every POST, and fails the first attempt of some events. */
export const startReceiver = async ({ random, failing }: ReceiverOptions) => {
  const posts: Post[] = [];
  const secrets: string[] = [];
  const senders = new WeakMap<Socket, number>();
  let listSenders: () => readonly number[] = () => [];
  /** Decided once for an event: until `acceptAll` its first attempt fails however often it is repeated. */
  const reactions = new Map<string, Reaction>();
  let acceptsAll = false;
  let outage: Failure | undefined;
  const react = ({ eventId, number }: Post): Reaction => {
    if (number > 1 || acceptsAll) return 'accept';
    const known = reactions.get(eventId);
    if (known) return known;
    const drawn = outage ?? (random.chance(failing) ? random.pick(failures) : 'accept');
    reactions.set(eventId, drawn);
    return drawn;
  };
  const server = createServer((req, res) => {
    const at = Date.now();
    const header = (name: string) => String(req.headers[name] ?? '');
    const isSigned = (body: Buffer) =>
      verify({ signature: header('x-service-signature'), body, secret: secrets }).then(
        () => true,
        () => false,
      );
    void buffer(req)
      .then(async (body) => {
        const post: Post = {
          at,
          body,
          eventId: header('x-service-event-id'),
          kind: header('x-service-event'),
          number: Number(header('x-service-delivery-attempt')),
          paymentId: readPaymentId(body),
          isSigned: false,
        };
        const sender = senders.get(req.socket);
        if (sender !== undefined) post.sender = sender;
        posts.push(post);
        res.once('close', () => (post.endedAt ??= Date.now()));
        post.isSigned = await isSigned(body);
        const reaction = react(post);
        if (reaction === 'hang') return;
        if (reaction === 'break') return void req.socket.destroy();
        post.status = reaction === 'accept' ? 204 : 500;
        post.endedAt = Date.now();
        res.writeHead(post.status).end();
      })
      .catch(() => {}); // The sender died in the middle of its request.
  });
  server.on('connection', (socket) => {
    const sender = findSocketOwner(socket, listSenders());
    if (sender !== undefined) senders.set(socket, sender);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, // It listens on TCP.
    /** Adds a secret whose signatures are right. */
    trust: (secret: string) => void secrets.push(secret),
    /** Sets what lists the processes that can be senders now. */
    setSenders: (list: () => readonly number[]) => void (listSenders = list),
    /** The first attempts of events that it has not seen before fail like this, until it is undefined. */
    failNew: (failure: Failure | undefined) => void (outage = failure),
    /** From now on it accepts every attempt. */
    acceptAll: () => void (acceptsAll = true),
    posts: (): readonly Post[] => posts,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Our own body, or anything else. */
const readPaymentId = (body: Buffer): string => {
  try {
    return String((JSON.parse(body.toString()) as Record<string, unknown>)['payment_id']);
  } catch {
    return 'unknown';
  }
};
