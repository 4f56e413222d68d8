import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { ResolveName } from '../gateways/dns.ts';
import { lookupBy } from '../gateways/dns.ts';
import type { TargetRule } from './address.ts';
import { hostOf, isAddress, isAllowedAddress, isLocalhost } from './address.ts';
import { AttemptError } from './failure.ts';
import { createResolver } from './resolver.ts';
import { watchStatusLine } from './status-line.ts';

export interface DialRequest {
  /** Every one of them vetted; nothing else may be dialled. */
  addresses: readonly string[];
  port: number;
  tls: boolean;
  /** For the certificate; undefined where the URL holds an address. */
  servername: string | undefined;
}

export type Dial = (request: DialRequest) => Socket;

export interface DispatcherOptions extends TargetRule {
  resolve?: ResolveName;
  dial?: Dial;
  timeoutMs: number;
}

export interface WebhookDispatcher extends Pick<Dispatcher, 'dispatch'> {
  destroy(): Promise<void>;
}

/**
 * Connects to the vetted addresses of a host, and only when all of its addresses are allowed. Every
 * connection of an undici Agent passes here, those to literal addresses too, which its lookup misses.
 */
const createConnector =
  ({
    allowLoopback,
    resolve = createResolver(),
    dial = dialVetted,
    timeoutMs,
  }: DispatcherOptions): buildConnector.connector =>
  (options, callback) => {
    const tls = options.protocol === 'https:';
    const open = async () => {
      const host = hostOf(options.hostname);
      const addresses = await addressesOf(host, resolve);
      if (!addresses.every((address) => isAllowedAddress(address, { allowLoopback })))
        throw blocked();
      const socket = dial({
        addresses,
        port: Number(options.port) || (tls ? 443 : 80),
        tls,
        servername: isAddress(host) ? undefined : host.replace(/\.$/, ''),
      });
      return connected(socket, { tls, timeoutMs });
    };
    open().then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };

const connectionLifeMs = 60_000;

/**
 * Sends webhooks: over HTTP/1.1, never through a proxy of the environment, to vetted addresses only.
 * A connection takes webhooks for a minute, so that a changed address is soon heard of: then all begin
 * anew. (undici's `clientTtl` asks each busy connection for its age, at every webhook.)
 */
export const createWebhookDispatcher = (options: DispatcherOptions): WebhookDispatcher => {
  let agent = createAgent(options);
  let began = performance.now();
  const renew = () => {
    // What it has under way comes to its end, at the latest by its own deadline.
    void agent.close();
    agent = createAgent(options);
    began = performance.now();
  };
  return {
    dispatch(request, handler) {
      if (performance.now() - began > connectionLifeMs) renew();
      return agent.dispatch(request, handler);
    },
    destroy: () => agent.destroy(),
  };
};

const createAgent = (options: DispatcherOptions): Agent =>
  new Agent({
    connect: createConnector(options),
    // With it undici would let one connection find out about HTTP/2, and all others wait for that one.
    allowH2: false,
    connections: 100,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    // The attempt's own deadline covers both; these count idle time only.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

const addressesOf = async (host: string, resolve: ResolveName): Promise<readonly string[]> => {
  if (isAddress(host)) return [host];
  if (isLocalhost(host)) return ['127.0.0.1', '::1'];
  return resolve(host);
};

const blocked = () =>
  new AttemptError({
    errorClass: 'blocked',
    error: 'The host has a private, reserved or internal address',
  });

/**
 * Several addresses are tried one after the other. Each but the last has this long: Node's quarter of a
 * second is less than some answer in, and whoever was given up is not tried again.
 */
const addressMs = 2_000;

const dialVetted: Dial = ({ addresses, port, tls, servername }) => {
  const [first = ''] = addresses;
  const target = {
    host: servername ?? first,
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressMs,
    // Pins the name to what was vetted: asking again might be answered otherwise.
    lookup: lookupBy(async () => [...addresses]),
  };
  if (!tls) return connectPlain(target);
  return connectTls({
    ...target,
    ...(servername !== undefined && { servername }),
    ALPNProtocols: ['http/1.1'],
  });
};

const connected = (
  socket: Socket,
  { tls, timeoutMs }: { tls: boolean; timeoutMs: number },
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(tooLate()), timeoutMs);
    // It stays: a socket without anybody who listens for errors would end the process.
    socket.on('error', fail);
    socket.once('close', () => fail(brokeOff()));
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      watchStatusLine(socket);
      resolve(socket);
    });
  });

const tooLate = () =>
  new AttemptError({ errorClass: 'timeout', error: 'The connection was not made in time' });

const brokeOff = () => new AttemptError({ errorClass: 'reset', error: 'The connection broke off' });
