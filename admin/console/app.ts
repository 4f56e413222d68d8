import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import { html } from 'hono/html';
import Koa, { type Context, type Middleware } from 'koa';
import { NotFound, Refusal } from '../operations/change.ts';
import { consoleRoles, type ConsoleSession } from '../../postgres/console/logins.ts';
import { isPostgresUnavailable, isQueryCanceled } from '../../postgres/driver/error-codes.ts';
import { type Assets, readAssets } from './assets.ts';
import { ownPath } from './begun-login.ts';
import { cellsOf, escapeControls, notice, timeIn, type Html } from './html.ts';
import { layout, sections } from './layout.ts';
import { refuseStranger } from './owner.ts';
import { openMessage, sealMessage } from './message.ts';
import { modeOfThing } from './mode.ts';
import { confirmLoginPage } from './pages/login.ts';
import { isZone } from './pages/settings.ts';
import { Query } from './query.ts';
import type {
  ConsoleRequest,
  ConsoleResponse,
  Cookies,
  Deps,
  OpenRoute,
  PersonRequest,
  PersonRoute,
  Route,
} from './request.ts';
import { page } from './request.ts';
import { createRoutes } from './routes.ts';
import { withUnused } from './unused.ts';

const bodyMaxBytes = 32 * 1024;

const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self'`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** The web console as a Koa application. */
export const createConsole = (deps: Deps): Koa => {
  const assets = readAssets();
  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A browser that goes away, as when somebody breaks a download off, is no failure of ours.
    if ('syscall' in error || error.code === 'ERR_STREAM_PREMATURE_CLOSE')
      deps.logger.info({ reason: String(error) }, 'The browser disconnected');
    else deps.logger.error({ err: error }, 'A response failed');
  });
  app.use(answerProbe);
  app.use(logRequests(deps));
  app.use(refuseOtherHosts(new URL(deps.baseUrl)));
  app.use(serveAssets(assets));
  const router = new Router({ sensitive: true, strict: true });
  for (const route of createRoutes(deps))
    router.register(route.path, [route.method], (ctx) => serve({ deps, assets, route }, ctx));
  app.use(router.routes());
  app.use((ctx) => serve({ deps, assets, route: noRoute }, ctx));
  return app;
};

const home = html`<a href="/">Go to the overview</a>.`;

/** A link to the list that the page belongs to. */
const sectionOf = (path: string): Html => {
  const section = sections.find(([href]) => href !== '/' && path.startsWith(`${href}/`));
  return section ? html`<a href="${section[0]}">Go to ${section[1].toLowerCase()}</a>.` : home;
};

const notFound = (): ConsoleResponse =>
  page('Not found', html`<p>There is no such page. ${home}</p>`, 404);

/** For what no route matches. */
const noRoute: Route = {
  method: 'GET',
  path: 'none',
  role: 'anyone',
  handle: async () => notFound(),
};

/** For the process's supervisor, which calls it by an address and not by its name. */
const answerProbe: Middleware = async (ctx, next) => {
  if (ctx.path !== '/livez') return next();
  ctx.status = 204;
};

/** Logs the route's pattern, because the path of a login link holds its code. */
const logRequests =
  ({ logger }: Deps): Middleware =>
  async (ctx, next) => {
    const began = performance.now();
    ctx.set(headers);
    await next();
    const { session } = ctx.state as State;
    logger.info(
      {
        method: ctx.method,
        route: (ctx.state as State).route ?? 'none',
        status: ctx.status,
        person: session?.name,
        ms: Math.round(performance.now() - began),
      },
      'Answered',
    );
  };

interface State {
  /** The page shows a form that was sent before a login. */
  isRestored?: boolean;
  route?: string;
  session?: ConsoleSession | undefined;
  /** Of the session. */
  secret?: string | undefined;
  csrf?: string;
  /** The mode of the thing that the page is about. */
  thing?: boolean | undefined;
}

/** Prevents DNS rebinding: a foreign host name may resolve to our address, and its pages would read ours. */
const refuseOtherHosts =
  ({ host, origin }: URL): Middleware =>
  async (ctx, next) => {
    if (ctx.req.headers.host === host) return next();
    ctx.status = 421;
    ctx.type = 'text';
    ctx.body = `The console answers at ${origin} only.\n`;
  };

