import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConsole } from '../../../admin/console/app.ts';
import { createReaders } from '../../../admin/console/queries.ts';
import type { Deps } from '../../../admin/console/request.ts';
import {
  createIdentityProvider,
  type IdentityProvider,
} from '../../../admin/console/identity-provider.ts';
import { hourMs } from '../../../contract/time.ts';
import { createConsoleLoginQueries, type ConsoleRole } from '../../../postgres/console/logins.ts';
import { connect } from '../../../postgres/driver/connection.ts';
import type { Queries } from '../../../postgres/driver/sql.ts';
import type { TemporalAdmin } from '../../../temporal/admin-client.ts';
import { TemporalUnavailable } from '../../../temporal/workflow-calls.ts';
import { readProjectFile } from '../checks/project-files.ts';
import { emptyTemporal, operationsOn } from './admin-operations.ts';
import { listenOnLoopback } from '../servers/listen.ts';
import { startOwnPostgres } from '../servers/own-postgres.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Call {
  method?: string;
  cookie?: string | undefined;
  form?: Record<string, string> | [string, string][];
  headers?: Record<string, string>;
}

/** Sends one request to a port of this machine, under any name. */
export const call = async (
  port: number,
  path: string,
  { method = 'GET', cookie, form, headers = {} }: Call = {},
): Promise<Answer> => {
  const sent = httpRequest({
    port,
    path,
    method,
    headers: {
      host: `console.localhost:${port}`,
      ...(cookie !== undefined && { cookie }),
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(method === 'POST' && { 'sec-fetch-site': 'same-origin' }),
      ...headers,
    },
  });
  sent.end(form && String(new URLSearchParams(form)));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: await text(response),
  };
};

/** The hours for which a browser keeps what this header sets. */
export const hoursOf = (setCookie = ''): number =>
  Math.round((Date.parse(/expires=([^;]+)/.exec(setCookie)?.[1] ?? '') - Date.now()) / hourMs);

/** Logs in by a link. @returns the cookie */
export const logInBy = async (port: number, code: string): Promise<string> => {
  const { headers } = await call(port, `/login/${code}`, { method: 'POST', form: {} });
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
};

/** Logs an operator in at the console process of this port, who looks at tests. */
export const logInOperator = async (port: number, sql: Queries) => {
  const code = await createConsoleLoginQueries(sql).issueLink('ada', {
    role: 'operator',
    applications: null,
  });
  const cookie = await logInBy(port, code);
  const own = `${cookie}; console-mode=test`;
  /** Waits for a slow answer as a browser does: the page says when to load it again. */
  const get = async (path: string, options: Call = {}) => {
    let answer = await call(port, path, { cookie: own, ...options });
    const { location = '' } = answer.headers;
    if (!location.startsWith('/waiting/')) return answer;
    do {
      await sleep(100);
      answer = await call(port, location, { cookie: own });
    } while (answer.headers['refresh'] !== undefined);
    return answer;
  };
  const csrf = fieldOf((await get('/settings')).text, 'csrf');
  return { get, csrf, cookie };
};

