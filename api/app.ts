import type { ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { z } from 'zod';
import { PaymentError } from '../contract/errors.ts';
import { paymentIdPattern } from '../contract/ids.ts';
import { dayMs } from '../contract/time.ts';
import type { Budget, Caller } from '../postgres/applications/tokens.ts';
import { logContext } from '../telemetry/log.ts';
import type { Authenticate } from './auth/authentication.ts';
import { payerPath } from './payer/link.ts';
import { errorPage } from './payer/pages.ts';
import type { Handlers } from './routes.ts';
import { routes } from './routes.ts';
import { readBytes, readFields, readForm, readJson } from './http/body.ts';
import { OverloadedError } from './http/error-response.ts';
import { rateLimitKey } from './http/client-address.ts';
import type { QueryReader } from './http/query.ts';
import { createQueryReader } from './http/query.ts';
import type { PageLimiter } from './http/rate-limiter.ts';
import { rateLimited } from './http/rate-limiter.ts';
import type { Deps as ContextDeps } from './http/request-context.ts';
import {
  browserRequest,
  logSendError,
  requestContext,
  sendResult,
  UnmatchedRequest,
} from './http/request-context.ts';
import type { AnyRequest, HandlerResult, Route } from './http/route.ts';

export interface Deps extends Omit<ContextDeps, 'errorPage'> {
  handlers: Handlers;
  authenticate: Authenticate;
  /** Counts the requests of payers' browsers by payment and address. */
  payerPages: PageLimiter;
  /** The address for reports of a weakness; undefined if the operator names none. */
  securityContact: string | undefined;
  /** Concurrent requests; further ones get 503. */
  requestsMax: number;
}

/** The HTTP application: serves the table of routes. */
export const createApp = (deps: Deps): Koa => {
  const app = new Koa();
  app.on('error', (error: Error, ctx: Koa.Context) => logSendError(deps, error, ctx));
  app.use(requestContext({ ...deps, errorPage }));
  app.use(repairPayerLink);
  app.use(serveSecurityText(deps));
  app.use(createRouter(deps).routes());
  app.use(async (ctx) => {
    throw unmatched(ctx);
  });
  return app;
};

const repairPayerLink: Koa.Middleware = (ctx, next) => {
  ctx.path = payerPath(ctx.path);
  return next();
};

const securityText = {
  access: 'anyone',
  method: 'GET',
  path: '/.well-known/security.txt',
} satisfies Partial<Route>;
const securityTextDays = 180;

/** RFC 9116. It is no part of the API, so it is not in the table of routes. */
const serveSecurityText =
  ({ securityContact }: Deps): Koa.Middleware =>
  async (ctx, next) => {
    if (securityContact === undefined || ctx.path !== securityText.path) return next();
    ctx.state['route'] = securityText;
    const expires = new Date(Date.now() + securityTextDays * dayMs).toISOString();
    ctx.type = 'text/plain';
    ctx.body = `Contact: ${securityContact}\nExpires: ${expires}\n`;
  };

interface Endpoint {
  route: Route;
  handle: (request: AnyRequest) => Promise<HandlerResult>;
  readQuery: QueryReader | undefined;
}

const createRouter = (deps: Deps): Router => {
  const router = new Router({ sensitive: true, strict: true });
  let running = 0;
  for (const endpoint of endpoints(deps.handlers))
    router.register(endpoint.route.path, [endpoint.route.method], async (ctx) => {
      ctx.state['route'] = endpoint.route;
      if (running >= deps.requestsMax) throw new OverloadedError();
      running += 1;
      try {
        sendResult(ctx, await handle(deps, endpoint, ctx));
      } finally {
        running -= 1;
      }
    });
  return router;
};

const endpoints = (handlers: Handlers): Endpoint[] =>
  (Object.keys(routes) as (keyof Handlers)[]).map((name) => {
    const route: Route = routes[name];
    const query = route.query ?? (route.access === 'application' ? z.object({}) : undefined);
    const readQuery = query && createQueryReader(query);
    return { route, handle: handlers[name], readQuery };
  });

const handle = async (
  deps: Deps,
  { route, handle: handler, readQuery }: Endpoint,
  ctx: Koa.Context,
): Promise<HandlerResult> => {
  const params = ctx['params'] as Record<string, string>; // Set by the router from the path.
  const address = rateLimitKey(deps.clientAddress(ctx.req));
  const log = logContext.getStore();
  const id = params['payment_id'] ?? '';
  // The path may hold anything else, perhaps a token; log nothing but payment ids.
  if (log && paymentIdPattern.test(id)) log['payment_id'] = id;

  let caller: Caller | undefined;
  if (route.access === 'application') {
    caller = await deps.authenticate({
      authorization: ctx.get('authorization'),
      address,
      onBudget: (budget) => ctx.set(budgetHeaders(budget)),
    });
    ctx.state['caller'] = caller;
    if (log) Object.assign(log, { application: caller.application, token: caller.token });
    checkBudget(caller.budget);
    if (route.scope && !caller.scopes.includes(route.scope))
      throw new PaymentError('INSUFFICIENT_SCOPE', `The token needs the scope ${route.scope}.`);
  }
  if (route.access === 'payer') {
    const limitError = deps.payerPages.hit(address, paymentIdPattern.test(id) ? id : '');
    if (limitError) throw limitError;
    if (isAhead(ctx)) throw notAhead();
  }
  const query = readQuery?.(ctx.querystring);
  // A handler sees `caller` and `query` only if its row declares them, and then both are set.
  return handler({ ...requestParts(ctx, route), params, address, caller, query } as AnyRequest);
};

/**
 * A browser loads the page although its payer may never open it. An error makes it load the page again once the payer does;
 * the page itself would take a payer who is still at the gateway for one who has returned.
 */
const isAhead = (ctx: Koa.Context): boolean =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /prefetch|prerender|preview/i.test(ctx.get(name)),
  );

