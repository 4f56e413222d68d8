import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isPostgresUnavailable } from '../../../postgres/driver/error-codes.ts';
import { freePort } from '../../../stack/ports.ts';
import { createJourney } from '../../support/service/journey.ts';
import { scrape } from '../../support/service/metrics.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { version } from '../../../contract/version.ts';
import { forFile } from '../../support/for-file.ts';

const postgres = await startOwnPostgres();
const service = await forFile(startService({ database: postgres, ownTemporal: true }));

const get = async (part: 'api' | 'worker', path: string) => {
  const response = await fetch(`${service.metricsUrls[part]}${path}`);
  return { status: response.status, text: await response.text() };
};
const ready = async (part: 'api' | 'worker') => {
  const { status, text } = await get(part, '/readyz');
  return { http: status, ...(JSON.parse(text) as { status: string; missing: string[] }) };
};
const nothingIsMissing = async () => {
  for (const part of ['api', 'worker'] as const)
    await until(
      `nothing is missing for the ${part}`,
      async () => (await ready(part)).missing.length === 0,
    );
};
const withoutPostgres = { http: 503, status: 'not_ready', missing: ['postgres'], version };
const allReady = { http: 200, status: 'ready', missing: [], version };

describe('the metrics port', () => {
  it('reports that both processes are alive and ready', async () => {
    for (const part of ['api', 'worker'] as const) {
      expect(await get(part, '/livez')).toEqual({ status: 200, text: 'alive\n' });
      expect(await ready(part)).toEqual(allReady);
    }
  });

  it('serves its three pages only, and the public port serves none of them', async () => {
    expect((await get('api', '/')).status).toBe(404);
    expect((await get('api', '/api/v1/payments')).status).toBe(404);
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect((await fetch(`${service.url}${path}`)).status).toBe(404);
  });

  it('answers 421 to a name that somebody else has bound to this machine', async () => {
    const { port } = new URL(service.metricsUrls.api);
    const statusFor = async (host: string) => {
      const sent = request({ port, host: '127.0.0.1', path: '/metrics', headers: { host } }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return answer.resume().statusCode;
    };
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]'])
      expect(await statusFor(host), host).toBe(200);
    for (const host of [`evil.example:${port}`, 'localhost.evil.example'])
      expect(await statusFor(host), host).toBe(421);
  });

  it('listens on loopback by default', async () => {
    const port = Number(new URL(service.metricsUrls.api).port);
    const refused = await new Promise((resolve) => {
      // 127.0.0.2 is this machine too, but not the address that the port listens on.
      const socket = connect({ host: '127.0.0.2', port });
      socket.once('error', () => resolve(true));
      socket.once('connect', () => resolve(false));
    });
    expect(refused).toBe(true);
  });

  it('reports a missing Temporal: the worker is not ready, and the API is', async () => {
    await service.engine.stop();
    expect(
      await until('the worker is not ready', async () => {
        const readiness = await ready('worker');
        return readiness.http === 503 && readiness;
      }),
    ).toEqual({ http: 503, status: 'not_ready', missing: ['temporal'], version });
    await until('the API misses it', async () => (await ready('api')).missing[0] === 'temporal');
    expect(await ready('api')).toEqual({
      http: 200,
      status: 'ready',
      missing: ['temporal'],
      version,
    });
    expect(
      (await scrape(service.metricsUrls.api)).value('payments_dependency_up', {
        dependency: 'temporal',
      }),
    ).toBe(0);
    const { token } = await service.anApplication();
    await createJourney(service, token).create();
    expect((await get('worker', '/livez')).status).toBe(200);

    await service.engine.start();
    await nothingIsMissing();
  });

  it('reports a missing or hanging Postgres, and exports no samples of it', async () => {
    const samplesOf = async () =>
      (await scrape(service.metricsUrls.worker)).value('payments_outbox_size');
    expect(await samplesOf()).toBeDefined();
    const unfreeze = await postgres.freeze();
    try {
      const began = performance.now();
      expect(await Promise.all([ready('api'), ready('worker')])).toEqual([
        withoutPostgres,
        withoutPostgres,
      ]);
      expect(performance.now() - began).toBeLessThan(30_000);
      expect(await samplesOf()).toBeUndefined();
    } finally {
      unfreeze();
    }
    await nothingIsMissing();
    await until('a sample', async () => (await samplesOf()) !== undefined);

    await postgres.stop();
    for (const part of ['api', 'worker'] as const)
      expect(await ready(part)).toEqual(withoutPostgres);
    await postgres.start();
    await nothingIsMissing();
  });

  it('reports a read-only Postgres as missing, and leaves a standby', async () => {
    await postgres.stop();
    const promote = await postgres.startStandby();
    try {
      for (const part of ['api', 'worker'] as const)
        expect(await ready(part)).toEqual(withoutPostgres);
      const refused: unknown = await postgres.sql`select 1`.catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'CONNECTION_DESTROYED' });
      expect(isPostgresUnavailable(refused)).toBe(true);
    } finally {
      await promote();
    }
    await nothingIsMissing();
    await postgres.sql`delete from workflow_outbox where false`;
  });

  it('reports that the process is stopping, until it has stopped', async () => {
    const port = await freePort();
    const api = await service.anotherApi({
      METRICS_PORT: String(port),
      SHUTDOWN_GRACE_SECONDS: '20',
    });
    const readiness = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { http: response.status, ...((await response.json()) as { status: string }) };
    };
    // An idle connection makes the API wait for its grace period.
    const idle = connect({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
    await until('the connection', () => !idle.connecting);
    const stopped = api.process.stop();
    const stopping = await until('the status stopping', async () => {
      const current = await readiness();
      return current.status === 'stopping' && current;
    });
    expect(stopping).toEqual({ http: 503, status: 'stopping', missing: [], version });
    idle.destroy();
    await stopped;
    await expect(readiness()).rejects.toThrow('fetch failed');
  });
});
