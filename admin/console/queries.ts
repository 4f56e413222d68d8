import { createAttentionQueries } from '../../postgres/admin/attention.ts';
import { createBacklogMetrics } from '../../postgres/metrics/backlog.ts';
import { createConsoleLoginQueries } from '../../postgres/console/logins.ts';
import { createConsolePasskeyQueries } from '../../postgres/console/passkeys.ts';
import { createConsolePeopleQueries } from '../../postgres/console/people.ts';
import { createConsoleViews } from '../../postgres/console/views.ts';
import { createConsoleQueries } from '../../postgres/console/queries.ts';
import type { Sql } from '../../postgres/driver/sql.ts';
import { createGatewayFigures } from '../../postgres/gateways/figures.ts';
import { createHealthQueries } from '../../postgres/console/health.ts';
import { createRefusedRequests } from '../../postgres/applications/refused-requests.ts';
import { createSearchQueries } from '../../postgres/console/search.ts';
import { createBegunLogins } from './begun-login.ts';
import { createDrafts } from './drafts.ts';

/** The console's reads of Postgres, and its memory of logins and forms. */
export const createReaders = (sql: Sql) => {
  const logins = createConsoleLoginQueries(sql);
  return {
    queries: createConsoleQueries(sql),
    search: createSearchQueries(sql),
    attention: createAttentionQueries(sql),
    health: createHealthQueries(sql),
    gatewayFigures: createGatewayFigures(sql),
    views: createConsoleViews(sql),
    refusedRequests: createRefusedRequests(sql),
    logins,
    begunLogins: createBegunLogins(logins.endBegunLogin),
    drafts: createDrafts(),
    people: createConsolePeopleQueries(sql),
    passkeys: createConsolePasskeyQueries(sql),
    backlog: createBacklogMetrics(sql),
  };
};
