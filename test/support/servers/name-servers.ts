import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** A UDP socket on loopback in place of a name server. It never answers unless `onQuery` does. */
export const startNameServer = async (
  onQuery: (query: Buffer, from: RemoteInfo, server: Socket) => void = () => {},
) => {
  const server = createSocket('udp4');
  server.on('message', (query, from) => onQuery(query, from, server));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  let isOpen = true;
  const stop = () => {
    if (isOpen) server.close();
    isOpen = false;
  };
  onTestFinished(stop);
  return { address: `127.0.0.1:${server.address().port}`, stop };
};
