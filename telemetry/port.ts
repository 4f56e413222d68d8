import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { isLocalhost } from '../contract/localhost.ts';
import { version } from '../contract/version.ts';
import { listen } from '../process.ts';
import { registerDependencies } from './metrics.ts';
import { singleFlight } from './single-flight.ts';

export interface Dependency {
  /** The process is not ready without it. */
  required: boolean;
  /** Rejects if the dependency does not respond. */
  check: () => Promise<unknown>;
}

export interface MetricsPortOptions {
  config: { METRICS_HOST: string; METRICS_PORT: number };
  registry: Registry;
  dependencies: Readonly<Record<string, Dependency>>;
  /** Returns more metrics in the exposition format. */
  furtherMetrics?: () => Promise<string>;
}

const limits = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  maxHeaderSize: 8 * 1024,
};
const maxConnections = 50;
const checkLimitMs = 2_000;

/**
 * Opens a port for operators, not for the public: `/livez`, `/readyz` and `/metrics`.
 * @throws SetupError when the port is not available
 */
export const openMetricsPort = async (options: MetricsPortOptions) => {
  const { config, registry, dependencies, furtherMetrics = async () => '' } = options;
  let stopping = false;
  const checks = Object.entries(dependencies).map(([name, { check }]) => ({
    name,
    isUp: singleFlight(
      async () => {
        await check();
        return true;
      },
      { limitMs: checkLimitMs },
    ),
  }));
  const checkAll = async () =>
    Object.fromEntries(
      await Promise.all(
        checks.map(async ({ name, isUp }) => [name, (await isUp()) ?? false] as const),
      ),
    );
  registerDependencies(registry, checkAll);

  const ready = async () => {
    const up = await checkAll();
    const missing = Object.keys(dependencies).filter((name) => !up[name]);
    const isUsable = missing.every((name) => !dependencies[name]?.required);
    const status = stopping ? 'stopping' : isUsable ? 'ready' : 'not_ready';
    return {
      status: status === 'ready' ? 200 : 503,
      type: 'application/json',
      body: `${JSON.stringify({ status, missing, version })}\n`,
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

  const isHere = isThisMachine(config.METRICS_HOST);
  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const { hostname = '' } = URL.parse(`http://${req.headers.host ?? '127.0.0.1'}`) ?? {};
    const page = pages[(req.url ?? '').split('?', 1)[0] ?? ''];
    // A web page can have a name of its own lead to this machine, and would read the answer.
    const isForeign = isHere && !isThisMachine(hostname);
    const { status, type, body } = isForeign ? notHere : page ? await page() : notFound;
    res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  };
  const server = createServer(limits, (req, res) => {
    serve(req, res).catch(() => res.writeHead(500).end());
  });
  server.maxConnections = maxConnections;
  const { port } = await listen(server, {
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    variable: 'METRICS_PORT',
  });
  return {
    port,
    /** `/readyz` responds 503 from now on. Close the port after everything else. */
    markStopping() {
      stopping = true;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const isThisMachine = (host: string) =>
  isLocalhost(host) || /^(127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);

const notHere = { status: 421, type: 'text/plain', body: 'Ask for this port at 127.0.0.1\n' };
const notFound = { status: 404, type: 'text/plain', body: 'Try /livez, /readyz or /metrics\n' };
