import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { listen } from '../process.ts';
import { registerDependencies } from './metrics.ts';
import { singleFlight } from './single-flight.ts';

/** What the process works with. Where it is `needed`, the process is not ready without it. */
export interface Dependency {
  needed: boolean;
  /** Rejects where it does not answer. */
  ask: () => Promise<unknown>;
}

export interface MetricsPortOptions {
  config: { METRICS_HOST: string; METRICS_PORT: number };
  registry: Registry;
  dependencies: Readonly<Record<string, Dependency>>;
  /** More in the exposition format, from elsewhere. */
  furtherMetrics?: () => Promise<string>;
}

const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  maxHeaderSize: 8 * 1024,
};
const connectionsMax = 50;
const askMs = 2_000;

/**
 * For those who operate the service, not for the public: `/livez`, `/readyz` and `/metrics`.
 * @throws SetupError when the port cannot be had
 */
export const openMetricsPort = async (options: MetricsPortOptions) => {
  const { config, registry, dependencies, furtherMetrics = async () => '' } = options;
  let stopping = false;
  const looks = Object.entries(dependencies).map(([name, { ask }]) => ({
    name,
    look: singleFlight(
      async () => {
        await ask();
        return true;
      },
      { limitMs: askMs },
    ),
  }));
  const look = async () =>
    Object.fromEntries(
      await Promise.all(
        looks.map(async ({ name, look: isUp }) => [name, (await isUp()) ?? false] as const),
      ),
    );
  registerDependencies(registry, look);

  const ready = async () => {
    const up = await look();
    const lacks = Object.entries(dependencies).some(([name, { needed }]) => needed && !up[name]);
    const missing = Object.keys(dependencies).filter((name) => !up[name]);
    const status = stopping ? 'stopping' : lacks ? 'not_ready' : 'ready';
    return {
      status: status === 'ready' ? 200 : 503,
      type: 'application/json',
      body: `${JSON.stringify({ status, missing })}\n`,
    };
  };
  const metrics = async () => {
    const texts = await Promise.all([registry.metrics(), furtherMetrics()]);
    return { status: 200, type: registry.contentType, body: texts.join('\n') };
  };
  const live = async () => ({ status: 200, type: 'text/plain', body: 'alive\n' });
  const pages: Readonly<Record<string, typeof ready>> = {
    '/livez': live,
    '/readyz': ready,
    '/metrics': metrics,
  };

  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const page = pages[(req.url ?? '').split('?', 1)[0] ?? ''];
    const { status, type, body } = page ? await page() : nothing;
    res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  };
  const server = createServer(limits, (req, res) => {
    serve(req, res).catch(() => res.writeHead(500).end());
  });
  server.maxConnections = connectionsMax;
  const { port } = await listen(server, {
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    variable: 'METRICS_PORT',
  });
  return {
    port,
    /** Not ready from now on; it is closed when all else is. */
    beginStop() {
      stopping = true;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const nothing = { status: 404, type: 'text/plain', body: 'Here are /livez, /readyz, /metrics\n' };
