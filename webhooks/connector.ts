import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { TargetRule } from './address.ts';
import { hostOf, isAddress, isAllowedAddress } from './address.ts';
import type { ResolveName } from './dns.ts';
import { createLookup, resolveHost } from './dns.ts';
import { AttemptError } from './failure.ts';
import { createResolver } from './resolver.ts';
import { skipUnsolicitedContinue } from './unsolicited-continue.ts';

export interface DialRequest {
  /** The checked addresses, the only ones to dial. */
  addresses: readonly string[];
  port: number;
  tls: boolean;
  /** The name in the certificate; undefined if the URL holds an address. */
  servername: string | undefined;
}

export type Dial = (request: DialRequest) => Socket;

export interface DispatcherOptions extends TargetRule {
  /** For one connection, TLS included. */
  timeoutMs: number;
  resolve?: ResolveName;
  dial?: Dial;
}

export interface WebhookDispatcher extends Pick<Dispatcher, 'dispatch'> {
  destroy(): Promise<void>;
}

const connectionLifeMs = 60_000;

/**
 * Sends webhooks over HTTP/1.1 to allowed addresses only, and uses no proxy of the environment. All
 * connections are replaced every minute, so that a changed address takes effect soon. (undici's
 * `clientTtl` checks the age of every busy connection at every webhook.)
 */
export const createWebhookDispatcher = (options: DispatcherOptions): WebhookDispatcher => {
  let agent = createAgent(options);
  let createdAt = performance.now();
  const renew = () => {
    // close() waits for the running attempts, which end at their own deadline at the latest.
    void agent.close();
    agent = createAgent(options);
    createdAt = performance.now();
  };
  return {
    dispatch(request, handler) {
      if (performance.now() - createdAt > connectionLifeMs) renew();
      return agent.dispatch(request, handler);
    },
    destroy: () => agent.destroy(),
  };
};

const createAgent = (options: DispatcherOptions): Agent =>
  new Agent({
    connect: createConnector(options),
    // To negotiate HTTP/2, undici makes one connection first and lets all others wait for it.
    allowH2: false,
    connections: 100,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    // The deadline of the attempt covers both. These count idle time only.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

/**
 * Resolves the host at every connection, and connects only if all of its addresses are allowed. Literal
 * addresses are checked here too: a socket's `lookup` is not called for them.
 */
const createConnector = (options: DispatcherOptions): buildConnector.connector => {
  const { allowLoopback, resolve = createResolver(), dial = dialAllowed, timeoutMs } = options;

  const open = async (hostname: string, port: string, tls: boolean): Promise<Socket> => {
    const host = hostOf(hostname);
    const addresses = await resolveHost(host, resolve);
    if (!addresses.every((address) => isAllowedAddress(address, { allowLoopback })))
      throw blocked();
    const socket = dial({
      addresses,
      port: Number(port) || (tls ? 443 : 80),
      tls,
      servername: isAddress(host) ? undefined : host.replace(/\.$/, ''),
    });
    return connected(socket, { event: tls ? 'secureConnect' : 'connect', timeoutMs });
  };

  return ({ hostname, port, protocol }, callback) => {
    open(hostname, port, protocol === 'https:').then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
};

/**
 * Several addresses are tried one after the other, each but the last for this long. Node's default of
 * 250 ms is too short for some receivers, and an address that was given up is not tried again.
 */
const addressMs = 2_000;

const dialAllowed: Dial = ({ addresses, port, tls, servername }) => {
  const [first = ''] = addresses;
  const target = {
    host: servername ?? first,
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressMs,
    // Pins the checked addresses: another lookup could return others.
    lookup: createLookup(async () => addresses),
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
  { event, timeoutMs }: { event: 'connect' | 'secureConnect'; timeoutMs: number },
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => fail(timedOut()), timeoutMs);
    // This listener stays: an 'error' event without a listener would end the process.
    socket.on('error', fail);
    socket.once('close', () => fail(brokeOff()));
    socket.once(event, () => {
      clearTimeout(timer);
      socket.setNoDelay(true);
      skipUnsolicitedContinue(socket);
      resolve(socket);
    });
  });

const blocked = () =>
  new AttemptError({
    errorClass: 'blocked',
    error: 'The host has a private, reserved or internal address',
  });

const timedOut = () =>
  new AttemptError({ errorClass: 'timeout', error: 'The connection was not made in time' });

const brokeOff = () => new AttemptError({ errorClass: 'reset', error: 'The connection broke off' });