const serveAssets =
  (assets: Assets): Middleware =>
  async (ctx, next) => {
    const asset = ctx.path.startsWith('/assets/') && assets.get(ctx.path.slice('/assets/'.length));
    if (!asset) return next();
    (ctx.state as State).route = '/assets';
    ctx.set('cache-control', 'public, max-age=31536000, immutable');
    ctx.type = asset.type;
    ctx.vary('accept-encoding');
    const isGzipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isGzipped) ctx.set('content-encoding', 'gzip');
    ctx.body = isGzipped ? asset.gzipped : asset.body;
  };

interface Scope {
  deps: Deps;
  assets: Assets;
}

const serve = async (scope: Scope & { route: Route }, ctx: Context): Promise<void> => {
  const { deps, route } = scope;
  const state: State = ctx.state;
  state.route = route.path;
  try {
    await send(scope, ctx, await respond(deps, route, ctx));
  } catch (error) {
    await send(scope, ctx, describeError(error, deps, ctx.path));
  }
};

interface Asked {
  ctx: Context;
  route: PersonRoute;
  form: URLSearchParams;
  secret: string | undefined;
}

const respond = async (deps: Deps, route: Route, ctx: Context): Promise<ConsoleResponse> => {
  const state: State = ctx.state;
  const secret = readSecret(ctx, cookieNames(deps).session);
  state.session = secret === undefined ? undefined : await deps.logins.getSession(secret);
  const { session } = state;
  state.secret = session && secret;
  state.csrf = session && secret !== undefined ? csrfOf(secret) : '';
  const form = ctx.method === 'POST' ? await readForm(ctx) : new URLSearchParams();
  if (typeof form === 'string') return page('Not a form', html`<p>${form}</p>`, 413);
  if (ctx.method === 'POST' && !isOwnForm(ctx, deps, { form, csrf: state.csrf }))
    return page(
      'Not from this page',
      html`<p>The form did not come from a page of this login. Nothing was done. ${home}</p>`,
      403,
    );
  // Postgres has no text with a zero byte.
  if (/%00/.test(ctx.url) || [...form.values()].some((value) => value.includes('\0')))
    return notFound();
  const zone = readZone(ctx, deps);
  const formatTime = timeIn(zone);
  const request: ConsoleRequest = {
    params: ctx['params'] as ConsoleRequest['params'], // Set by the router from the path.
    query: new Query(ctx.querystring),
    form,
    csrf: state.csrf,
    secret,
    begunLogin: readSecret(ctx, cookieNames(deps).begunLogin),
    zone,
    test: readTest(ctx, deps),
    formatTime,
    cells: cellsOf(formatTime, zone),
  };
  if (route.role === 'anyone') return recordRefusal(deps, route, await route.handle(request));
  if (!session) return askToLogIn(deps, { ctx, route, form, secret });
  if (secret !== undefined && !route.isPolled) await deps.logins.markSeen(secret);
  const draft = request.query.get('draft');
  const kept = ctx.method === 'GET' ? deps.drafts.read(draft, session.name, ctx.path) : undefined;
  state.isRestored = kept !== undefined;
  const personRequest: PersonRequest = {
    ...request,
    form: kept ?? form,
    session,
    operations: deps.operationsOf(session.name),
  };
  const stranger = await refuseStranger(route, personRequest);
  if (stranger) return stranger === 'not found' ? notFound() : stranger;
  if (!route.isPolled) state.thing = await modeOfThing(deps, route, personRequest);
  const refusal = refuseByRole(route, session);
  if (refusal === 'stale') {
    const address = route.keepsForm ? deps.drafts.keep(session.name, ctx.url, form) : ctx.url;
    return confirmLoginPage(deps, personRequest, address);
  }
  if (refusal) return refusal;
  const response = await route.handle(personRequest);
  return ctx.method === 'GET' ? withUnused(response, personRequest) : response;
};

