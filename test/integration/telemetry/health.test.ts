import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAway } from '../../../postgres/driver/connection.ts';
import { freePort } from '../../../stack/ports.ts';
import { createJourney } from '../../support/journey.ts';
import { scrape } from '../../support/metrics.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import { createProcess } from '../../support/processes.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let service: Service;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  service = await startService({ database: postgres });
});
afterAll(() => service?.stop());

const ask = async (part: 'api' | 'worker', path: string) => {
  const answer = await fetch(`${service.metricsUrls[part]}${path}`);
  return { status: answer.status, text: await answer.text() };
};
const ready = async (part: 'api' | 'worker') => {
  const { status, text } = await ask(part, '/readyz');
  return { http: status, ...(JSON.parse(text) as { status: string; missing: string[] }) };
};
const all = { http: 200, status: 'ready', missing: [] };

describe('the metrics port', () => {
  it('says that both processes live and are ready', async () => {
    for (const part of ['api', 'worker'] as const) {
      expect(await ask(part, '/livez')).toEqual({ status: 200, text: 'alive\n' });
      expect(await ready(part)).toEqual(all);
    }
  });

  it('has nothing else, and nothing of it is on the public port', async () => {
    expect((await ask('api', '/')).status).toBe(404);
    expect((await ask('api', '/api/v1/payments')).status).toBe(404);
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect((await fetch(`${service.url}${path}`)).status).toBe(404);
  });

  it('is on loopback unless it is told otherwise', async () => {
    const port = Number(new URL(service.metricsUrls.api).port);
    const refused = await new Promise((resolve) => {
      // All of 127.0.0.0/8 is this machine; only 127.0.0.1 is listened on.
      const socket = connect({ host: '127.0.0.2', port });
      socket.once('error', () => resolve(true));
      socket.once('connect', () => resolve(false));
    });
    expect(refused).toBe(true);
  });

  it('names the variable when its port is taken', async () => {
    const lines: string[] = [];
    const second = createProcess('api', 'api/main.ts', {
      ...service.env,
      API_PORT: '0',
      METRICS_PORT: new URL(service.metricsUrls.api).port,
    });
    await second.start().catch((error: unknown) => lines.push(String(error)));
    expect(lines.join()).toMatch(/set METRICS_PORT to a free port/);
  });

  it('says that Temporal is missing: the worker is not ready, the API still takes payments', async () => {
    await service.engine.stop();
    expect(
      await until('the worker misses it', async () => {
        const said = await ready('worker');
        return said.http === 503 && said;
      }),
    ).toEqual({ http: 503, status: 'not_ready', missing: ['temporal'] });
    expect(await ready('api')).toEqual({ http: 200, status: 'ready', missing: ['temporal'] });
    expect(
      (await scrape(service.metricsUrls.api)).value('payments_dependency_up', {
        dependency: 'temporal',
      }),
    ).toBe(0);
    const { token } = await service.anApplication();
    await createJourney(service, token).create();
    expect((await ask('worker', '/livez')).status).toBe(200);

    await service.engine.start();
    for (const part of ['api', 'worker'] as const)
      await until(`the ${part} has it again`, async () => (await ready(part)).missing.length === 0);
  });

  it('says that Postgres is missing, within its limit also when it hangs, and samples nothing of it', async () => {
    const samplesOf = async () =>
      (await scrape(service.metricsUrls.worker)).value('payments_outbox_size');
    expect(await samplesOf()).toBeDefined();
    const goOn = await postgres.freeze();
    try {
      const began = performance.now();
      const missing = { http: 503, status: 'not_ready', missing: ['postgres'] };
      expect(await Promise.all([ready('api'), ready('worker')])).toEqual([missing, missing]);
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(await samplesOf()).toBeUndefined();
    } finally {
      goOn();
    }
    for (const part of ['api', 'worker'] as const)
      await until(`the ${part} has it again`, async () => (await ready(part)).missing.length === 0);
    await until('it is sampled again', async () => (await samplesOf()) !== undefined);

    await postgres.stop();
    for (const part of ['api', 'worker'] as const)
      expect(await ready(part)).toEqual({ http: 503, status: 'not_ready', missing: ['postgres'] });
    await postgres.start();
    for (const part of ['api', 'worker'] as const)
      await until(`the ${part} has it again`, async () => (await ready(part)).missing.length === 0);
  });

  it('says that Postgres is missing while it only reads, and stays on no connection to a standby', async () => {
    await postgres.stop();
    const promote = await postgres.startStandby();
    try {
      for (const part of ['api', 'worker'] as const)
        expect(await ready(part)).toEqual({
          http: 503,
          status: 'not_ready',
          missing: ['postgres'],
        });
      const refused: unknown = await postgres.sql`select 1`.catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'CONNECTION_DESTROYED' });
      expect(isAway(refused)).toBe(true);
    } finally {
      await promote();
    }
    for (const part of ['api', 'worker'] as const)
      await until(`the ${part} has it again`, async () => (await ready(part)).missing.length === 0);
    await postgres.sql`delete from workflow_outbox where false`;
  });

  it('says that the process stops, until it has stopped', async () => {
    const port = await freePort();
    const api = await service.anotherApi({
      METRICS_PORT: String(port),
      SHUTDOWN_GRACE_SECONDS: '20',
    });
    const look = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { http: answer.status, ...((await answer.json()) as { status: string }) };
    };
    // One idle connection keeps it waiting for its grace.
    const idle = connect({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
    await until('it is connected', () => !idle.connecting);
    const stopped = api.process.stop();
    const said = await until('it says so', async () => {
      const readiness = await look();
      return readiness.status === 'stopping' && readiness;
    });
    expect(said).toEqual({ http: 503, status: 'stopping', missing: [] });
    idle.destroy();
    await stopped;
    await expect(look()).rejects.toThrow('fetch failed');
  });
});
