import { createAttentionQueries } from '../../../postgres/attention.ts';
import type { Sql } from '../../../postgres/driver/sql.ts';
import { createHealthQueries } from '../../../postgres/health.ts';
import { createReceivers } from '../../../postgres/receivers.ts';
import type { Statements } from './statements.ts';

/** Calls every method that finds out what works and what waits. */
export const healthStatements = (
  db: Sql,
  { application, now }: { application: string; now: Date },
): Record<string, Statements> => {
  const attention = createAttentionQueries(db);
  const health = createHealthQueries(db);
  const receivers = createReceivers(db);
  return {
    'receivers.ts': {
      methods: receivers,
      calls: {
        sweep: () => receivers.sweep(now),
        get: () => receivers.get(application, true),
      },
    },
    'health.ts': {
      methods: health,
      calls: {
        receiver: () => health.receiver(application, false, new Date(0)),
        failures: () => health.failures(false, { since: new Date(0), until: now }, 20),
      },
    },
    'attention.ts': {
      methods: attention,
      calls: {
        get: () => attention.get(true),
        'get, of live payments': () => attention.get(false),
        list: () => attention.list('money', { test: true, gateway: null }, 50),
        'list, silent': () => attention.list('silent', { test: true, gateway: 'sandbox' }, 50),
        'list, unopened': () => attention.list('unopened', { test: true, gateway: null }, 50),
        opensNothing: () => attention.opensNothing(null),
        'list, orders': () => attention.list('orders', { test: false, gateway: null }, 50),
        'list, overdue': () => attention.list('overdue', { test: false, gateway: null }, 50),
      },
    },
  };
};