/** The login leads back to the page, not to the part of it that the page's script asked for. */
const askToLogIn = async (deps: Deps, asked: Asked): Promise<ConsoleResponse> => {
  const { ctx } = asked;
  const isPart = ctx.get('hx-request') !== '';
  const from = isPart ? ctx.get('hx-current-url') : ctx.get('referer');
  const shown = URL.parse(ctx.method === 'GET' && !isPart ? ctx.url : from, deps.baseUrl);
  const back =
    (await keepForm(deps, asked)) ??
    (shown?.origin === new URL(deps.baseUrl).origin ? ownPath(shown.pathname + shown.search) : '/');
  const to = back === '/' ? '/login' : `/login?back=${encodeURIComponent(back)}`;
  if (!isPart) return { kind: 'redirect', to };
  // A script cannot see a redirect: its fetch follows it.
  ctx.set('hx-redirect', to);
  return { kind: 'part', content: undefined };
};

/** A form of a page of the login that has ended. */
const keepForm = async (
  { logins, drafts }: Deps,
  { ctx, route, form, secret }: Asked,
): Promise<string | undefined> => {
  if (!route.keepsForm || secret === undefined) return undefined;
  if (!isEqual(form.get('csrf') ?? '', csrfOf(secret))) return undefined;
  const name = await logins.personOf(secret);
  return name === undefined ? undefined : drafts.keep(name, ctx.url, form);
};

const recordRefusal = async (
  { operationsOf }: Deps,
  { endsLogin }: OpenRoute,
  response: ConsoleResponse,
): Promise<ConsoleResponse> => {
  const isRefused = response.kind === 'page' && (response.status ?? 200) < 500;
  if (endsLogin && isRefused) await operationsOf('nobody').console.refuseLogin(endsLogin);
  return response;
};

const refuseByRole = (
  { role, isSensitive }: PersonRoute,
  session: ConsoleSession,
): ConsoleResponse | 'stale' | undefined => {
  if (consoleRoles.indexOf(session.role) < consoleRoles.indexOf(role))
    return page(
      'Not allowed',
      html`<p>This needs the role ${role}, and you are logged in as ${session.role}. ${home}</p>`,
      403,
    );
  return isSensitive && !session.isFresh ? 'stale' : undefined;
};

/** Over https no other name of the site can set a cookie of these names. */
const cookieNames = ({ baseUrl }: Deps) => {
  const session = baseUrl.startsWith('https:') ? '__Host-console' : 'console';
  return {
    ...{ session, begunLogin: `${session}-login`, zone: `${session}-zone` },
    ...{ mode: `${session}-mode`, message: `${session}-message` },
  };
};

/** A begun login holds the path that it leads to, which `ownPath` bounds. A browser keeps cookies of 4 KB. */
const secretMax = 2_500;

const readSecret = (ctx: Context, cookie: string): string | undefined => {
  const value = ctx.cookies.get(cookie);
  return value && value.length <= secretMax && /^[\w.-]{43,}$/.test(value) ? value : undefined;
};

const readZone = (ctx: Context, deps: Deps): string => {
  const zone = ctx.cookies.get(cookieNames(deps).zone) ?? '';
  return isZone(zone) ? zone : 'UTC';
};

/** Live, unless the person has chosen tests. */
const readTest = (ctx: Context, deps: Deps): boolean =>
  ctx.cookies.get(cookieNames(deps).mode) === 'test';

/** Derived from the secret, so that it needs no place of its own and ends with the session. */
const csrfOf = (secret: string): string =>
  createHash('sha256').update(`csrf:${secret}`).digest('base64url');

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
/** Hashes are of one length, which the comparison needs. */
const isEqual = (one: string, other: string): boolean =>
  timingSafeEqual(sha256(one), sha256(other));

/** The browser says that the form is from our origin, and the form holds what only our pages know. */
const isOwnForm = (
  ctx: Context,
  { baseUrl }: Deps,
  { form, csrf }: { form: URLSearchParams; csrf: string },
): boolean => {
  const site = ctx.get('sec-fetch-site');
  const isSameOrigin = site === '' ? ctx.get('origin') === baseUrl : site === 'same-origin';
  return isSameOrigin && (csrf === '' || isEqual(form.get('csrf') ?? '', csrf));
};

/** @returns the problem of a body that is too large or no form */
const readForm = async (ctx: Context): Promise<URLSearchParams | string> => {
  if (!ctx.is('application/x-www-form-urlencoded'))
    return 'The console takes application/x-www-form-urlencoded only.';
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of ctx.req as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > bodyMaxBytes) return 'The form is too large.';
    pieces.push(piece);
  }
  return new URLSearchParams(Buffer.concat(pieces).toString());
};

