import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shutdownGracefully } from '../../../../api/http/shutdown.ts';
import { serve, type Handle } from '../../../support/servers/http-application.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { rawConnection, rawRequest } from '../../../support/servers/raw-http.ts';
import { startService, type Service } from '../../../support/service/service.ts';
import { startTcpProxy } from '../../../support/servers/tcp-proxy.ts';

const get = 'GET /api/v1/docs HTTP/1.1\r\nhost: x\r\n\r\n';

describe('shutdownGracefully', () => {
  /** A server with this handler, and a connection to it. */
  const aServer = async (handle: Handle) => {
    const { url, server, drain } = await serve({ showDocs: handle });
    const shutDown = (graceMs: number) => shutdownGracefully(server, { graceMs, drain });
    return { url, shutDown, ...(await rawConnection(url)) };
  };

  it('serves new connections for a quarter of the grace, and then closes idle ones', async () => {
    const { url, socket, closed, shutDown } = await aServer(async () => ({ status: 200 }));
    socket.write(get);
    await once(socket, 'data');
    const done = shutDown(6_000);
    const other = await rawConnection(url);
    other.socket.write(get);
    expect(await other.closed).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
    expect(socket.closed).toBe(false);
    await Promise.all([done, closed]);
    await expect(fetch(`${url}/api/v1/docs`)).rejects.toThrow('fetch failed');
  });

  it('waits for a running request, and closes its connection', async () => {
    const gate = Promise.withResolvers<void>();
    const running = Promise.withResolvers<void>();
    const { url, socket, closed, shutDown } = await aServer(async () => {
      running.resolve();
      await gate.promise;
      return { status: 200 };
    });
    socket.write(get);
    await running.promise;
    const startedAt = performance.now();
    // It refuses connections after a quarter of this; the rest is for a busy machine.
    const done = shutDown(12_000);
    const isRefused = () =>
      fetch(`${url}/api/v1/me`).then(
        () => false,
        () => true,
      );
    await expect.poll(isRefused, { timeout: 30_000 }).toBe(true);
    gate.resolve();
    expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
    await done;
    expect(performance.now() - startedAt).toBeLessThan(12_000);
  });

  it('cuts a request that still runs after the grace', async () => {
    const running = Promise.withResolvers<void>();
    const { socket, closed, shutDown } = await aServer(() => {
      running.resolve();
      return new Promise(() => {});
    });
    socket.write(get);
    await running.promise;
    const startedAt = performance.now();
    await shutDown(1_000);
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    expect(await closed).toBe('');
  });
});

describe('a rolling restart', () => {
  let service: Service;
  let second: Awaited<ReturnType<Service['anotherApi']>>;
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
  beforeAll(async () => {
    // A worker would keep the machine busy with the opening of payments for which nobody waits.
    // The proxy asks often, so that it needs no more than a quarter of this: 2 s, for which each of the two drains.
    const apiEnv = { SHUTDOWN_GRACE_SECONDS: '8' };
    service = await startService({ apiEnv, withoutWorker: true });
    second = await service.anotherApi();
    proxy = await startTcpProxy(
      [service.url, second.url],
      [`${service.metricsUrls.api}/readyz`, `${second.metricsUrl}/readyz`],
    );
  });
  afterAll(async () => {
    await proxy?.stop();
    await service?.stop();
  });

  const perSecond = 50;
  const order = JSON.stringify({ order_id: 'o', amount: 1, currency: 'EUR' });

  it('cuts no request, at 50 a second, nine reads to one create', async () => {
    const { token } = await service.anApplication();
    const id = await createJourney(service, token).create();
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const authorization = `Bearer ${token}`;
    const read = { agent, method: 'GET', headers: { authorization } };
    const create = {
      agent,
      headers: { authorization, 'content-type': 'application/json' },
      body: order,
    };
    const send = (isCreate: boolean) =>
      rawRequest(
        `${proxy.url}/api/v1/payments${isCreate ? '' : `/${id}`}`,
        isCreate ? create : read,
      ).then(
        ({ status }) => `${isCreate ? 'create' : 'read'} ${status}`,
        (error: unknown) => `cut: ${String(error)}`,
      );

    const results: Promise<string>[] = [];
    let isRestarting = true;
    const load = async () => {
      const startedAt = performance.now();
      for (let index = 0; isRestarting; index += 1) {
        await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
        results.push(send(index % 10 === 0));
      }
    };
    const restarts = async () => {
      for (const process of [service.api, second.process]) {
        await process.stop();
        await process.start();
      }
      isRestarting = false;
    };
    await Promise.all([load(), restarts()]);

    const counts: Record<string, number> = {};
    for (const result of await Promise.all(results)) counts[result] = (counts[result] ?? 0) + 1;
    agent.destroy();
    expect(Object.keys(counts).toSorted(), JSON.stringify({ counts, cuts: proxy.cuts })).toEqual([
      'create 201',
      'read 200',
    ]);
    expect(results.length).toBeGreaterThan(perSecond);
    const [row] = await service.sql<{ made: number }[]>`select count(*) as made from payments`;
    expect(row?.made).toBe((counts['create 201'] ?? 0) + 1);
  });
});
