import type { Socket } from 'node:net';
import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientOptions,
} from '@grpc/grpc-js';

/**
 * Works around a fault of grpc-js. Symptom: a server accepts the TCP connection and then stays silent;
 * grpc-js waits without a limit for its first HTTP/2 frame, and every call waits too, even after the
 * server has recovered. This guard closes such a connection, and grpc-js connects again.
 * Upstream: https://github.com/grpc/grpc-node/issues/2785. Remove when that is closed.
 *
 * The result belongs into `channelArgs`.
 */
export const limitHandshakes = (limitMs: number): ChannelOptions => {
  const channelFactoryOverride: ClientOptions['channelFactoryOverride'] = (
    address,
    credentials,
    options,
  ) => new Channel(address, withLimit(credentials, limitMs), options);
  return { channelFactoryOverride };
};

/** grpc-js declares this method for its own credentials. */
const makeConnector = '_createSecureConnector';
type MakeConnector = ChannelCredentials[typeof makeConnector];
type Connector = ReturnType<MakeConnector>;

/** Wraps the credentials: they see a connection before grpc-js waits for the server. */
const withLimit = (credentials: ChannelCredentials, limitMs: number): ChannelCredentials => {
  const make: MakeConnector = (...target) => {
    const connector = credentials[makeConnector](...target);
    const connect: Connector['connect'] = (socket) =>
      new Promise((resolve, reject) => {
        // The TLS socket: the plain socket below it has already read the handshake.
        let secured: Socket | undefined;
        const closeIfSilent = () => {
          if (!secured?.bytesRead) (secured ?? socket).destroy();
        };
        const timer = setTimeout(closeIfSilent, limitMs).unref();
        socket.once('close', () => {
          clearTimeout(timer);
          // The connector does not notice a close during the TLS handshake.
          reject(new Error('The connection was closed'));
        });
        connector.connect(socket).then((connected) => {
          secured = connected.socket;
          resolve(connected);
        }, reject);
      });
    return Object.assign(Object.create(connector) as Connector, { connect });
  };
  return Object.assign(Object.create(credentials) as ChannelCredentials, { [makeConnector]: make });
};
