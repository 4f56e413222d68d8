import type { GatewayKind, RecordedAccount } from '../contract/gateway-account.ts';
import type { Queries } from './driver/sql.ts';

/** A configured account at a payment provider. */
export interface Gateway {
  slug: string;
  driver: string;
  kind: GatewayKind;
  enabled: boolean;
}

/** The built-in gateway. Its money is not real. */
export const sandboxAccount = {
  slug: 'sandbox',
  driver: 'sandbox',
  kind: 'sandbox',
  credentials: null,
} as const;

export const createGateways = (sql: Queries) => ({
  /** False if the slug exists; then nothing is written. `credentials` are sealed, see secret-box.ts. */
  async insert(
    gateway: Omit<Gateway, 'enabled'> & { credentials: string | null },
  ): Promise<boolean> {
    const { count } = await sql`
      insert into gateways (slug, driver, kind, credentials)
      values (${gateway.slug}, ${gateway.driver}, ${gateway.kind}, ${gateway.credentials})
      on conflict (slug) do nothing`;
    return count === 1;
  },

  async list(): Promise<(Gateway & { hasCredentials: boolean })[]> {
    return sql<(Gateway & { hasCredentials: boolean })[]>`
      select slug, driver, kind, enabled, credentials is not null as "hasCredentials"
      from gateways order by slug`;
  },

  /** False if the gateway does not exist or is in this state already. */
  async setEnabled(slug: string, enabled: boolean): Promise<boolean> {
    const { count } = await sql`
      update gateways set enabled = ${enabled} where slug = ${slug} and enabled <> ${enabled}`;
    return count === 1;
  },

  async get(slug: string): Promise<Gateway | undefined> {
    const [row] = await sql<Gateway[]>`
      select slug, driver, kind, enabled from gateways where slug = ${slug}`;
    return row;
  },

  /** The account that the gateway's adapter needs. */
  async getAccount(slug: string): Promise<RecordedAccount | undefined> {
    const [row] = await sql<RecordedAccount[]>`
      select slug as gateway, driver, kind as "gatewayKind", credentials
      from gateways where slug = ${slug}`;
    return row;
  },

  /** Locks and lists gateways whose credentials are sealed by another key. */
  async listSealedByOthers(
    currentKeyId: string,
    limit: number,
  ): Promise<{ slug: string; credentials: string }[]> {
    return sql<{ slug: string; credentials: string }[]>`
      select slug, credentials from gateways
      where split_part(credentials, '.', 2) <> ${currentKeyId}
      order by slug limit ${limit} for no key update`;
  },

  async reseal(slug: string, credentials: string): Promise<void> {
    await sql`update gateways set credentials = ${credentials} where slug = ${slug}`;
  },

  /** The enabled gateways that a test token may use. */
  async sandboxSlugs(): Promise<string[]> {
    const rows = await sql<{ slug: string }[]>`
      select slug from gateways where kind = 'sandbox' and enabled order by slug limit 10`;
    return rows.map(({ slug }) => slug);
  },
});
export type Gateways = ReturnType<typeof createGateways>;