const describeError = (error: unknown, { logger }: Deps, path: string): ConsoleResponse => {
  if (error instanceof NotFound)
    return page(
      'Not found',
      html`<p><bdi>${escapeControls(error.message)}</bdi> ${sectionOf(path)}</p>`,
      404,
    );
  if (error instanceof Refusal)
    return page(
      'Refused',
      html`${notice('bad', error.message)}<p>Nothing was changed. ${sectionOf(path)}</p>`,
      409,
    );
  if (isQueryCanceled(error))
    return page(
      'It takes too long',
      html`<p>The database did not finish in time. Ask for less, or try again later. ${home}</p>`,
      503,
    );
  if (isPostgresUnavailable(error))
    return page(
      'The database is unavailable',
      html`<p>Payments are not lost: nothing can be shown until it is back. Try again in a moment.</p>`,
      503,
    );
  const id = randomUUID();
  logger.error({ err: error, error_id: id }, 'A page failed');
  return page(
    'Something failed',
    html`<p>The log of the console has the reason, as ${id}. ${home}</p>`,
    500,
  );
};

const send = async (
  { deps, assets }: Scope,
  ctx: Context,
  response: ConsoleResponse,
): Promise<void> => {
  const { session, csrf = '', isRestored = false, thing }: State = ctx.state;
  if (response.kind !== 'part' && response.kind !== 'file') setCookies(ctx, deps, response);
  if (response.kind === 'redirect') {
    ctx.status = 303;
    ctx.set('location', response.to);
    return;
  }
  if (response.kind === 'data') {
    ctx.body = response.data;
    return;
  }
  if (response.kind === 'file') {
    ctx.attachment(response.name);
    ctx.type = 'text/csv';
    ctx.body = Readable.from(response.lines);
    return;
  }
  ctx.type = 'html';
  if (response.kind === 'part') {
    ctx.set('console-part', 'yes');
    ctx.status = response.content === undefined ? 204 : 200;
    if (response.content !== undefined) ctx.body = String(await response.content);
    return;
  }
  const { status = 200, title, tab, content, searched, reloadSeconds } = response;
  ctx.status = status;
  if (reloadSeconds !== undefined) ctx.set('refresh', String(reloadSeconds));
  const zone = readZone(ctx, deps);
  const { path, url: address } = ctx;
  const message = readMessage(ctx, deps);
  if (message !== undefined) setCookies(ctx, deps, { message: null });
  const texts = { title, tab, content, searched, message, isRestored };
  const mode = { test: readTest(ctx, deps), thing };
  const shown = { ...texts, ...mode, path, address, session, csrf, zone };
  ctx.body = String(await layout({ ...shown, assets: assets.urls }));
};

const setCookies = (
  ctx: Context,
  deps: Deps,
  { session, begunLogin, zone, mode, message }: Cookies,
) => {
  const names = cookieNames(deps);
  // A proxy ends TLS, so the request does not tell.
  ctx.cookies.secure = deps.baseUrl.startsWith('https:');
  const set = (name: string, value: string | null, seconds = 0) =>
    ctx.cookies.set(name, value, { sameSite: 'lax', maxAge: seconds * 1000, overwrite: true });
  if (session === null) set(names.session, null);
  // Longer than the session, so that a form of an ended one is known to be this person's.
  else if (session !== undefined) set(names.session, session, 24 * 3600);
  if (begunLogin !== undefined) set(names.begunLogin, begunLogin, 600);
  if (zone !== undefined) set(names.zone, zone, 365 * 24 * 3600);
  if (mode !== undefined) set(names.mode, mode, 365 * 24 * 3600);
  const { secret }: State = ctx.state;
  if (message === null) set(names.message, null);
  else if (message !== undefined && secret !== undefined)
    set(names.message, sealMessage(secret, message), messageSeconds);
};

const messageSeconds = 60;

/** The words about the last change of this browser. */
const readMessage = (ctx: Context, deps: Deps): string | undefined => {
  const { secret }: State = ctx.state;
  const message = ctx.cookies.get(cookieNames(deps).message);
  return message && secret !== undefined ? openMessage(secret, message) : undefined;
};
