import { createHash } from 'node:crypto';
import { defaultTokenScopes, type TokenMode, type TokenScope } from '../../contract/token.ts';
import type { Fragment, Queries } from '../driver/sql.ts';
import type { Person } from '../audit-log.ts';
import type { Gateway } from '../gateways/gateways.ts';
import { randomSecret } from '../secrets/secret-box.ts';

export interface NewToken {
  application: string;
  mode: TokenMode;
  name: string;
  /** Every one by default. */
  scopes?: readonly TokenScope[];
  /** Without it the token is valid until it is revoked. */
  expiresAt?: Date | null;
  /** The admin who issues it, and how. */
  issuedBy?: Person;
}

/** The caller of a request. It is read for every request, so a revocation takes effect at once. */
export interface Caller {
  /** The id of the token, as lists show it. */
  token: string;
  application: string;
  disabled: boolean;
  mode: TokenMode;
  scopes: readonly TokenScope[];
  callbackUrls: string[];
  webhookUrl: string | null;
  /** At most one payment of an order may be paid. */
  ordersPaidOnce: boolean;
  defaultGateway: Gateway;
  /** Asked in this order while the gateways before them do not open a payment. */
  fallbackGateways: string[];
  /** A create may name these, too. */
  allowedGateways: string[];
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

type CallerRow = Omit<Caller, 'token' | 'defaultGateway' | 'budget'> & Gateway & Budget;

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

const idDigits = 16;
/** The id of a token: the first digits of its hash, which reveal nothing about it. */
export const tokenIdOf = (token: string): string =>
  hashToken(token).toString('hex').slice(0, idDigits);
/** The same of a row of `tokens`. */
export const selectTokenId = (sql: Queries): Fragment =>
  sql`left(encode(hash, 'hex'), ${idDigits}::int)`;

export const createTokens = (sql: Queries) => ({
  /**
   * While refunds of admins need a second admin, so does a token that may refund: see `to_confirm`.
   * @returns the token; it cannot be shown again, because only its hash is stored
   */
  async issue(token: NewToken): Promise<string> {
    const text = `svc_${token.mode}_${randomSecret()}`;
    await sql`
      insert into tokens (hash, prefix, application, mode, name, scopes, expires_at, issued_by, issued_via)
      values (${hashToken(text)}, ${text.slice(0, 13)}, ${token.application}, ${token.mode},
        ${token.name}, ${[...(token.scopes ?? defaultTokenScopes)]}::text[], ${token.expiresAt ?? null},
        ${token.issuedBy?.actor ?? null}, ${token.issuedBy?.via ?? null})`;
    return text;
  },

  /**
   * Finds the caller and counts the request in the same query. The count is exact over all processes,
   * because they share one row for each application. `used` is the number of this request.
   * @returns undefined if the token is unknown, revoked, expired or waits for a second admin
   */
  async authenticate(token: string): Promise<Caller | undefined> {
    const [row] = await sql<CallerRow[]>`
      with token as (
        select hash, application, mode, scopes from tokens
        where hash = ${hashToken(token)} and revoked_at is null and not to_confirm
          and (expires_at is null or expires_at > now())
      ), caller as (
        select a.slug as application, a.status = 'disabled' as disabled, token.mode, token.scopes,
          a.callback_urls as "callbackUrls", a.webhook_url as "webhookUrl",
          a.orders_paid_once as "ordersPaidOnce", a.fallback_gateways as "fallbackGateways",
          a.allowed_gateways as "allowedGateways", a.requests_per_minute as "perMinute", g.slug, g.driver, g.kind, g.enabled
        from token
        join applications a on a.slug = token.application
        join gateways g on g.slug = a.default_gateway
      ), counted as (
        insert into request_counts as c (application, minute, requests)
        select application, floor(extract(epoch from now()) / 60), 1
        from caller where not disabled
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
          where c.application = caller.application
            and c.minute = floor(extract(epoch from now()) / 60)
        ), 0) as used,
        60 - floor(extract(epoch from now()))::bigint % 60 as "secondsLeft"
      from caller left join counted on true`;
    return row && { ...toCaller(row), token: tokenIdOf(token) };
  },
});
export type Tokens = ReturnType<typeof createTokens>;

const toCaller = ({
  slug,
  driver,
  kind,
  enabled,
  perMinute,
  used,
  secondsLeft,
  ...caller
}: CallerRow): Omit<Caller, 'token'> => ({
  ...caller,
  defaultGateway: { slug, driver, kind, enabled },
  budget: { perMinute, used, secondsLeft },
});
