import type { Queries } from './connection.ts';
import type { TokenMode } from './tokens.ts';

export type { TokenMode };

/** All that can be shown of a token. */
export interface TokenFacts {
  /** Of its hash, so that it says nothing about the token. */
  id: string;
  prefix: string;
  mode: TokenMode;
  name: string;
  createdAt: Date;
  /** To the minute. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

export const createTokenRecords = (sql: Queries) => {
  const id = sql`left(encode(hash, 'hex'), 16)`;
  return {
    /** The newest first. */
    async list(application: string, limit: number): Promise<TokenFacts[]> {
      return sql<TokenFacts[]>`
        select ${id} as id, prefix, mode, name, created_at as "createdAt",
          last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"
        from tokens where application = ${application}
        order by created_at desc limit ${limit}`;
    },

    /** False when it was revoked before, or is not there. */
    async revoke(application: string, tokenId: string): Promise<boolean> {
      const { count } = await sql`
        update tokens set revoked_at = now()
        where application = ${application} and ${id} = ${tokenId} and revoked_at is null`;
      return count === 1;
    },
  };
};
