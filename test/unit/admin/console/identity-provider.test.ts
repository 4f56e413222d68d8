import dns from 'node:dns';
import { createServer } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createIdentityProvider } from '../../../../admin/console/identity-provider.ts';
import { listenForTest } from '../../../support/servers/listen.ts';

it('asks no name server where a provider at localhost is', async () => {
  const server = createServer((_, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}login` }));
  });
  const issuer = `http://localhost:${await listenForTest(server)}/`;
  vi.spyOn(dns, 'lookup').mockImplementation(() => {
    throw new Error('A name server was asked');
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const provider = createIdentityProvider({
    issuer: new URL(issuer),
    ...{ clientId: 'console', clientSecret: 'secret', baseUrl: 'http://console.localhost:3002' },
    logger: { info: () => {} },
  });
  expect(await provider.loginUrl('a secret')).toContain(`${issuer}login?`);
});
