import type { Sql } from './connection.ts';

export type GatewayKind = 'sandbox' | 'live';

/** A configured account at a payment provider. */
export interface Gateway {
  slug: string;
  driver: string;
  kind: GatewayKind;
  enabled: boolean;
}

export const createGateways = (sql: Sql) => ({
  /** Does nothing when the slug exists. `credentials`: sealed, see secret-box.ts. */
  async insert(gateway: Omit<Gateway, 'enabled'> & { credentials: string | null }): Promise<void> {
    await sql`
      insert into gateways (slug, driver, kind, credentials)
      values (${gateway.slug}, ${gateway.driver}, ${gateway.kind}, ${gateway.credentials})
      on conflict (slug) do nothing`;
  },

  async get(slug: string): Promise<Gateway | undefined> {
    const [row] = await sql<Gateway[]>`
      select slug, driver, kind, enabled from gateways where slug = ${slug}`;
    return row;
  },

  /** The enabled gateways of a kind. */
  async slugsFor(kind: GatewayKind): Promise<string[]> {
    const rows = await sql<{ slug: string }[]>`
      select slug from gateways where kind = ${kind} and enabled order by slug limit 10`;
    return rows.map(({ slug }) => slug);
  },
});
export type Gateways = ReturnType<typeof createGateways>;
