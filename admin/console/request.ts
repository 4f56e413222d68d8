import type { Operations } from '../operations/operations.ts';
import type { createAttentionQueries } from '../../postgres/admin/attention.ts';
import type { createBacklogMetrics } from '../../postgres/metrics/backlog.ts';
import type { createConsoleQueries } from '../../postgres/console/queries.ts';
import type {
  ConsoleLoginQueries,
  ConsoleRole,
  ConsoleSession,
  LoginVia,
} from '../../postgres/console/logins.ts';
import type { createConsolePasskeyQueries } from '../../postgres/console/passkeys.ts';
import type { createConsoleViews } from '../../postgres/console/views.ts';
import type { createConsolePeopleQueries } from '../../postgres/console/people.ts';
import type { createGatewayFigures } from '../../postgres/gateways/figures.ts';
import type { createHealthQueries } from '../../postgres/console/health.ts';
import type { createSearchQueries } from '../../postgres/console/search.ts';
import type { createRefusedRequests } from '../../postgres/applications/refused-requests.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { BegunLogins } from './begun-login.ts';
import type { Drafts } from './drafts.ts';
import type { Cells, FormatTime, Html } from './html.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { Query } from './query.ts';

/** The operations that the console's login in Postgres may carry out. */
export type ConsoleOperations = Omit<Operations, 'purge'>;

export interface Deps {
  queries: ReturnType<typeof createConsoleQueries>;
  search: ReturnType<typeof createSearchQueries>;
  attention: ReturnType<typeof createAttentionQueries>;
  health: ReturnType<typeof createHealthQueries>;
  gatewayFigures: ReturnType<typeof createGatewayFigures>;
  refusedRequests: Pick<ReturnType<typeof createRefusedRequests>, 'list' | 'getApplication'>;
  /** The one address of the console. Requests to any other name are refused. */
  baseUrl: string;
  logins: ConsoleLoginQueries;
  views: ReturnType<typeof createConsoleViews>;
  begunLogins: BegunLogins;
  drafts: Drafts;
  people: Pick<
    ReturnType<typeof createConsolePeopleQueries>,
    'getByAccount' | 'getByEmail' | 'getBySubject'
  >;
  passkeys: Pick<ReturnType<typeof createConsolePasskeyQueries>, 'get' | 'list'>;
  /** Undefined if nobody logs in through one. */
  identityProvider: IdentityProvider | undefined;
  backlog: ReturnType<typeof createBacklogMetrics>;
  /** The operations of admins, whose audit records name this person. */
  operationsOf: (actor: string) => ConsoleOperations;
  /** When the sweeper last reported from its work. Rejects while Temporal is unavailable. */
  readLastHeartbeat: () => Promise<Date | null>;
  /** Whether test payments can skip time: with `npm start` alone. */
  skipsTime: boolean;
  /** A change that takes longer shows a page that waits for it. */
  waitingAfterMs: number;
  now: () => Date;
  logger: Pick<Logger, 'info' | 'error'>;
}

/** The names that paths of routes give to their parts. A request has those of its own route. */
type PathParameter =
  | 'code'
  | 'day'
  | 'event'
  | 'gateway'
  | 'id'
  | 'name'
  | 'number'
  | 'passkey'
  | 'payout'
  | 'rule'
  | 'secret'
  | 'slug'
  | 'token';

export interface ConsoleRequest {
  params: Readonly<Record<PathParameter, string>>;
  query: Query;
  form: URLSearchParams;
  /** Forms carry it: see `isOwnForm`. Empty without a login. */
  csrf: string;
  /** The secret of the browser's session, valid or not. */
  secret: string | undefined;
  /** The secret of the login that the browser began last, valid or not. */
  begunLogin: string | undefined;
  zone: string;
  /** Whether the person looks at tests. A page shows only what is of this mode. */
  test: boolean;
  cells: Cells;
  formatTime: FormatTime;
}

/** The path of a route with the parts of a request. */
export const pathWith = (path: string, params: ConsoleRequest['params']): string =>
  path.replaceAll(/:(\w+)/g, (_, name: keyof typeof params) => encodeURIComponent(params[name]));

/** A request of somebody who is logged in. */
export interface PersonRequest extends ConsoleRequest {
  session: ConsoleSession;
  /** Their audit records name this person. */
  operations: ConsoleOperations;
}

/** Values that the browser keeps. Null: no longer. */
export interface Cookies {
  session?: string | null;
  begunLogin?: string;
  zone?: string;
  mode?: 'live' | 'test';
  /** The next page shows it once. */
  message?: string | null | undefined;
}

export type ConsoleResponse =
  | {
      kind: 'page';
      status?: number;
      title: Html | string;
      content: Html;
      tab?: string;
      /** The search box keeps this text. */
      searched?: string;
      begunLogin?: string;
      /** The browser loads the page again after it. */
      reloadSeconds?: number;
    }
  /** A part of a page that refreshes itself; undefined if nothing changed. */
  | { kind: 'part'; content: Html | undefined }
  /** A CSV file, which is sent line by line. */
  | { kind: 'file'; name: string; lines: AsyncIterable<string> }
  /** JSON for the page's own script. */
  | { kind: 'data'; data: object; begunLogin: string }
  | ({ kind: 'redirect'; to: string } & Cookies);

export const page = (
  title: Html | string,
  content: Html,
  status = 200,
): Extract<ConsoleResponse, { kind: 'page' }> => ({ kind: 'page', status, title, content });

export const redirect = (to: string, message?: string): ConsoleResponse => ({
  kind: 'redirect',
  to,
  message,
});

interface RouteBase {
  method: 'GET' | 'POST';
  path: string;
  /** A page asks for it by itself, so it does not keep the login alive. */
  isPolled?: boolean;
}

export interface OpenRoute extends RouteBase {
  role: 'anyone';
  /** It ends a login this way: with a redirect, or else the login is refused. */
  endsLogin?: LoginVia;
  handle: (request: ConsoleRequest) => Promise<ConsoleResponse>;
}

/**
 * Says to people of some applications whose page it is: `person`, their own or one that filters by itself; `list`, of
 * the application that its filter names; or the application that the function finds. A route without one is not for them.
 */
export type Owner = 'person' | 'list' | ((request: PersonRequest) => Promise<string | undefined>);

export interface PersonRoute extends RouteBase {
  role: ConsoleRole;
  /** It cannot be taken back, so the person must have logged in within the last ten minutes. */
  isSensitive?: boolean;
  /** Its page shows what was typed again after a login: the handler of the same path fills the fields of its form. */
  keepsForm?: boolean;
  /** Without it only people of the whole service may open it: see owner.ts. */
  owner?: Owner | undefined;
  handle: (request: PersonRequest) => Promise<ConsoleResponse>;
}

export type Route = OpenRoute | PersonRoute;
