import { createApplications } from '../../postgres/applications/applications.ts';
import { createAuditLog } from '../../postgres/audit-log.ts';
import {
  type Account,
  type ConsoleLogin,
  type ConsoleLoginQueries,
  type ConsoleRights,
  createConsoleLoginQueries,
  type LoginVia,
} from '../../postgres/console/logins.ts';
import { createConsolePasskeyQueries, type Passkey } from '../../postgres/console/passkeys.ts';
import {
  type ConsolePerson,
  createConsolePeopleQueries,
  type ListedPerson,
} from '../../postgres/console/people.ts';
import type { Queries } from '../../postgres/driver/sql.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

/** Lets people into the web console, and out. */
export const createConsoleLogins = ({
  sql,
  change,
  actor,
  consoleUrl,
}: Pick<Deps, 'sql' | 'change' | 'actor' | 'consoleUrl'>) => ({
  /**
   * By default the link is for the caller, with the rights that the person has, or else as an admin.
   * @returns a link that opens one session within 15 minutes
   */
  async issueLink(
    wanted: Partial<ConsoleRights>,
    { name = actor, reason = null }: { name?: string | undefined; reason?: string | null } = {},
  ): Promise<IssuedLink> {
    checkName(name);
    return change({ action: 'console.link', subject: `person:${name}`, reason }, async (tx) => {
      const before = await createConsolePeopleQueries(tx).get(name);
      const rights = {
        role: wanted.role ?? before?.role ?? 'admin',
        applications: wanted.applications ?? before?.applications ?? null,
      };
      await checkRights(tx, rights, before);
      const code = await createConsoleLoginQueries(tx).issueLink(name, rights);
      return {
        result: { name, ...rights, url: `${consoleUrl}/login/${code}` },
        before: before ? rightsOf(before) : null,
        after: rights,
      };
    });
  },

  /**
   * Lets in the account of the identity provider that has this address or subject. A person of that name may be
   * another one from now on, so their links, sessions and passkeys end.
   */
  async add(
    {
      name,
      role,
      applications: wanted,
      email,
      subject,
    }: Pick<ConsolePerson, 'name' | 'role' | 'email'> & Partial<ConsolePerson>,
    reason: string | null,
  ): Promise<ConsoleRights> {
    checkName(name);
    const account = {
      email: email === null ? null : checkEmail(email),
      subject: checkSubject(subject ?? null),
    };
    return change({ action: 'console.add', subject: `person:${name}`, reason }, async (tx) => {
      const people = createConsolePeopleQueries(tx);
      const before = await people.get(name);
      // A person stays one of their applications, also with another account.
      const applications = wanted ?? before?.applications ?? null;
      const after = { role, applications, ...account };
      await checkRights(tx, after, before);
      const refuseOther = (what: string, owner: ConsolePerson | undefined) => {
        if (owner && owner.name !== name)
          throw new Refusal(`The ${what} is that of "${owner.name}".`);
      };
      if (after.email !== null) refuseOther('address', await people.getByEmail(after.email));
      if (after.subject !== null) refuseOther('subject', await people.getBySubject(after.subject));
      await people.delete(name);
      await people.insert({ name, ...after });
      return {
        result: rightsOf(after),
        before: before ? { ...rightsOf(before), email: before.email } : null,
        after,
      };
    });
  },

  /** Ends the sessions too, and deletes the passkeys. */
  async remove(name: string, reason: string | null): Promise<void> {
    await change({ action: 'console.remove', subject: `person:${name}`, reason }, async (tx) => {
      const people = createConsolePeopleQueries(tx);
      const person = await people.get(name);
      if (!person) throw new NotFound(`There is no person "${name}".`);
      await keepAnAdmin(tx, person);
      await people.delete(name);
      return {
        before: { ...rightsOf(person), email: person.email },
        after: null,
      };
    });
  },

  people: (limit: number): Promise<ListedPerson[]> => createConsolePeopleQueries(sql).list(limit),

  list: (limit: number): Promise<ConsoleLogin[]> => createConsoleLoginQueries(sql).list(limit),

  /** Takes effect at the next request. @returns the numbers of sessions and unused links that it ended */
  async logOut(name: string, reason: string | null): Promise<{ sessions: number; links: number }> {
    return change({ action: 'console.logout', subject: `person:${name}`, reason }, async (tx) => {
      const ended = await createConsoleLoginQueries(tx).endSessionsOf(name);
      if (ended.sessions + ended.links === 0)
        throw new Refusal(`"${name}" has no open session and no unused link.`);
      return { result: ended, before: { ...ended }, after: { sessions: 0, links: 0 } };
    });
  },

  /** Opens a session of the caller. @returns its secret; undefined if `open` did not open one */
  async logIn(
    via: LoginVia,
    open: (logins: ConsoleLoginQueries) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const subject = `person:${actor}`;
    const none = new Refusal('There is no session.');
    try {
      return await change({ action: 'console.login', subject, reason: null }, async (tx) => {
        const result = await open(createConsoleLoginQueries(tx));
        if (result === undefined) throw none;
        return { result, before: null, after: { via } };
      });
    } catch (error) {
      if (error === none) return undefined;
      throw error;
    }
  },

  /** Records a login that the console has refused. */
  refuseLogin: (via: LoginVia): Promise<void> => createAuditLog(sql).insertRefusedLogin(via),

  /** From now on only this account of the identity provider is the person. */
  async bindAccount(name: string, account: Account): Promise<void> {
    const subject = `person:${name}`;
    await change({ action: 'console.account', subject, reason: null }, async (tx) => {
      if (!(await createConsolePeopleQueries(tx).bindAccount(name, account)))
        throw new Refusal(`"${name}" has another account of the identity provider.`);
      return { before: null, after: { ...account } };
    });
  },

  async addPasskey(passkey: Passkey, label: string): Promise<void> {
    const subject = `person:${passkey.name}`;
    await change({ action: 'passkey.add', subject, reason: null }, async (tx) => {
      if (!(await createConsolePasskeyQueries(tx).insert(passkey, label)))
        throw new Refusal('The passkey exists, or there are ten already.');
      return { before: null, after: { label } };
    });
  },

  async removePasskey(
    { name, id }: { name: string; id: string },
    reason: string | null,
  ): Promise<void> {
    await change({ action: 'passkey.remove', subject: `person:${name}`, reason }, async (tx) => {
      const label = await createConsolePasskeyQueries(tx).delete(name, id);
      if (label === undefined) throw new NotFound('There is no such passkey.');
      return { before: { label }, after: null };
    });
  },
});

