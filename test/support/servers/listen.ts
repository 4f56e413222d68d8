import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Lets a server listen on loopback. @returns its port */
export const listenOnLoopback = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // It listens on TCP.
};

/** The same until the test is over. @returns its port */
export const listenForTest = async (server: Server): Promise<number> => {
  onTestFinished(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return listenOnLoopback(server);
};
