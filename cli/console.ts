import type { Command } from 'commander';
import { type ConsoleRole, consoleRoles } from '../postgres/console-logins.ts';
import type { CliContext } from './commands.ts';
import { command, group, limit, listUpTo, option, reason, textOf } from './commands.ts';
import { table } from './output.ts';

const roleOption = (description: string) =>
  option('--role <role>', description).choices([...consoleRoles]);

const roleOf = (value: unknown): ConsoleRole | null =>
  consoleRoles.find((role) => role === value) ?? null;

const loginCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'login [name]',
      summary: 'print a link that opens the web console once, within 15 minutes',
      examples: ['console login', 'console login ada --role operator'],
      options: [
        roleOption(
          'the role from now on; without it a known person keeps theirs, others are admins',
        ),
        reason(),
      ],
    },
    async ({ args: [person], options, operations }) => {
      const { name, role, url } = await operations.console.issueLink(roleOf(options.role), {
        name: person,
        reason: textOf(options.reason),
      });
      return {
        text: `Log in as ${name} (${role}), once and within 15 minutes:\n${url}`,
        json: { name, role, url },
      };
    },
  );

const listCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'logins',
      summary: 'list the logins to the web console, the newest first',
      examples: ['console logins --limit 20'],
      options: [limit()],
    },
    async ({ options, operations, io }) => {
      const logins = await listUpTo(Number(options.limit), io, (max) =>
        operations.console.list(max),
      );
      const rows = logins.map((login) => [
        login.name,
        login.role,
        login.via,
        login.createdAt,
        login.seenAt,
        login.isOpen,
      ]);
      const headings = ['person', 'role', 'by', 'logged in', 'last seen', 'open'];
      return { text: table(headings, rows, 'Nobody has logged in.'), json: logins };
    },
  );

const logOutCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'logout <name>',
      summary: 'end the open sessions and unused links of a person',
      examples: ['console logout ada --reason "left the company"'],
      options: [reason()],
    },
    async ({ args: [name = ''], options, operations }) => {
      const ended = await operations.console.logOut(name, textOf(options.reason));
      return {
        text: `Ended the sessions of ${name}: ${ended.sessions}; unused links: ${ended.links}.`,
        json: { name, ...ended },
      };
    },
  );

const addCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'add <name>',
      summary: 'let a person in through the identity provider',
      examples: [
        'console add ada --role operator --email ada@example.com',
        'console add ada --role operator --subject 248289761001',
      ],
      options: [
        roleOption('what the person may do').makeOptionMandatory(),
        option('--email <address>', 'the address that the provider has verified'),
        option('--subject <id>', 'the `sub` of the account, for providers that verify no address'),
        reason(),
      ],
      findMisuse: ({ email, subject }) =>
        email === undefined && subject === undefined ? 'add needs --email or --subject' : null,
    },
    async ({ args: [name = ''], options, operations }) => {
      const role = roleOf(options.role) ?? 'viewer';
      const email = textOf(options.email);
      const subject = textOf(options.subject);
      await operations.console.add({ name, role, email, subject }, textOf(options.reason));
      return {
        text: `${name} (${role}) can log in with the account that has ${subject ?? email}. Earlier links, sessions and passkeys of ${name} have ended.`,
        json: { name, role, email, subject },
      };
    },
  );

const removeCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'remove <name>',
      summary: 'let a person in no more, and delete their passkeys',
      examples: ['console remove ada --reason "left the company"'],
      options: [reason()],
      describeChange: ([name]) => `Remove ${name}: all sessions end, and the passkeys are deleted.`,
    },
    async ({ args: [name = ''], options, operations }) => {
      await operations.console.remove(name, textOf(options.reason));
      return { text: `${name} cannot log in any more.`, json: { name } };
    },
  );

const peopleCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'people',
      summary: 'list the people who may enter the web console',
      examples: ['console people'],
      options: [limit()],
    },
    async ({ options, operations, io }) => {
      const people = await listUpTo(Number(options.limit), io, (max) =>
        operations.console.people(max),
      );
      const rows = people.map((person) => [
        person.name,
        person.role,
        person.email,
        person.hasAccount,
        person.passkeys,
        person.openSessions,
      ]);
      const headings = ['person', 'role', 'e-mail', 'account', 'passkeys', 'open sessions'];
      return { text: table(headings, rows, 'Nobody may enter.'), json: people };
    },
  );

export const consoleCommands = (context: CliContext): Command =>
  group(
    {
      name: 'console',
      summary: 'let people into the web console, and out',
      examples: ['console login', 'console people', 'console logout ada'],
    },
    [
      loginCommand(context),
      addCommand(context),
      removeCommand(context),
      peopleCommand(context),
      listCommand(context),
      logOutCommand(context),
    ],
  );
