import { consoleRoles, type ConsoleRights, describeRights } from '../../postgres/console/logins.ts';
import {
  type CommandSpec,
  type CommandGroup,
  limitOption,
  option,
  reasonOption,
  required,
  textOf,
} from './commands.ts';
import { table } from './output.ts';

const applicationOption = option(
  '--application <slugs>',
  'the role is for these applications and nothing else, for example shop,books',
  'for the whole service',
);

const rightsOf = (options: Record<string, unknown>): Partial<ConsoleRights> => {
  const role = consoleRoles.find((each) => each === options['role']);
  const slugs = textOf(options['application'])?.split(',');
  return {
    ...(role && { role }),
    ...(slugs && { applications: slugs.map((slug) => slug.trim()) }),
  };
};

const loginCommand: CommandSpec = {
  usage: 'login [name]',
  summary: 'print a link that opens the web console once, within 15 minutes',
  examples: ['console login', 'console login ada --role operator --application shop'],
  options: [
    option(
      '--role <role>',
      'the role from now on',
      'a known person keeps theirs, others are admins',
    ).choices([...consoleRoles]),
    applicationOption,
    reasonOption(),
  ],
  run: async ({ args: [person], options, reason, operations }) => {
    const link = await operations.console.issueLink(rightsOf(options), { name: person, reason });
    return {
      text: `Log in as ${link.name} (${describeRights(link)}), once and within 15 minutes:\n${link.url}`,
      json: link,
    };
  },
};

const listCommand: CommandSpec = {
  usage: 'logins',
  summary: 'list the logins to the web console, the newest first',
  examples: ['console logins --limit 20'],
  options: [limitOption()],
  run: async ({ list, operations }) => {
    const logins = await list((max) => operations.console.list(max));
    const rows = logins.map((login) => ({
      person: login.name,
      role: describeRights(login),
      by: login.via,
      'logged in': login.createdAt,
      'last seen': login.seenAt,
      open: login.isOpen,
    }));
    return { text: table(rows, 'Nobody has logged in.'), json: logins };
  },
};

const logOutCommand: CommandSpec = {
  usage: 'logout <name>',
  summary: 'end the open sessions and unused links of a person',
  examples: ['console logout ada --reason "left the company"'],
  options: [reasonOption()],
  run: async ({ args: [name = ''], reason, operations }) => {
    const ended = await operations.console.logOut(name, reason);
    return {
      text: `Ended the sessions of ${name}: ${ended.sessions}; unused links: ${ended.links}.`,
      json: { name, ...ended },
    };
  },
};

const addCommand: CommandSpec = {
  usage: 'add <name>',
  summary: 'let a person in through the identity provider',
  examples: [
    'console add ada --role operator --email ada@example.com',
    'console add ada --role operator --subject 248289761001',
  ],
  options: [
    required('--role <role>', 'what the person may do').choices([...consoleRoles]),
    applicationOption,
    option('--email <address>', 'the address that the provider has verified', 'none'),
    option(
      '--subject <id>',
      'the `sub` of the account, for providers that verify no address',
      'none',
    ),
    reasonOption(),
  ],
  findMisuse: ({ email, subject }) =>
    email === undefined && subject === undefined ? 'add needs --email or --subject' : null,
  run: async ({ args: [name = ''], options, reason, operations }) => {
    const { role = 'viewer', applications } = rightsOf(options);
    const email = textOf(options.email);
    const subject = textOf(options.subject);
    const account = { name, role, email, subject };
    const rights = await operations.console.add(
      { ...account, ...(applications && { applications }) },
      reason,
    );
    return {
      text: `${name} (${describeRights(rights)}) can log in with the account that has ${subject ?? email}. Earlier links, sessions and passkeys of ${name} have ended.`,
      json: { name, ...rights, email, subject },
    };
  },
};

const removeCommand: CommandSpec = {
  usage: 'remove <name>',
  summary: 'let a person in no more, and delete their passkeys',
  examples: ['console remove ada --reason "left the company"'],
  options: [reasonOption()],
  describeChange: ([name]) => `Remove ${name}: all sessions end, and the passkeys are deleted.`,
  run: async ({ args: [name = ''], reason, operations }) => {
    await operations.console.remove(name, reason);
    return { text: `${name} cannot log in any more.`, json: { name } };
  },
};

const peopleCommand: CommandSpec = {
  usage: 'people',
  summary: 'list the people who may enter the web console',
  examples: ['console people'],
  options: [limitOption()],
  run: async ({ list, operations }) => {
    const people = await list((max) => operations.console.people(max));
    const rows = people.map((person) => ({
      person: person.name,
      role: describeRights(person),
      'e-mail': person.email,
      account: person.hasAccount,
      passkeys: person.passkeys,
      'open sessions': person.openSessions,
    }));
    return { text: table(rows, 'Nobody may enter.'), json: people };
  },
};

export const consoleCommands: CommandGroup = {
  name: 'console',
  summary: 'let people into the web console, and out',
  examples: ['console login', 'console people', 'console logout ada'],
  commands: [loginCommand, addCommand, removeCommand, peopleCommand, listCommand, logOutCommand],
};