/** @throws Refusal for the last admin: the console would have nobody who disables, revokes or confirms */
const keepAnAdmin = async (
  tx: Queries,
  { name, role }: Pick<ConsolePerson, 'name' | 'role'>,
): Promise<void> => {
  if (role !== 'admin') return;
  const admins = await createConsolePeopleQueries(tx).lockAdmins();
  if (admins.some((each) => each !== name)) return;
  throw new Refusal(
    `"${name}" is the last admin of the console. Make another one first: npm run admin -- console login NAME --role admin.`,
  );
};

export interface IssuedLink extends ConsoleRights {
  name: string;
  url: string;
}

export const rightsOf = ({ role, applications }: ConsoleRights) => ({ role, applications });

const applicationsMax = 20;

export const checkRights = async (
  tx: Queries,
  { role, applications }: ConsoleRights,
  before?: ConsolePerson,
): Promise<void> => {
  if (before && role !== 'admin') await keepAnAdmin(tx, before);
  if (applications === null) return;
  if (role === 'admin')
    throw new Refusal(
      'An admin is one of the whole service. Remove the person first, or use another role.',
    );
  if (applications.length === 0 || applications.length > applicationsMax)
    throw new Refusal(`A person can be one of 1 to ${applicationsMax} applications.`);
  for (const slug of applications)
    if (!(await createApplications(tx).get(slug)))
      throw new NotFound(`There is no application "${slug}".`);
};

/** @returns it in lower case. Beyond ASCII, different letters may have the same small one. */
export const checkEmail = (email: string): string => {
  const address = email.trim();
  if (/^[!-?A-~]{1,64}@[!-?A-~]{1,190}$/.test(address)) return address.toLowerCase();
  throw new Refusal('The e-mail address is not valid, or not in ASCII.');
};

const checkSubject = (subject: string | null): string | null => {
  if (subject === null || /^[!-~]{1,255}$/.test(subject)) return subject;
  throw new Refusal('The subject is not valid.');
};

export const checkName = (name: string): void => {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u.test(name) || ['service', 'nobody'].includes(name))
    throw new Refusal('The name needs 1 to 100 letters, digits, spaces or . _ @ + -');
};
