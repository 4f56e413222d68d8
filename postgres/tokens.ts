import { createHash } from 'node:crypto';
import type { Sql } from './connection.ts';
import type { Gateway } from './gateways.ts';
import { randomSecret } from './secret-box.ts';

export type TokenMode = 'live' | 'test';

/** Who calls, as of this request: no cache stands between a revocation and the next request. */
export interface Caller {
  application: string;
  disabled: boolean;
  mode: TokenMode;
  callbackUrls: string[];
  webhookUrl: string | null;
  defaultGateway: Gateway;
}

interface CallerRow {
  slug: string;
  status: string;
  callback_urls: string[];
  webhook_url: string | null;
  mode: TokenMode;
  gateway: string;
  driver: string;
  kind: Gateway['kind'];
  enabled: boolean;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const createTokens = (sql: Sql) => ({
  /** @returns the token, which is shown now and never again: only its hash is stored. */
  async issue(token: { application: string; mode: TokenMode; name: string }): Promise<string> {
    const text = `svc_${token.mode}_${randomSecret()}`;
    await sql`
      insert into tokens (hash, prefix, application, mode, name)
      values (${hashOf(text)}, ${text.slice(0, 13)}, ${token.application}, ${token.mode}, ${token.name})`;
    return text;
  },

  /** Undefined for a token that is unknown, revoked or expired. One round trip. */
  async authenticate(token: string): Promise<Caller | undefined> {
    const [row] = await sql<CallerRow[]>`
      with token as (
        select hash, application, mode, last_used_at from tokens
        where hash = ${hashOf(token)} and revoked_at is null
          and (expires_at is null or expires_at > now())
      ), used as (
        update tokens set last_used_at = now() from token
        where tokens.hash = token.hash
          and (token.last_used_at is null or token.last_used_at < now() - interval '1 minute')
      )
      select a.slug, a.status, a.callback_urls, a.webhook_url, token.mode,
        g.slug as gateway, g.driver, g.kind, g.enabled
      from token
      join applications a on a.slug = token.application
      join gateways g on g.slug = a.default_gateway`;
    return row && toCaller(row);
  },
});
export type Tokens = ReturnType<typeof createTokens>;

const toCaller = (row: CallerRow): Caller => ({
  application: row.slug,
  disabled: row.status === 'disabled',
  mode: row.mode,
  callbackUrls: row.callback_urls,
  webhookUrl: row.webhook_url,
  defaultGateway: { slug: row.gateway, driver: row.driver, kind: row.kind, enabled: row.enabled },
});
