import type { TokenMode, TokenScope } from '../../contract/token.ts';
import { changesOne, first, type Fragment, type Queries } from '../driver/sql.ts';
import { selectTokenId } from '../applications/tokens.ts';

/** A token without its secret. */
export interface TokenSummary {
  /** The first digits of its hash, which reveal nothing about the token. */
  id: string;
  prefix: string;
  mode: TokenMode;
  scopes: TokenScope[];
  name: string;
  createdAt: Date;
  /** To the minute. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  issuedBy: string | null;
  /** Nobody can use it until another admin confirms it. */
  toConfirm: boolean;
}

/** Of `tokens`: another admin has to confirm it, and may. */
export const isTokenToConfirm = (sql: Queries): Fragment =>
  sql`to_confirm and revoked_at is null and (expires_at is null or expires_at > now())`;

export const createAdminTokens = (sql: Queries) => {
  const id = selectTokenId(sql);
  const summary = sql`
    ${id} as id, prefix, mode, scopes, name, created_at as "createdAt", last_used_at as "lastUsedAt",
    expires_at as "expiresAt", revoked_at as "revokedAt", issued_by as "issuedBy", to_confirm as "toConfirm"`;
  return {
    /**
     * Valid tokens first, then by age, newest first.
     * @param options.after the id of the token behind which the list begins
     */
    async list(
      application: string,
      limit: number,
      {
        after = null,
        mode = null,
      }: { after?: string | null; mode?: TokenSummary['mode'] | null } = {},
    ): Promise<TokenSummary[]> {
      return sql<TokenSummary[]>`
        with sorted as (
          select *, row_number() over (
            order by revoked_at is not null or coalesce(expires_at <= now(), false),
              created_at desc, hash) as position
          from tokens where application = ${application}
            ${mode === null ? sql`` : sql`and mode = ${mode}`}
        )
        select ${summary} from sorted
        ${
          after === null
            ? sql``
            : sql`where position > (select position from sorted where ${id} = ${after} limit 1)`
        }
        order by position limit ${limit}`;
    },

    /** Tokens of every application that wait for a second admin, the oldest first. */
    async listToConfirm(
      mode: TokenMode,
      limit: number,
    ): Promise<(TokenSummary & { application: string })[]> {
      return sql<(TokenSummary & { application: string })[]>`
        select application, ${summary} from tokens
        where ${isTokenToConfirm(sql)} and mode = ${mode} order by created_at, hash limit ${limit}`;
    },

    get: (application: string, tokenId: string) =>
      first(sql<TokenSummary[]>`
        select ${summary} from tokens where application = ${application} and ${id} = ${tokenId}`),

    /** Lets a token end after some days, unless it ends before. @returns its end */
    async endIn(application: string, tokenId: string, days: number): Promise<Date | undefined> {
      const [row] = await sql<{ expiresAt: Date }[]>`
        update tokens set expires_at = least(expires_at, now() + ${days}::int * interval '1 day')
        where application = ${application} and ${id} = ${tokenId} returning expires_at as "expiresAt"`;
      return row?.expiresAt;
    },

    /** False if the token is revoked already or does not exist. */
    revoke: (application: string, tokenId: string) =>
      changesOne(sql`
        update tokens set revoked_at = now()
        where application = ${application} and ${id} = ${tokenId} and revoked_at is null`),
  };
};