/** The value of a hidden field of the first form of a page that has it. */
export const fieldOf = (page: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';

/** Somebody who is logged in, with what the forms of the login hold. */
export interface Person {
  cookie: string;
  csrf: string;
  get(path: string): Promise<Answer>;
  post(path: string, fields?: Record<string, string>): Promise<Answer>;
  /** The text of a page that is there, with single spaces. */
  read(path: string): Promise<string>;
  /** Opens the question of an action and answers it. */
  act(
    path: string,
    fields?: Record<string, string>,
  ): Promise<{ question: Answer; answer: Answer; form: Record<string, string> }>;
  /** @returns where the search leads to; undefined if it leads nowhere */
  search(words: string): Promise<string | undefined>;
  /** The same person, who looks at live payments or at tests. */
  lookingAt(mode: 'live' | 'test'): Person;
}

const personAt = (port: number, { cookie, csrf }: Pick<Person, 'cookie' | 'csrf'>): Person => {
  const get = (path: string) => call(port, path, { cookie });
  const post = (path: string, fields: Record<string, string> = {}) =>
    call(port, path, { method: 'POST', cookie, form: { csrf, ...fields } });
  return {
    cookie,
    csrf,
    get,
    post,
    async read(path) {
      const { status, text: page } = await get(path);
      if (status !== 200) throw new Error(`${path} answered ${status}: ${page}`);
      return page.replaceAll(/\s+/g, ' ');
    },
    async act(path, fields = {}) {
      const question = await get(path);
      const warned = fieldOf(question.text, 'warned');
      const form = {
        ...{ form_id: fieldOf(question.text, 'form_id'), reason: 'a test' },
        ...(warned !== '' && { warned }),
        ...fields,
      };
      return { question, answer: await post(path, form), form };
    },
    search: async (words) => (await post('/search', { text: words })).headers.location,
    lookingAt: (mode) => personAt(port, { cookie: `${cookie}; console-mode=${mode}`, csrf }),
  };
};

const serve = (server: Server, deps: Deps) => {
  const handle = createConsole(deps).callback();
  server.on('request', (req, res) => void handle(req, res));
};

/** An identity provider that is away: nothing listens there. */
export const awayProvider = async (baseUrl: string, logger: Deps['logger']) =>
  createIdentityProvider({
    issuer: new URL('http://127.0.0.1:1'),
    clientId: 'console',
    clientSecret: 'secret',
    baseUrl,
    logger,
  });

/** The console on a Postgres of its own, under its own login there. The rest of the test is the owner. */
export const startConsole = async ({
  identityProviderOf,
  temporal: calls,
  ...others
}: Partial<Deps> & {
  identityProviderOf?: (baseUrl: string, logger: Deps['logger']) => Promise<IdentityProvider>;
  temporal?: Partial<TemporalAdmin>;
} = {}) => {
  const postgres = await startOwnPostgres();
  const owner = connect(postgres.url, { name: 'tests-owner', max: 1 });
  await owner.unsafe(readProjectFile('deploy/roles.sql')).simple();
  await owner.unsafe('create role login_console login in role payments_console');
  await owner.end();
  const url = new URL(postgres.url);
  url.username = 'login_console';
  const sql = connect(url.href, { name: 'tests-console', max: 4 });
  const lines: object[] = [];
  const log = (line: object) => void lines.push(line);
  const server = createServer();
  const port = await listenOnLoopback(server);
  const baseUrl = `http://console.localhost:${port}`;
  const logger = { info: log, error: log };
  const temporal = (): Promise<TemporalAdmin> =>
    calls
      ? Promise.resolve({ ...emptyTemporal, ...calls })
      : Promise.reject(new TemporalUnavailable('There is no Temporal here'));
  const all: Deps = {
    baseUrl,
    logger,
    ...createReaders(sql),
    identityProvider: await identityProviderOf?.(baseUrl, logger),
    readLastHeartbeat: async () => new Date(),
    skipsTime: false,
    // No page waits only because the machine is busy.
    waitingAfterMs: 100_000,
    now: () => new Date(),
    operationsOf: (actor) => operationsOn(sql, { actor, via: 'console', temporal }),
    ...others,
  };
  serve(server, all);
  const links = createConsoleLoginQueries(postgres.sql);
  return {
    sql: postgres.sql,
    ownerUrl: postgres.url,
    deps: all,
    baseUrl,
    port,
    lines,
    links,
    call: (path: string, options?: Call) => call(port, path, options),
    async logIn(role: ConsoleRole, name = `${role}-person`, applications: string[] | null = null) {
      const code = await links.issueLink(name, { role, applications });
      const cookie = await logInBy(port, code);
      const { text: page } = await call(port, '/settings', { cookie });
      return personAt(port, { cookie, csrf: fieldOf(page, 'csrf') });
    },
    /** The changes of a person. */
    auditOf: (actor: string) => postgres.sql`
      select action, subject, via, reason from audit_log
      where actor = ${actor} and action <> 'console.login' order by id`,
    /** One more listener, which believes to be reached at another address. @returns its port */
    async serveAt(address: string): Promise<number> {
      const other = createServer().unref();
      serve(other, { ...all, baseUrl: address });
      return listenOnLoopback(other);
    },
    /** As if Postgres were gone. */
    stopPostgres: postgres.stop,
    async stop() {
      server.closeAllConnections();
      server.close();
      await sql.end({ timeout: 1 });
      await postgres.drop();
    },
  };
};
export type TestConsole = Awaited<ReturnType<typeof startConsole>>;
