import { createConsoleLoginQueries, type ConsoleRights } from '../../postgres/console/logins.ts';
import { createConsolePeopleQueries } from '../../postgres/console/people.ts';
import { NotFound, Refusal } from './change.ts';
import { checkEmail, checkName, checkRights, type IssuedLink, rightsOf } from './console-logins.ts';
import type { Deps } from './deps.ts';

/** Somebody who could make admins, or log in as one, would be the second admin of all that needs two. */
const checkNoAdmin = ({ role }: ConsoleRights): void => {
  if (role === 'admin')
    throw new Refusal(
      'The command line alone makes admins and their links: an admin who could do it here would be the second admin of all that needs two.',
    );
};

const refuseKnown = async (
  people: ReturnType<typeof createConsolePeopleQueries>,
  name: string,
): Promise<void> => {
  if (await people.get(name))
    throw new Refusal(`There is a person "${name}" already. For another role, remove them first.`);
};

/** The changes of people that an admin of the console may make. */
export const createInvitations = ({ change, consoleUrl }: Pick<Deps, 'change' | 'consoleUrl'>) => ({
  /**
   * Lets a new person in, who is no admin.
   * @returns a link that opens one session within 15 minutes
   */
  async invite(
    { name, ...rights }: ConsoleRights & { name: string },
    reason: string,
  ): Promise<IssuedLink> {
    checkName(name);
    checkNoAdmin(rights);
    return change({ action: 'console.link', subject: `person:${name}`, reason }, async (tx) => {
      const people = createConsolePeopleQueries(tx);
      await refuseKnown(people, name);
      await checkRights(tx, rights);
      await people.insert({ name, ...rights, email: null, subject: null });
      const code = await createConsoleLoginQueries(tx).addLink(name);
      return {
        result: { name, ...rights, url: `${consoleUrl}/login/${code}` },
        before: null,
        after: rights,
      };
    });
  },

  /** Another link for a person who is no admin, with the rights that the person has. @throws NotFound */
  async newLink(name: string, reason: string): Promise<IssuedLink> {
    return change({ action: 'console.link', subject: `person:${name}`, reason }, async (tx) => {
      const person = await createConsolePeopleQueries(tx).get(name);
      if (!person) throw new NotFound(`There is no person "${name}".`);
      checkNoAdmin(person);
      const code = await createConsoleLoginQueries(tx).addLink(name);
      const rights = rightsOf(person);
      return {
        result: { name, ...rights, url: `${consoleUrl}/login/${code}` },
        before: rights,
        after: rights,
      };
    });
  },

  /** The same as `add`, for a new person who is no admin. */
  async inviteAccount(
    { name, email, ...rights }: ConsoleRights & { name: string; email: string },
    reason: string,
  ): Promise<void> {
    checkName(name);
    checkNoAdmin(rights);
    const person = { name, ...rights, email: checkEmail(email), subject: null };
    await change({ action: 'console.add', subject: `person:${name}`, reason }, async (tx) => {
      const people = createConsolePeopleQueries(tx);
      await refuseKnown(people, name);
      await checkRights(tx, rights);
      const other = await people.getByEmail(person.email);
      if (other) throw new Refusal(`The address is that of "${other.name}".`);
      await people.insert(person);
      return { before: null, after: { ...rights, email: person.email, subject: null } };
    });
  },
});
