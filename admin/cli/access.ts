import type { Command } from 'commander';
import { tokenModes } from '../../contract/token.ts';
import { Refusal } from '../change.ts';
import type { CliContext } from './commands.ts';
import { command, count, group, listMax, listUpTo, option, reason, textOf } from './commands.ts';
import { clean, facts, table } from './output.ts';

const dayMs = 86_400_000;
const days = count(3_650);
const once = 'It is shown now and never again.';

export const tokenCommands = (around: CliContext): Command => {
  const issue = command(
    around,
    {
      usage: 'issue <application>',
      summary: 'make a bearer token, shown once',
      examples: [
        'tokens issue shop --mode test --name "staging"',
        'tokens issue shop --mode live --name "checkout" --expires-in-days 365',
      ],
      options: [
        option('--mode <mode>', 'live or test')
          .choices([...tokenModes])
          .makeOptionMandatory(),
        option('--name <text>', 'what it is for').makeOptionMandatory(),
        option('--expires-in-days <days>', 'by default it stays valid').argParser(days),
        reason(),
      ],
    },
    async ({ args: [application = ''], options, operations }) => {
      const inDays = options['expiresInDays'];
      const expiresAt = typeof inDays === 'number' ? new Date(Date.now() + inDays * dayMs) : null;
      const mode = options['mode'] === 'live' ? ('live' as const) : ('test' as const);
      const name = String(options['name']);
      const token = await operations.tokens.issue(
        { application, mode, name, expiresAt },
        textOf(options['reason']),
      );
      return { text: `${token}\n${once}`, json: { token, mode, name, expiresAt } };
    },
  );

  const list = command(
    around,
    {
      usage: 'list <application>',
      summary: 'its tokens, without what is secret of them',
      examples: ['tokens list shop'],
    },
    async ({ args: [application = ''], operations, io }) => {
      const tokens = await listUpTo(listMax, io, (most) =>
        operations.tokens.list(application, most),
      );
      const rows = tokens.map((one) => [
        ...[one.id, one.prefix, one.mode, one.name, one.createdAt],
        ...[one.lastUsedAt, one.expiresAt, one.revokedAt],
      ]);
      const headings = [
        'id',
        'prefix',
        'mode',
        'name',
        'created',
        'last used',
        'expires',
        'revoked',
      ];
      return { text: table(headings, rows, 'It has no tokens.'), json: tokens };
    },
  );

  const revoke = command(
    around,
    {
      usage: 'revoke <application> <id>',
      summary: 'refuse a token from its very next request on',
      examples: ['tokens revoke shop 3f1c9a0b2d4e5f60 --yes --reason "leaked"'],
      options: [reason()],
      irreversible: ([application, id]) => `The token ${id} of ${application} will be revoked.`,
    },
    async ({ args: [application = '', id = ''], options, operations }) => {
      const token = await operations.tokens.revoke({ application, id }, textOf(options['reason']));
      return {
        text: `Revoked: ${token.prefix}… (${clean(token.name)})`,
        json: { revoked: token.id },
      };
    },
  );

  return group(
    {
      name: 'tokens',
      summary: 'bearer tokens of an application',
      examples: ['tokens list shop', 'tokens issue --help'],
    },
    [issue, list, revoke],
  );
};

const secretId = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Refusal('The id must be the number that secrets list shows.');
};

export const secretCommands = (around: CliContext): Command => {
  const rotate = command(
    around,
    {
      usage: 'rotate <application>',
      summary: 'make a new webhook secret, shown once; the old one goes on for 24 hours beside it',
      examples: ['secrets rotate shop', 'secrets rotate shop --yes --json'],
      options: [reason()],
      irreversible: ([application]) =>
        `${application} gets a new webhook secret; an older one retires in 24 hours.`,
    },
    async ({ args: [application = ''], options, operations }) => {
      const secret = await operations.secrets.rotate(application, textOf(options['reason']));
      return { text: `${secret}\n${once}`, json: { secret } };
    },
  );

  const list = command(
    around,
    {
      usage: 'list <application>',
      summary: 'its webhook secrets in use, the newer first, without the secrets themselves',
      examples: ['secrets list shop'],
    },
    async ({ args: [application = ''], operations }) => {
      const secrets = await operations.secrets.list(application);
      const rows = secrets.map((one) => [one.id, one.createdAt, one.retiresAt, one.keyId]);
      const headings = ['id', 'created', 'retires', 'sealed by key'];
      return { text: table(headings, rows, 'It has no webhook secret.'), json: secrets };
    },
  );

  const retire = command(
    around,
    {
      usage: 'retire <application> <id>',
      summary: 'end one of two webhook secrets at once: the next attempt is not signed with it',
      examples: ['secrets retire shop 17 --yes --reason "leaked"'],
      options: [reason()],
      irreversible: ([application, id]) => `The secret ${id} of ${application} ends at once.`,
    },
    async ({ args: [application = '', id = ''], options, operations }) => {
      const number = secretId(id);
      await operations.secrets.retire({ application, id: number }, textOf(options['reason']));
      return { text: facts({ retired: number }), json: { retired: number } };
    },
  );

  const reseal = command(
    around,
    {
      usage: 'reseal',
      summary:
        'seal all webhook secrets and credentials with the first key of SECRETS_KEY; then the others can go',
      examples: ['secrets reseal --reason "yearly rotation of the key"'],
      options: [reason()],
    },
    async ({ options, operations }) => {
      const resealed = await operations.secrets.reseal(textOf(options['reason']));
      return { text: `Sealed anew: ${resealed}`, json: { resealed } };
    },
  );

  return group(
    {
      name: 'secrets',
      summary: 'webhook secrets of an application',
      examples: ['secrets list shop', 'secrets rotate --help'],
    },
    [rotate, list, retire, reseal],
  );
};
