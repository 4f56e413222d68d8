import Router from '@koa/router';
import Koa from 'koa';
import { PaymentError } from '../contract/errors.ts';
import { newRequestId } from '../contract/ids.ts';
import type { Logger } from '../process.ts';
import { logContext } from '../process.ts';
import type { Authenticate } from './authentication.ts';
import { readForm, readJson } from './body.ts';
import { toErrorReply } from './errors.ts';
import type { Reply, Route, RouteRequest } from './route.ts';

export interface Deps {
  routes: readonly Route[];
  authenticate: Authenticate;
  logger: Pick<Logger, 'info' | 'error'>;
  /** True while the process stops: connections are closed after their answer. */
  isStopping: () => boolean;
}

/** The HTTP application: the table of routes, and around it request ids, errors and the log. */
export const createApp = (deps: Deps): Koa => {
  const app = new Koa();
  const router = new Router();
  for (const route of deps.routes)
    router.register(route.path, [route.method], async (ctx) => {
      ctx.state['route'] = route;
      send(ctx, await answer(deps, route, ctx));
    });
  app.use(around(deps));
  app.use(router.routes());
  app.use(async (ctx) => {
    throw nothingHere(ctx, deps.routes);
  });
  return app;
};

const answer = async (
  { authenticate }: Pick<Deps, 'authenticate'>,
  route: Route,
  ctx: Koa.Context,
): Promise<Reply> => {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  const params = ctx['params'] as Record<string, string>; // The router's, from the path.
  const request: RouteRequest = {
    params,
    header: (name) => (ctx.req.headers[name] === undefined ? undefined : ctx.get(name)),
    readJson: () => readJson(ctx.req),
    readForm: () => readForm(ctx.req),
    signal: gone.signal,
  };
  const store = logContext.getStore();
  if (store && params['payment_id']) store['payment_id'] = params['payment_id'];
  if (route.access === 'payer') return route.handle(request);
  const caller = await authenticate(ctx.get('authorization'));
  if (store) store['application'] = caller.application;
  return route.handle({ ...request, caller });
};

/** Every answer has a request id and fixed headers; every failure becomes an answer here. */
const around =
  ({ logger, isStopping }: Deps): Koa.Middleware =>
  async (ctx, next) => {
    const requestId = newRequestId();
    const began = performance.now();
    await logContext.run({ request_id: requestId }, async () => {
      ctx.set({
        'x-request-id': requestId,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      if (isStopping()) ctx.set('connection', 'close');
      const routeOf = () => ctx.state['route'] as Route | undefined;
      try {
        await next();
      } catch (error) {
        send(ctx, await toErrorReply(error, { requestId, route: routeOf(), logger }));
      }
      logger.info(
        {
          method: ctx.method,
          route: routeOf()?.path ?? null,
          status: ctx.status,
          duration_ms: Math.round(performance.now() - began),
        },
        'Request',
      );
    });
  };

const send = (ctx: Koa.Context, { status, headers, body }: Reply) => {
  ctx.status = status;
  if (headers) ctx.set(headers);
  ctx.body = body ?? null;
  // Koa makes 204 of an empty body; a redirect has none and keeps its status.
  ctx.status = status;
  if (body !== undefined) ctx.type = body.startsWith('<') ? 'text/html' : 'application/json';
};

const nothingHere = (ctx: Koa.Context, routes: readonly Route[]): PaymentError => {
  const matched = new Set((ctx['matched'] as { path: string }[]).map(({ path }) => path));
  const methods = routes.filter(({ path }) => matched.has(path)).map(({ method }) => method);
  if (methods.length === 0) return new PaymentError('NOT_FOUND', 'There is nothing at this path.');
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  ctx.set('allow', allow.join(', '));
  return new PaymentError('METHOD_NOT_ALLOWED', `Use ${allow.join(' or ')}.`);
};
