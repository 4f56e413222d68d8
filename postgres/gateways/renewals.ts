import type { RecordedAccount } from '../../contract/gateway-account.ts';
import { changesOne, first, type Queries, type Sql } from '../driver/sql.ts';
import { accountColumns } from './gateways.ts';

/** The most gateways that a sweep looks at. */
const most = 1_000;

const getAccount = (sql: Queries, slug: string) =>
  first(sql<RecordedAccount[]>`
    select ${accountColumns(sql)} from gateways g where slug = ${slug}`);

/** Renews the sealed credentials for refunds. */
export const createRenewals = (sql: Sql) => ({
  /** The accounts that have such credentials. */
  async list(): Promise<RecordedAccount[]> {
    return sql<RecordedAccount[]>`
      select ${accountColumns(sql)} from gateways g
      where g.has_refund_credentials order by g.slug limit ${most}`;
  },

  /**
   * Works on an account as it is now, unless another process does. The work may take 20 seconds: the lock needs a
   * transaction, which may be idle for 30.
   */
  alone: <T>(
    slug: string,
    work: (account: RecordedAccount) => Promise<T>,
  ): Promise<T | undefined> =>
    sql.begin(async (tx) => {
      const lock = `renewal of ${slug}`;
      const [{ locked } = { locked: false }] = await tx<{ locked: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as locked`;
      const account = locked ? await getAccount(tx, slug) : undefined;
      return account && work(account);
    }),

  get: (slug: string) => getAccount(sql, slug),

  /** Replaces the sealed credentials. False if they are not the former ones any more. */
  replace: (slug: string, former: string, sealed: string) =>
    changesOne(sql`
      update gateways set refund_credentials = ${sealed}
      where slug = ${slug} and refund_credentials = ${former}`),
});
export type Renewals = ReturnType<typeof createRenewals>;
