import { onTestFinished } from 'vitest';
import { createApp } from '../../../api/app.ts';
import type { Authenticate } from '../../../api/auth/authentication.ts';
import type { AnyRequest, HandlerResult } from '../../../api/http/route.ts';
import type { Handlers } from '../../../api/routes.ts';
import { createRateLimiter } from '../../../api/http/rate-limiter.ts';
import { createHttpServer } from '../../../api/http/server.ts';
import { createApiMetrics, createRegistry } from '../../../telemetry/metrics.ts';
import { aCaller } from '../data/a-caller.ts';
import { until } from '../until.ts';
import { listenOnLoopback } from './listen.ts';

export type Handle = (request: AnyRequest) => Promise<HandlerResult>;

interface Options {
  requestsMax?: number;
  authenticate?: Authenticate;
}

/** Serves the HTTP application with handlers of the test; gives its log lines and what it counted. */
export const serve = async (
  handlers: Record<string, Handle>,
  { requestsMax = 10, authenticate = async () => aCaller() }: Options = {},
) => {
  const lines: Record<string, unknown>[] = [];
  const log = (level: string) => (fields: object | string, msg?: string) =>
    void lines.push({
      level,
      ...(typeof fields === 'string' ? { msg: fields } : { msg, ...fields }),
    });
  let draining = false;
  const metrics = createApiMetrics(createRegistry());
  const app = createApp({
    handlers: handlers as unknown as Handlers, // Tests call no other route.
    authenticate,
    clientAddress: () => '192.0.2.1',
    addressInLog: 'truncated',
    openRequests: createRateLimiter({ perMinute: 20, now: Date.now }),
    payerPages: { hit: () => undefined },
    logger: { info: log('info'), error: log('error') },
    metrics,
    refusals: { record: () => {} },
    requestsMax,
    securityContact: undefined,
    isDraining: () => draining,
  });
  const server = createHttpServer(app.callback(), { logger: { error: log('error') } });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const ended = () =>
    until('the request is logged', () => lines.find(({ msg }) => msg === 'Request'));
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    drain: () => {
      draining = true;
    },
    lines,
    /** Waits for the log line of a request. */
    ended,
    /** The statuses in the request metric, after the request has ended. */
    async counted() {
      await ended();
      const { values } = await metrics.requests.get();
      return values.map(({ labels }) => labels.status);
    },
  };
};