const notAhead = () =>
  new PaymentError('RATE_LIMITED', 'This page is not loaded ahead of time.', {
    details: { retry_after: 1 },
  });

const requestParts = (
  ctx: Koa.Context,
  { body }: Route,
): Omit<AnyRequest, 'params' | 'address' | 'caller' | 'query'> => ({
  ...browserRequest(ctx),
  isHead: ctx.method === 'HEAD',
  refuse: (code, message, options) => new PaymentError(code, message, options),
  headerLines: (name) => ctx.req.headersDistinct[name] ?? [],
  readJson: () => readJson(ctx.req, { optional: body && 'optional' in body && body.optional }),
  readForm: () => readForm(ctx.req),
  readBytes: () => readBytes(ctx.req),
  readFields: () => readFields(ctx.req),
  disconnectSignal: () => disconnectSignal(ctx.res),
});

/** Aborts when the client disconnects before its response. Expensive, so made only for handlers that wait. */
const disconnectSignal = (res: ServerResponse): AbortSignal => {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else res.once('close', () => res.writableFinished || controller.abort());
  return controller.signal;
};

const budgetHeaders = ({ perMinute, used }: Budget) => ({
  'x-ratelimit-limit': String(perMinute),
  'x-ratelimit-remaining': String(Math.max(0, perMinute - used)),
});

/** @throws PaymentError RATE_LIMITED */
const checkBudget = ({ perMinute, used, secondsLeft }: Budget) => {
  if (used > perMinute) throw rateLimited(secondsLeft);
};

/** The error for a request that no route matches: an unknown path, or a method that the path does not support. */
const unmatched = (ctx: Koa.Context): PaymentError => {
  const paths = new Set((ctx['matched'] as { path: string }[]).map(({ path }) => path));
  const found: Route[] = Object.values(routes).filter(({ path }) => paths.has(path));
  if (found.length === 0) return new UnmatchedRequest('NOT_FOUND');
  // The access of the path decides between JSON and a page.
  [ctx.state['route']] = found;
  const allow = found.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  ctx.set('allow', allow.join(', '));
  return new UnmatchedRequest('METHOD_NOT_ALLOWED', `Use ${allow.join(' or ')}.`);
};
