import { createHash, randomBytes } from 'node:crypto';
import type { Passkey } from './passkeys.ts';
import type { ConsoleView } from './views.ts';
import { changesOne, first, type Queries } from '../driver/sql.ts';

/** An account at an identity provider. */
export interface Account {
  issuer: string;
  subject: string;
}

/** The rights of a person in the console; each role may do what those before it may. */
export const consoleRoles = ['viewer', 'operator', 'admin'] as const;
export type ConsoleRole = (typeof consoleRoles)[number];

export interface ConsoleRights {
  role: ConsoleRole;
  /** The role is for these applications and nothing else; null: for the whole service. */
  applications: string[] | null;
}

/** For example `operator of shop`. */
export const describeRights = ({ role, applications }: ConsoleRights): string =>
  applications === null ? role : `${role} of ${applications.join(', ')}`;

/** The way of a login. */
export type LoginVia = 'link' | 'provider' | 'passkey';

/** A login that is open. */
export interface ConsoleSession extends ConsoleRights {
  id: string;
  name: string;
  via: LoginVia;
  createdAt: Date;
  /** The person proved who they are within the last ten minutes. */
  isFresh: boolean;
  views: ConsoleView[];
}

export interface ConsoleLogin extends ConsoleRights {
  id: string;
  name: string;
  via: LoginVia;
  createdAt: Date;
  seenAt: Date;
  isOpen: boolean;
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
const newSecret = (): string => randomBytes(32).toString('base64url');

/** The one-time links, sessions and ended logins of the web console. Only hashes of their secrets are stored. */
export const createConsoleLoginQueries = (sql: Queries) => {
  const isOpen = isOpenSession(sql);
  const id = sql`left(encode(s.hash, 'hex'), 16)`;
  return {
    /**
     * Gives the person these rights, and adds an unknown one.
     * @returns the code of a new link; it is good for 15 minutes and for one session
     */
    async issueLink(name: string, { role, applications }: ConsoleRights): Promise<string> {
      const code = newSecret();
      await sql`
        with person as (
          insert into console_people (name, role, applications)
          values (${name}, ${role}, ${applications})
          on conflict (name) do update
          set role = excluded.role, applications = excluded.applications
        )
        insert into console_links (hash, name) values (${hashOf(code)}, ${name})`;
      return code;
    },

    /** @returns the code of a new link of a known person */
    async addLink(name: string): Promise<string> {
      const code = newSecret();
      await sql`insert into console_links (hash, name) values (${hashOf(code)}, ${name})`;
      return code;
    },

    /** The person of a session, also of one that has ended; undefined for a secret that never was one. */
    async personOf(secret: string): Promise<string | undefined> {
      const [row] = await sql<{ name: string }[]>`
        select name from console_sessions where hash = ${hashOf(secret)}`;
      return row?.name;
    },

    /** The person of a link that can still be opened. */
    getLink: (code: string) =>
      first(sql<(ConsoleRights & { name: string })[]>`
        select l.name, p.role, p.applications from console_links l join console_people p on p.name = l.name
        where l.hash = ${hashOf(code)} and ${isOpenLink(sql)}`),

    /**
     * Spends a link. The lock makes it wait for `endSessionsOf`, or be seen there.
     * @returns the secret of the new session; undefined if the link is spent or too old
     */
    async openSession(code: string): Promise<string | undefined> {
      const secret = newSecret();
      const { count } = await sql`
        insert into console_sessions (hash, name, via, link)
        select ${hashOf(secret)}::bytea, l.name, 'link', l.hash from console_links l
        where l.hash = ${hashOf(code)} and ${isOpenLink(sql)}
        for update of l
        on conflict do nothing`;
      return count === 1 ? secret : undefined;
    },

    /**
     * Opens a session of the person of an account that has logged in at the identity provider.
     * @returns its secret; undefined if the account has no person any more
     */
    async openProviderSession(
      { issuer, subject }: Account,
      provedAt: Date | null,
    ): Promise<string | undefined> {
      const secret = newSecret();
      const { count } = await sql`
        with person as (
          update console_people set account_seen_at = now()
          where issuer = ${issuer} and subject = ${subject} returning name
        )
        insert into console_sessions (hash, name, via, proved_at)
        select ${hashOf(secret)}::bytea, name, 'provider', ${provedAt}::timestamptz from person`;
      return count === 1 ? secret : undefined;
    },

    /**
     * Records the use of a passkey, and opens a session of its person.
     * @returns its secret; undefined if another login has used the passkey since it was read, or if its person
     *   comes by the identity provider and has not logged in there for seven days
     */
    async openPasskeySession(
      { id: passkey, counter }: Pick<Passkey, 'id' | 'counter'>,
      newCounter: number,
    ): Promise<string | undefined> {
      const secret = newSecret();
      const { count } = await sql`
        with used as (
          update console_passkeys set counter = ${newCounter}, used_at = now()
          where id = ${passkey} and counter = ${counter} returning name
        )
        insert into console_sessions (hash, name, via)
        select ${hashOf(secret)}::bytea, p.name, 'passkey'
        from used join console_people p on p.name = used.name
        where (p.email is null and p.subject is null)
          or p.account_seen_at > now() - interval '7 days'`;
      return count === 1 ? secret : undefined;
    },

    async getSession(secret: string): Promise<ConsoleSession | undefined> {
      // The clock of an identity provider may be ahead, so the session has to be new too.
      const [row] = await sql<ConsoleSession[]>`
        select ${id} as id, s.name, p.role, p.applications, s.via, s.created_at as "createdAt",
          coalesce(s.proved_at > now() - interval '10 minutes'
            and s.created_at > now() - interval '10 minutes', false) as "isFresh",
          (select coalesce(jsonb_agg(jsonb_build_object('name', v.name, 'address', v.address) order by v.name), '[]')
            from console_views v where v.person = s.name) as views
        from console_sessions s join console_people p on p.name = s.name
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

    /** Ends the open sessions and the unused links of a person. @returns their numbers */
    async endSessionsOf(name: string): Promise<{ sessions: number; links: number }> {
      const { count: links } = await sql`
        update console_links l set ended_at = now() where l.name = ${name} and ${isOpenLink(sql)}`;
      const { count: sessions } = await sql`
        update console_sessions s set ended_at = now() where s.name = ${name} and ${isOpen}`;
      return { sessions, links };
    },

    /** The newest first. */
    async list(limit: number): Promise<ConsoleLogin[]> {
      return sql<ConsoleLogin[]>`
        select ${id} as id, s.name, p.role, p.applications, s.via, s.created_at as "createdAt",
          s.seen_at as "seenAt", ${isOpen} as "isOpen"
        from console_sessions s join console_people p on p.name = s.name
        order by s.created_at desc limit ${limit}`;
    },

    /** Records that a login that a browser has begun has ended. @returns false if it had ended before */
    endBegunLogin: (begunLogin: string) =>
      changesOne(sql`
        with expired as (delete from console_ended_logins where created_at < now() - interval '10 minutes')
        insert into console_ended_logins (hash) values (${hashOf(begunLogin)}) on conflict do nothing`),
  };
};

export type ConsoleLoginQueries = ReturnType<typeof createConsoleLoginQueries>;

/** Of `console_sessions s`. */
export const isOpenSession = (sql: Queries) =>
  sql`(s.ended_at is null and s.seen_at > now() - interval '1 hour'
    and s.created_at > now() - interval '12 hours')`;

/** Of `console_links l`: it can still open a session. */
export const isOpenLink = (sql: Queries) =>
  sql`(l.ended_at is null and l.expires_at > now()
    and not exists (select from console_sessions opened where opened.link = l.hash))`;
