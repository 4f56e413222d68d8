import { createHash, randomBytes } from 'node:crypto';
import type { Queries } from './driver/sql.ts';

/** What somebody may do in the console; each role may do what those before it may. */
export const consoleRoles = ['viewer', 'operator', 'admin'] as const;
export type ConsoleRole = (typeof consoleRoles)[number];

/** A login that is open. */
export interface ConsoleSession {
  id: string;
  name: string;
  role: ConsoleRole;
  createdAt: Date;
  /** The link was opened in the last ten minutes. */
  isFresh: boolean;
}

export interface ConsoleLogin {
  id: string;
  name: string;
  role: ConsoleRole;
  createdAt: Date;
  seenAt: Date;
  isOpen: boolean;
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
const newSecret = (): string => randomBytes(32).toString('base64url');

/** The one-time links and the sessions of the web console. Only hashes of their secrets are stored. */
export const createConsoleLoginQueries = (sql: Queries) => {
  const isOpen = sql`(s.ended_at is null and s.seen_at > now() - interval '1 hour'
    and s.created_at > now() - interval '12 hours')`;
  const id = sql`left(encode(s.hash, 'hex'), 16)`;
  return {
    /** @returns the code of a new link; it is good for 15 minutes and for one session */
    async issueLink(name: string, role: ConsoleRole): Promise<string> {
      const code = newSecret();
      await sql`
        insert into console_links (hash, name, role) values (${hashOf(code)}, ${name}, ${role})`;
      return code;
    },

    /** The person of a link that can still be opened. */
    async getLink(code: string): Promise<{ name: string; role: ConsoleRole } | undefined> {
      const [row] = await sql<{ name: string; role: ConsoleRole }[]>`
        select l.name, l.role from console_links l
        where l.hash = ${hashOf(code)} and l.expires_at > now()
          and not exists (select from console_sessions s where s.link = l.hash)`;
      return row;
    },

    /** Spends a link. @returns the secret of the new session; undefined if the link is spent or too old */
    async openSession(code: string): Promise<string | undefined> {
      const secret = newSecret();
      const { count } = await sql`
        insert into console_sessions (hash, link)
        select ${hashOf(secret)}::bytea, l.hash from console_links l
        where l.hash = ${hashOf(code)} and l.expires_at > now()
        on conflict do nothing`;
      return count === 1 ? secret : undefined;
    },

    async getSession(secret: string): Promise<ConsoleSession | undefined> {
      const [row] = await sql<ConsoleSession[]>`
        select ${id} as id, l.name, l.role, s.created_at as "createdAt",
          s.created_at > now() - interval '10 minutes' as "isFresh"
        from console_sessions s join console_links l on l.hash = s.link
        where s.hash = ${hashOf(secret)} and ${isOpen}`;
      return row;
    },

    /** At most one write a minute. */
    async markSeen(secret: string): Promise<void> {
      await sql`
        update console_sessions set seen_at = now()
        where hash = ${hashOf(secret)} and seen_at < now() - interval '1 minute'`;
    },

    async endSession(secret: string): Promise<void> {
      await sql`
        update console_sessions set ended_at = now()
        where hash = ${hashOf(secret)} and ended_at is null`;
    },

    /** Ends the open sessions of a person. @returns their number */
    async endSessionsOf(name: string): Promise<number> {
      const { count } = await sql`
        update console_sessions s set ended_at = now() from console_links l
        where l.hash = s.link and l.name = ${name} and ${isOpen}`;
      return count;
    },

    /** The newest first. */
    async list(limit: number): Promise<ConsoleLogin[]> {
      return sql<ConsoleLogin[]>`
        select ${id} as id, l.name, l.role, s.created_at as "createdAt", s.seen_at as "seenAt",
          ${isOpen} as "isOpen"
        from console_sessions s join console_links l on l.hash = s.link
        order by s.created_at desc limit ${limit}`;
    },
  };
};
