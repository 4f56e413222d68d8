import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { GatewaySilence } from '../../gateways/gateway.ts';
import { beginTry, createGatewayDispatcher } from '../../gateways/http.ts';

it('asks for HTTP/1.1 alone: calls share no connection that may be dead for all of them', async () => {
  let offered: string[] = [];
  const server = createServer({
    ALPNCallback({ protocols }) {
      offered = protocols;
      return undefined;
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  const dispatcher = createGatewayDispatcher();
  try {
    const baseUrl = `https://127.0.0.1:${port}`;
    const target = { provider: 'somebody', baseUrl, override: undefined };
    const call = beginTry({ dispatcher, allowLoopback: true })(target);
    const asked = call({ what: 'asked', method: 'GET', path: '/' });
    await expect(asked).rejects.toThrow(GatewaySilence);
    expect(offered).toEqual(['http/1.1']);
  } finally {
    await dispatcher.destroy();
    server.close();
  }
});
