import { createHash } from 'node:crypto';
import type { GatewayKind } from '../contract/gateway-account.ts';
import { type TokenMode, type TokenScope, tokenScopes } from '../contract/token.ts';
import type { Queries } from './driver/sql.ts';
import type { Gateway } from './gateways.ts';
import { randomSecret } from './secret-box.ts';

export interface NewToken {
  application: string;
  mode: TokenMode;
  name: string;
  /** Every one by default. */
  scopes?: readonly TokenScope[];
  /** Without it the token is valid until it is revoked. */
  expiresAt?: Date | null;
}

/** The caller of a request. It is read for every request, so a revocation takes effect at once. */
export interface Caller {
  application: string;
  disabled: boolean;
  mode: TokenMode;
  scopes: readonly TokenScope[];
  callbackUrls: string[];
  webhookUrl: string | null;
  defaultGateway: Gateway;
  budget: Budget;
}

/** Requests of the application in the current clock minute. */
export interface Budget {
  perMinute: number;
  /** Includes this request, unless the application is disabled: its requests are not counted. */
  used: number;
  /** Seconds until the next minute, from 1 to 60. */
  secondsLeft: number;
}

interface CallerRow {
  slug: string;
  status: string;
  callback_urls: string[];
  webhook_url: string | null;
  mode: TokenMode;
  scopes: TokenScope[];
  gateway: string;
  driver: string;
  kind: GatewayKind;
  enabled: boolean;
  requests_per_minute: number;
  requests: number;
  seconds_left: number;
}

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export const createTokens = (sql: Queries) => ({
  /** @returns the token; it cannot be shown again, because only its hash is stored */
  async issue(token: NewToken): Promise<string> {
    const text = `svc_${token.mode}_${randomSecret()}`;
    await sql`
      insert into tokens (hash, prefix, application, mode, name, scopes, expires_at)
      values (${hashToken(text)}, ${text.slice(0, 13)}, ${token.application}, ${token.mode},
        ${token.name}, ${[...(token.scopes ?? tokenScopes)]}::text[], ${token.expiresAt ?? null})`;
    return text;
  },

  /**
   * Finds the caller and counts the request in the same query. The count is exact over all processes,
   * because they share one row for each application. `used` is the number of this request.
   * @returns undefined if the token is unknown, revoked or expired
   */
  async authenticate(token: string): Promise<Caller | undefined> {
    const [row] = await sql<CallerRow[]>`
      with token as (
        select hash, application, mode, scopes from tokens
        where hash = ${hashToken(token)} and revoked_at is null
          and (expires_at is null or expires_at > now())
      ), caller as (
        select a.slug, a.status, a.callback_urls, a.webhook_url, a.requests_per_minute, token.mode,
          token.scopes,
          g.slug as gateway, g.driver, g.kind, g.enabled
        from token
        join applications a on a.slug = token.application
        join gateways g on g.slug = a.default_gateway
      ), counted as (
        insert into request_counts as c (application, minute, requests)
        select slug, floor(extract(epoch from now()) / 60), 1
        from caller where status = 'active'
        -- A query may start before the minute ends and lock the row after it, so the minute is read again.
        -- Any other minute starts a new count, also an earlier one: the clock may be set back.
        on conflict (application) do update set (minute, requests) = (
          select clock.minute,
            excluded.requests + case when c.minute = clock.minute then c.requests else 0 end
          from (select floor(extract(epoch from clock_timestamp()) / 60)::bigint as minute) as clock)
        returning requests
      ), used as (
        -- Checks the locked row: of many simultaneous requests only the first one writes.
        update tokens t set last_used_at = now() from token
        where t.hash = token.hash
          and (t.last_used_at is null or t.last_used_at < now() - interval '1 minute')
      )
      select caller.*,
        -- A disabled application is not counted; these are its earlier requests.
        coalesce(counted.requests, (
          select c.requests from request_counts c
          where c.application = caller.slug
            and c.minute = floor(extract(epoch from now()) / 60)
        ), 0) as requests,
        60 - floor(extract(epoch from now()))::bigint % 60 as seconds_left
      from caller left join counted on true`;
    return row && toCaller(row);
  },
});
export type Tokens = ReturnType<typeof createTokens>;

const toCaller = (row: CallerRow): Caller => ({
  application: row.slug,
  disabled: row.status === 'disabled',
  mode: row.mode,
  scopes: row.scopes,
  callbackUrls: row.callback_urls,
  webhookUrl: row.webhook_url,
  defaultGateway: { slug: row.gateway, driver: row.driver, kind: row.kind, enabled: row.enabled },
  budget: {
    perMinute: row.requests_per_minute,
    used: row.requests,
    secondsLeft: row.seconds_left,
  },
});
