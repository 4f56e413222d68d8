import type { Command } from 'commander';
import { consoleRoles } from '../../postgres/console-logins.ts';
import type { CliContext } from './commands.ts';
import { command, group, limit, listUpTo, option, reason, textOf } from './commands.ts';
import { table } from './output.ts';

const loginCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'login [name]',
      summary: 'print a link that opens the web console once, within 15 minutes',
      examples: ['console login', 'console login ada --role operator'],
      options: [
        option('--role <role>', 'what the person may do')
          .choices([...consoleRoles])
          .default('admin'),
        reason(),
      ],
    },
    async ({ args: [person], options, operations }) => {
      const role = consoleRoles.find((known) => known === options.role) ?? 'viewer';
      const { name, url } = await operations.console.issueLink(role, {
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
        login.createdAt,
        login.seenAt,
        login.isOpen,
      ]);
      const headings = ['person', 'role', 'logged in', 'last seen', 'open'];
      return { text: table(headings, rows, 'Nobody has logged in.'), json: logins };
    },
  );

const logOutCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'logout <name>',
      summary: 'end the open sessions of a person in the web console',
      examples: ['console logout ada --reason "left the company"'],
      options: [reason()],
    },
    async ({ args: [name = ''], options, operations }) => {
      const ended = await operations.console.logOut(name, textOf(options.reason));
      return { text: `Ended the sessions of ${name}: ${ended}.`, json: { name, ended } };
    },
  );

export const consoleCommands = (context: CliContext): Command =>
  group(
    {
      name: 'console',
      summary: 'let people into the web console, and out',
      examples: ['console login', 'console logins', 'console logout ada'],
    },
    [loginCommand(context), listCommand(context), logOutCommand(context)],
  );
