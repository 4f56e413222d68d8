import type { ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { PaymentError } from '../../contract/errors.ts';
import { newRequestId, paymentIdPattern } from '../../contract/ids.ts';
import { traceIdOf } from '../../contract/trace.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { Budget, Caller } from '../../postgres/tokens.ts';
import type { Logger } from '../../telemetry/log.ts';
import { logContext } from '../../telemetry/log.ts';
import type { AddressLimiter } from './address-limiter.ts';
import { RepeatedRateLimitError, rateLimited } from './address-limiter.ts';
import type { Authenticate } from '../auth/authentication.ts';
import { isCutBody, readBytes, readForm, readJson } from './body.ts';
import type { ClientAddress } from './client-address.ts';
import { rateLimitKey } from './client-address.ts';
import { toErrorReply } from './errors.ts';
import type { ReadQuery } from './query.ts';
import { createQueryReader } from './query.ts';
import type { AnyRequest, Reply, Route } from './route.ts';
import type { Handlers } from '../routes.ts';
import { routes } from '../routes.ts';

export interface Deps {
  handlers: Handlers;
  authenticate: Authenticate;
  clientAddress: ClientAddress;
  /** Counts what payers' browsers ask for. */
  payerPages: AddressLimiter;
  logger: Pick<Logger, 'info' | 'error'>;
  metrics: Pick<ApiMetrics, 'requests' | 'requestDuration'>;
  /** Those that are answered at once; who comes then is told to come again. */
  requestsMax: number;
  /** True while the process stops: connections are closed after their answer. */
  isStopping: () => boolean;
}

/** The HTTP application: the table of routes, and around it request ids, errors and the log. */
export const createApp = (deps: Deps): Koa => {
  const app = new Koa();
  const router = new Router({ sensitive: true, strict: true });
  let underWay = 0;
  for (const served of serve(deps.handlers))
    router.register(served.route.path, [served.route.method], async (ctx) => {
      ctx.state['route'] = served.route;
      if (underWay >= deps.requestsMax) throw full();
      underWay += 1;
      try {
        send(ctx, await answer(deps, served, ctx));
      } finally {
        underWay -= 1;
      }
    });
  app.on('error', (error: Error, ctx: Koa.Context) => whileAnswering(deps, error, ctx));
  app.use(around(deps));
  app.use(router.routes());
  app.use(async (ctx) => {
    throw nothingHere(ctx);
  });
  return app;
};

/** Koa would write a stack to stderr. An error of the operating system is that of the connection. */
const whileAnswering = ({ logger }: Pick<Deps, 'logger'>, error: Error, ctx: Koa.Context) => {
  const request = { request_id: ctx.response.get('x-request-id') };
  if ('syscall' in error) logger.info({ ...request, reason: String(error) }, 'The client hung up');
  else logger.error({ ...request, err: error }, 'Failed while answering');
};

interface Served {
  route: Route;
  handle: (request: AnyRequest) => Promise<Reply>;
  readQuery: ReadQuery | undefined;
}

/** The table's rows, each with its handler. */
const serve = (handlers: Handlers): Served[] =>
  // `Handlers` holds that the two have the same keys.
  (Object.keys(routes) as (keyof Handlers)[]).map((name) => {
    const route: Route = routes[name];
    const readQuery = route.query && createQueryReader(route.query);
    return { route, handle: handlers[name], readQuery };
  });

const answer = async (
  { authenticate, clientAddress, payerPages }: Deps,
  { route, handle, readQuery }: Served,
  ctx: Koa.Context,
): Promise<Reply> => {
  const params = ctx['params'] as Record<string, string>; // The router's, from the path.
  const address = rateLimitKey(clientAddress(ctx.req));
  const request: Omit<AnyRequest, 'caller' | 'query'> = {
    params,
    search: () => new URLSearchParams(ctx.querystring),
    address,
    refuse: (code, message, options) => new PaymentError(code, message, options),
    header: (name) => (ctx.req.headers[name] === undefined ? undefined : ctx.get(name)),
    headerLines: (name) => ctx.req.headersDistinct[name] ?? [],
    readJson: () => readJson(ctx.req),
    readForm: () => readForm(ctx.req),
    readBytes: () => readBytes(ctx.req),
    disconnectSignal: () => disconnectSignal(ctx.res),
  };
  const store = logContext.getStore();
  const id = params['payment_id'] ?? '';
  // Whatever else stands there, perhaps a token, is not for the log.
  if (store && paymentIdPattern.test(id)) store['payment_id'] = id;
  let caller: Caller | undefined;
  if (route.access === 'application') {
    caller = await authenticate({
      authorization: ctx.get('authorization'),
      address,
      tell: (budget) => ctx.set(budgetHeaders(budget)),
    });
    if (store) store['application'] = caller.application;
    spend(caller.budget);
  }
  if (route.access === 'payer') {
    const excess = payerPages.hit(address);
    if (excess) throw excess;
  }
  const query = readQuery?.(ctx.querystring);
  // Caller and query are there where the row declares them, and only there a handler can see them.
  return handle({ ...request, caller, query } as AnyRequest);
};

/** Aborts when the client hangs up before it has its answer. Made only where something waits: it is dear. */
const disconnectSignal = (res: ServerResponse): AbortSignal => {
  const gone = new AbortController();
  if (res.closed) gone.abort();
  else res.once('close', () => res.writableFinished || gone.abort());
  return gone.signal;
};

/** What is left. */
const budgetHeaders = ({ perMinute, used }: Budget) => ({
  'x-ratelimit-limit': String(perMinute),
  'x-ratelimit-remaining': String(Math.max(0, perMinute - used)),
});

/** @throws PaymentError RATE_LIMITED where nothing was left */
const spend = ({ perMinute, used, secondsLeft }: Budget) => {
  if (used > perMinute) throw rateLimited(secondsLeft);
};

/** nginx's, for a client that hung up before its answer: HTTP has none, since nobody would get it. */
const clientClosedRequest = 499;

/** A wait, or the reading of a body, that ended because the client hung up. */
const isBreakingOff = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'AbortError') || isCutBody(error);

