import { describe, expect, it } from 'vitest';
import { createLookup, createNameResolver, resolveHost } from '../../../webhooks/dns.ts';
import { startNameServer } from '../../support/servers/name-servers.ts';

it('createNameResolver returns the address it has when the name servers never answer for the other family', async () => {
  const { address: server } = await startNameServer((query, { port, address }, socket) => {
    const nameEnds = query.indexOf(0, 12);
    const isForV4 = query.readUInt16BE(nameEnds + 1) === 1;
    if (!isForV4) return;
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
    socket.send(Buffer.concat([head, query.subarray(12, nameEnds + 5), answer]), port, address);
  });
  const resolve = createNameResolver({ budgetMs: 90_000, servers: [server] });
  const began = performance.now();
  expect(await resolve('gateway.example')).toEqual(['192.0.2.7']);
  expect(performance.now() - began).toBeLessThan(45_000);
});

describe('resolveHost', () => {
  const rejecting = () => Promise.reject(new Error('The name servers are not queried'));

  it.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['::1', ['::1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['a.localhost.', ['127.0.0.1', '::1']],
  ])('queries no name server for %s', async (host, addresses) => {
    expect(await resolveHost(host, rejecting)).toEqual(addresses);
  });

  it('queries the name servers for any other name', async () => {
    expect(await resolveHost('a.example', async (name) => [name])).toEqual(['a.example']);
  });
});

it('createLookup returns all addresses with their families, or the first one', async () => {
  const addresses = ['192.0.2.7', '2001:db8::7'];
  const lookUp = (all: boolean) =>
    new Promise((resolve) =>
      createLookup(async () => addresses)('a.example', { all }, (...result) => resolve(result)),
    );
  expect(await lookUp(false)).toEqual([null, '192.0.2.7', 4]);
  expect(await lookUp(true)).toEqual([
    null,
    [
      { address: '192.0.2.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ],
  ]);
});
