import type { Socket } from 'node:net';
import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientOptions,
} from '@grpc/grpc-js';

/**
 * For `channelArgs`: cuts a connection that was made and on which the other side says nothing. The
 * library waits for its first word for ever, and lets all calls wait with it, also when the engine is
 * long back (https://github.com/grpc/grpc-node/issues/2785). Cut, it connects anew by itself.
 */
export const limitHandshakes = (limitMs: number): ChannelOptions => {
  const channelFactoryOverride: ClientOptions['channelFactoryOverride'] = (
    address,
    credentials,
    options,
  ) => new Channel(address, limited(credentials, limitMs), options);
  return { channelFactoryOverride };
};

/** Declared by the library, for credentials of its own. */
const makeConnector = '_createSecureConnector';
type MakeConnector = ChannelCredentials[typeof makeConnector];
type Connector = ReturnType<MakeConnector>;

/** The same credentials: they see a connection before the library waits for the other side. */
const limited = (credentials: ChannelCredentials, limitMs: number): ChannelCredentials => {
  const make: MakeConnector = (...target) => {
    const connector = credentials[makeConnector](...target);
    const connect: Connector['connect'] = (socket) =>
      new Promise((resolve, reject) => {
        /** Above TLS: below it the handshake has been read. */
        let secured: Socket | undefined;
        const cutSilent = () => {
          if (!secured?.bytesRead) (secured ?? socket).destroy();
        };
        const timer = setTimeout(cutSilent, limitMs).unref();
        socket.once('close', () => {
          clearTimeout(timer);
          // Within the TLS handshake the connector does not hear of it.
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