/** Every answer has a request id and fixed headers; every failure becomes an answer here. */
const around =
  ({ logger, metrics, isStopping }: Deps): Koa.Middleware =>
  async (ctx, next) => {
    const requestId = newRequestId();
    const began = performance.now();
    const traceId = traceIdOf(ctx.get('traceparent'));
    const context = { request_id: requestId, ...(traceId !== undefined && { trace_id: traceId }) };
    await logContext.run(context, async () => {
      ctx.set({
        'x-request-id': requestId,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      if (isStopping()) ctx.set('connection', 'close');
      const routeOf = () => ctx.state['route'] as Route | undefined;
      let isBrokenOff = false;
      let isKnownExcess = false;
      try {
        if (!isReadable(ctx)) throw noSuchPath();
        await next();
      } catch (error) {
        // Whatever else fails is told and counted, also where nobody is there any more to be answered.
        isBrokenOff = ctx.socket.destroyed && isBreakingOff(error);
        isKnownExcess = error instanceof RepeatedRateLimitError;
        if (!isBrokenOff)
          send(ctx, await toErrorReply(error, { requestId, route: routeOf(), logger }));
      }
      const status = isBrokenOff ? clientClosedRequest : ctx.status;
      const durationMs = performance.now() - began;
      const request = {
        method: ctx.method,
        route: routeOf()?.path ?? null,
        status,
        duration_ms: Math.round(durationMs),
      };
      // Else whoever is past a limit could still fill the log.
      if (!isKnownExcess) logger.info(request, 'Request');
      // What is asked beside the table has as many names as its senders like.
      const { method = 'none', path: route = 'none' } = routeOf() ?? {};
      metrics.requests.inc({ method, route, status });
      metrics.requestDuration.observe({ method, route }, durationMs / 1000);
    });
  };

const send = (ctx: Koa.Context, { status, headers, body }: Reply) => {
  const route = ctx.state['route'] as Route | undefined;
  ctx.status = status;
  if (body !== undefined) ctx.type = route?.access === 'payer' ? 'text/html' : 'application/json';
  if (headers) ctx.set(headers);
  ctx.body = body ?? null;
  // Koa makes 204 of an empty body; a redirect has none and keeps its status.
  ctx.status = status;
};

/** A target may be a whole URL, and then no URL at all. */
const isReadable = (ctx: Koa.Context): boolean => {
  try {
    return ctx.path !== '';
  } catch {
    return false;
  }
};

const full = () =>
  new PaymentError('SERVICE_UNAVAILABLE', 'Too many requests are under way at the moment.');

const noSuchPath = () => new PaymentError('NOT_FOUND');

const nothingHere = (ctx: Koa.Context): PaymentError => {
  const matched = new Set((ctx['matched'] as { path: string }[]).map(({ path }) => path));
  const found: Route[] = Object.values(routes).filter(({ path }) => matched.has(path));
  const methods = found.map(({ method }) => method);
  if (methods.length === 0) return noSuchPath();
  // Whose path it is decides between JSON and a page.
  [ctx.state['route']] = found;
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  ctx.set('allow', allow.join(', '));
  return new PaymentError('METHOD_NOT_ALLOWED', `Use ${allow.join(' or ')}.`);
};
