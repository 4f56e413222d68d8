import type Koa from 'koa';
import { type ErrorCode, PaymentError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { newRequestId } from '../../contract/ids.ts';
import { parseTraceparent, traceIdOf } from '../../contract/trace.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { Logger } from '../../telemetry/log.ts';
import { logContext } from '../../telemetry/log.ts';
import { isBodyCut } from './body.ts';
import { type BrowserRequest, type ErrorPage, errorResponse } from './error-response.ts';
import type { AddressInLog, ClientAddress } from './client-address.ts';
import { addressInLog, rateLimitKey } from './client-address.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { RepeatedRateLimitError } from './rate-limiter.ts';
import type { Refusals } from './refusals.ts';
import type { HandlerResult, Route } from './route.ts';

export interface Deps {
  logger: Pick<Logger, 'info' | 'error'>;
  metrics: Pick<ApiMetrics, 'requests' | 'requestDuration'>;
  clientAddress: ClientAddress;
  addressInLog: AddressInLog;
  /** Counts requests that anyone can send, by address: they must not fill the log. */
  openRequests: RateLimiter;
  errorPage: ErrorPage;
  refusals: Pick<Refusals, 'record'>;
  /** True while the process shuts down: every response then closes its connection. */
  isDraining: () => boolean;
}

/** No route matches the path, or its method. */
export class UnmatchedRequest extends PaymentError {}

/** nginx's status for a client that disconnected before its response; used in the log and in metrics. */
const clientClosedRequest = 499;

/** Gives every request an id, every response the common headers, every error a response; logs and counts. */
export const requestContext =
  (deps: Deps): Koa.Middleware =>
  async (ctx, next) => {
    const requestId = newRequestId();
    const startedAt = performance.now();
    const traceparent = parseTraceparent(ctx.get('traceparent'));
    const address = addressInLog(deps.clientAddress(ctx.req), deps.addressInLog);
    const context = {
      request_id: requestId,
      ...(address !== undefined && { client_address: address }),
      ...(traceparent !== undefined && { trace_id: traceIdOf(traceparent) }),
    };
    await logContext.run(context, async () => {
      ctx.set({
        'x-request-id': requestId,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      let error: unknown;
      let code: ErrorCode | undefined;
      try {
        if (!hasReadablePath(ctx)) throw new UnmatchedRequest('NOT_FOUND');
        await next();
      } catch (thrown) {
        error = thrown;
      }
      const isDisconnect = ctx.socket.destroyed && isCausedByDisconnect(error);
      // Other errors are logged and counted even if the client has disconnected.
      if (error !== undefined && !isDisconnect) {
        const forPayer = isLostPayer(ctx);
        const request = browserRequest(ctx);
        const failed = { ...deps, requestId, route: routeOf(ctx), forPayer, request };
        const answer = await errorResponse(error, failed);
        sendResult(ctx, answer);
        code = answer.code;
        recordRefusal(deps, ctx, error);
      }
      // Checked last: the request may have begun before the shutdown.
      if (deps.isDraining()) ctx.set('connection', 'close');
      report(deps, ctx, {
        status: isDisconnect ? clientClosedRequest : ctx.status,
        code,
        durationMs: performance.now() - startedAt,
        // A client over its limit must not fill the log.
        isLogged:
          !(error instanceof RepeatedRateLimitError) &&
          !(isOpenToAnyone(ctx, error) && isOverLimit(deps, ctx)),
      });
    });
  };

/** For the developers of the application that made the request. */
const recordRefusal = ({ refusals }: Deps, ctx: Koa.Context, error: unknown) => {
  const { request_id: id } = logContext.getStore() ?? {};
  const caller = ctx.state['caller'] as Caller | undefined;
  const route = routeOf(ctx);
  const { method, status } = ctx;
  if (caller === undefined || id === undefined || !route || status >= 500) return;
  // A status below 500 is that of the error itself.
  if (!(error instanceof PaymentError)) return;
  // A client over its budget would push out what its developers look for; its headers say enough.
  if (error.code === 'RATE_LIMITED') return;
  const { code, details } = error;
  const fields = details?.fields?.slice(0, limits.reportedProblems) ?? null;
  const { application, mode } = caller;
  const test = mode === 'test';
  refusals.record({ id, application, test, method, route: route.path, status, code, fields });
};

/** A browser without a token, at a place to which a part of a payer's link leads. */
const isLostPayer = (ctx: Koa.Context): boolean =>
  hasReadablePath(ctx) &&
  routeOf(ctx)?.access !== 'payer' &&
  ctx.get('accept').includes('text/html') &&
  ctx.get('authorization') === '' &&
  /^\/+(?:api(?:\/+v1(?:\/+(?:payments|sandbox)(?:\/.*)?)?)?)?\/*$/is.test(ctx.path);

/** Needs neither a token nor a link nor a signature, and no other limit counts it. */
const isOpenToAnyone = (ctx: Koa.Context, error: unknown): boolean =>
  error instanceof UnmatchedRequest || routeOf(ctx)?.access === 'anyone';

/** Counts a request that anyone can send. Over the limit only the log changes, not the response. */
const isOverLimit = ({ clientAddress, openRequests, logger }: Deps, ctx: Koa.Context): boolean => {
  const limitError = openRequests.hit(rateLimitKey(clientAddress(ctx.req)));
  if (limitError && !(limitError instanceof RepeatedRateLimitError))
    logger.info(
      'Too many requests without a token from this address; not logged again in this minute',
    );
  return limitError !== undefined;
};

/** A wait, or the reading of a body, that ended because the client disconnected. */
const isCausedByDisconnect = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'AbortError') || isBodyCut(error);

const report = (
  { logger, metrics }: Deps,
  ctx: Koa.Context,
  outcome: {
    status: number;
    /** Undefined: not refused. */
    code: ErrorCode | undefined;
    durationMs: number;
    isLogged: boolean;
  },
) => {
  const { status, code, durationMs } = outcome;
  const route = routeOf(ctx);
  if (outcome.isLogged)
    logger.info(
      {
        method: ctx.method,
        route: route?.path ?? null,
        status,
        ...(code !== undefined && { code }),
        duration_ms: Math.round(durationMs),
      },
      'Request',
    );
  // A client can make up any number of methods and paths; unknown ones share one label.
  const labels = { method: route?.method ?? 'none', route: route?.path ?? 'none' };
  metrics.requests.inc({ ...labels, status });
  metrics.requestDuration.observe(labels, durationMs / 1000);
};

/** The route that matched; set by the router. */
const routeOf = (ctx: Koa.Context) => ctx.state['route'] as Route | undefined;

export const browserRequest = (ctx: Koa.Context): BrowserRequest => ({
  // Mail programs and gateways write `&` as in HTML, and a `?` too many.
  search: () => new URLSearchParams(ctx.querystring.replace(/^\?+/, '').replaceAll('&amp;', '&')),
  header: (name) => (ctx.req.headers[name] === undefined ? undefined : ctx.get(name)),
});

export const sendResult = (ctx: Koa.Context, { status, headers, body }: HandlerResult): void => {
  ctx.status = status;
  if (body !== undefined)
    ctx.type = routeOf(ctx)?.access === 'payer' ? 'text/html' : 'application/json';
  if (headers) ctx.set(headers);
  ctx.body = body ?? null;
  // Koa sets 204 when it gets no body; a redirect has none and keeps its status.
  ctx.status = status;
};

/** False for a request target that is an absolute URL but not a valid one. */
const hasReadablePath = (ctx: Koa.Context): boolean => {
  try {
    return ctx.path !== '';
  } catch {
    return false;
  }
};

/** Replaces Koa's own handler, which writes to stderr. System errors come from the connection. */
export const logSendError = (
  { logger }: Pick<Deps, 'logger'>,
  error: Error,
  ctx: Koa.Context,
): void => {
  const request = { request_id: ctx.response.get('x-request-id') };
  if ('syscall' in error)
    logger.info({ ...request, reason: String(error) }, 'The client disconnected');
  else logger.error({ ...request, err: error }, 'Could not send the response');
};
