import type { Sql } from '../../../postgres/driver/sql.ts';
import { createSearchQueries } from '../../../postgres/console/search.ts';
import type { Filled, Statements } from './statements.ts';

/** Calls every method of the search, by people of the service and of one application. */
export const searchStatements = (
  db: Sql,
  { owner: { application } }: Filled,
): Record<string, Statements> => {
  const search = createSearchQueries(db);
  const of = (applications: string[] | null) => {
    const scope = { applications, test: applications !== null, limit: 20 };
    return {
      byOrderPrefix: () => search.byOrderPrefix(['order-7', 'ORDER-7'], scope),
      byCard: () => search.byCard('1234', scope),
      byAmount: () => search.byAmount({ amount: 1250, currency: 'EUR' }, scope),
      byIdPrefix: () => search.byIdPrefix('01K9Z5W6', scope),
      byIdSuffix: () => search.byIdSuffix('ABC234', scope),
      refunds: () => search.refunds({ idPrefix: '01K9Z5W6', reference: 'R-1' }, scope),
      links: () => search.links('order-7', scope),
      disputes: () => search.disputes('dp_7', scope),
      refundsBySuffix: () => search.refundsBySuffix('ABC234', scope),
      events: () => search.events('0b6f2c64', scope),
    };
  };
  const ofOne = Object.entries(of([application])).map(([name, call]) => [`${name}, bound`, call]);
  return {
    'console/search.ts': { methods: search, calls: { ...of(null), ...Object.fromEntries(ofOne) } },
  };
};
