import { describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { createResolver } from '../../../webhooks/resolver.ts';
import { attempt } from '../../support/service/send-webhook.ts';
import { startNameServer } from '../../support/servers/name-servers.ts';

describe('createResolver', () => {
  it('reports an unreachable name server as our own fault, not the receiver’s', async () => {
    const { address, stop } = await startNameServer();
    stop();
    const resolve = createResolver({ budgetMs: 20_000, servers: [address] });
    const dispatcher = createWebhookDispatcher({
      allowLoopback: false,
      timeoutMs: 30_000,
      resolve,
    });
    onTestFinished(() => dispatcher.destroy());
    await expect(attempt('https://receiver.example/', { dispatcher })).rejects.toThrow(
      'The name servers cannot be reached: ECONNREFUSED',
    );
  });

  it('gives up dead name servers after its budget, also with many lookups at once', async () => {
    // Several servers: querying each of them, twice, would take longer than is allowed below.
    const servers = await Promise.all(Array.from({ length: 36 }, () => startNameServer()));
    const addresses = servers.map(({ address }) => address);
    const dead = createResolver({ budgetMs: 400, servers: addresses });
    const began = performance.now();
    // Four lookups would block the system's own resolver.
    const lookups = Array.from({ length: 20 }, () =>
      dead('a.example').then(
        () => undefined,
        (error: unknown) => ({ error, ms: performance.now() - began }),
      ),
    );
    for (const failed of await Promise.all(lookups)) {
      expect(failed?.error).toMatchObject({ failure: { errorClass: 'dns' } });
      expect(failed?.ms).toBeGreaterThan(200);
      expect(failed?.ms).toBeLessThan(20_000);
    }
  });
});
