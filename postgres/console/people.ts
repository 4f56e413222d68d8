import type { Account, ConsoleRights } from './logins.ts';
import { isOpenLink, isOpenSession } from './logins.ts';
import { changesOne, first, type Queries } from '../driver/sql.ts';

export interface ConsolePerson extends ConsoleRights {
  name: string;
  email: string | null;
  /** The account of the identity provider, if it is known. */
  subject: string | null;
}

export interface ListedPerson extends ConsolePerson {
  /** An account of the identity provider belongs to the person. */
  hasAccount: boolean;
  passkeys: number;
  openSessions: number;
  unusedLinks: number;
}

/** The people who may enter the web console. */
export const createConsolePeopleQueries = (sql: Queries) => {
  const columns = sql`name, role, applications, email, subject`;
  return {
    get: (name: string) =>
      first(sql<ConsolePerson[]>`
        select ${columns} from console_people where name = ${name}`),

    getByEmail: (email: string) =>
      first(sql<ConsolePerson[]>`
        select ${columns} from console_people where email = ${email}`),

    getByAccount: ({ issuer, subject }: Account) =>
      first(sql<ConsolePerson[]>`
        select ${columns} from console_people where issuer = ${issuer} and subject = ${subject}`),

    /** The person who was added with this account, which has not logged in yet. */
    getBySubject: (subject: string) =>
      first(sql<ConsolePerson[]>`
        select ${columns} from console_people where subject = ${subject} and issuer is null`),

    /** Nobody else takes the role from one of them, or removes one, until the transaction ends. */
    async lockAdmins(): Promise<string[]> {
      const rows = await sql<{ name: string }[]>`
        select name from console_people where role = 'admin' order by name for no key update`;
      return rows.map(({ name }) => name);
    },

    /** The next account with the address or the subject becomes the person's. */
    async insert({ name, role, applications, email, subject }: ConsolePerson): Promise<void> {
      await sql`
        insert into console_people (name, role, applications, email, subject)
        values (${name}, ${role}, ${applications}, ${email}, ${subject})`;
    },

    /** @returns false if the person has an account already, or is gone */
    bindAccount: (name: string, { issuer, subject }: Account) =>
      changesOne(sql`
        update console_people set issuer = ${issuer}, subject = ${subject}
        where name = ${name} and issuer is null and (subject is null or subject = ${subject})`),

    /** Deletes a person with all links, sessions and passkeys. */
    async delete(name: string): Promise<void> {
      await sql`delete from console_people where name = ${name}`;
    },

    async list(limit: number): Promise<ListedPerson[]> {
      return sql<ListedPerson[]>`
        select p.name, p.role, p.applications, p.email, p.subject, p.issuer is not null as "hasAccount",
          (select count(*)::int from console_passkeys k where k.name = p.name) as passkeys,
          (select count(*)::int from console_sessions s
            where s.name = p.name and ${isOpenSession(sql)}) as "openSessions",
          (select count(*)::int from console_links l
            where l.name = p.name and ${isOpenLink(sql)}) as "unusedLinks"
        from console_people p order by p.name limit ${limit}`;
    },
  };
};
