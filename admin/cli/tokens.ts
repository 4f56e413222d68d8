import { InvalidArgumentError } from 'commander';
import {
  defaultTokenScopes,
  type TokenScope,
  tokenModes,
  tokenScopes,
} from '../../contract/token.ts';
import { dayMs } from '../../contract/time.ts';
import { byLabel } from '../operations/fact.ts';
import { tokenFacts, tokenWaits } from '../operations/facts.ts';
import {
  type CommandSpec,
  type CommandGroup,
  count,
  option,
  reasonOption,
  required,
} from './commands.ts';
import { secretNotice, table } from './output.ts';

const parseScopes = (text: string): TokenScope[] => {
  const given = text.split(',');
  const scopes = tokenScopes.filter((scope) => given.includes(scope));
  if (scopes.length === given.length) return scopes;
  throw new InvalidArgumentError(`It must be some of ${tokenScopes.join(',')}.`);
};

/** In a script, too: the API would answer 401 without a word why. */
const waitsNote = (application: string, id: string): string =>
  `Nobody can use it until another admin confirms it: tokens confirm ${application} ${id}\n${tokenWaits}`;

const issueCommand: CommandSpec = {
  usage: 'issue <application>',
  summary: 'issue a bearer token, which is shown once',
  examples: [
    'tokens issue shop --mode test --name "staging"',
    'tokens issue shop --mode live --name "checkout" --expires-in-days 365',
    'tokens issue shop --mode live --name "reports" --scopes read',
  ],
  options: [
    required('--mode <mode>', 'live or test').choices([...tokenModes]),
    required('--name <text>', 'what the token is for'),
    option(
      '--scopes <scopes>',
      `some of ${tokenScopes.join(',')}`,
      defaultTokenScopes.join(','),
    ).argParser(parseScopes),
    option('--expires-in-days <days>', 'lifetime', 'no limit').argParser(count(3_650)),
    reasonOption(),
  ],
  run: async ({ args: [application = ''], options, reason, operations, io }) => {
    const days = options.expiresInDays;
    const expiresAt = typeof days === 'number' ? new Date(Date.now() + days * dayMs) : null;
    const mode = options.mode === 'live' ? 'live' : 'test';
    const name = String(options.name);
    const scopes = (options['scopes'] as TokenScope[] | undefined) ?? defaultTokenScopes;
    const { token, id, toConfirm } = await operations.tokens.issue(
      { application, mode, name, scopes, expiresAt },
      reason,
    );
    if (toConfirm) io.note(waitsNote(application, id));
    const json = { token, id, mode, name, scopes, expiresAt, toConfirm };
    return { text: token, note: secretNotice, json };
  },
};

const listCommand: CommandSpec = {
  usage: 'list <application>',
  summary: 'list the tokens of an application, without the secret part',
  examples: ['tokens list shop'],
  run: async ({ args: [application = ''], list, operations }) => {
    const tokens = await list((max) => operations.tokens.list(application, max));
    const rows = tokens.map((token) => byLabel(tokenFacts(token)));
    return { text: table(rows, 'The application has no tokens.'), json: tokens };
  },
};

const confirmCommand: CommandSpec = {
  usage: 'confirm <application> <id>',
  summary: 'confirm a token with the scope refund that another admin has issued',
  examples: ['tokens confirm shop 3f1c9a0b2d4e5f60 --reason "agreed with Ada"'],
  options: [reasonOption()],
  describeChange: ([application, id]) =>
    `Whoever has the token ${id} can give the money of payments of ${application} back. ${tokenWaits}`,
  run: async ({ args: [application = '', id = ''], reason, operations }) => {
    const { prefix, name } = await operations.tokens.confirm({ application, id }, reason);
    return { text: `Confirmed: ${prefix}… (${name})`, json: { confirmed: id } };
  },
};

const keepDaysMax = 7;

const replaceCommand: CommandSpec = {
  usage: 'replace <application> <id>',
  summary: 'issue a token with the mode, scopes and name of another one, which ends',
  examples: [
    'tokens replace shop 3f1c9a0b2d4e5f60 --keep-old-days 7 --reason "yearly rotation"',
    'tokens replace shop 3f1c9a0b2d4e5f60 --yes --reason "leaked"',
  ],
  options: [
    option('--keep-old-days <days>', 'when the old one ends', 'at once').argParser(
      count(keepDaysMax),
    ),
    reasonOption(),
  ],
  describeChange: ([application, id], { keepOldDays }) =>
    keepOldDays === undefined
      ? `The token ${id} of ${application} is revoked at once: the API rejects the next request with it.`
      : null,
  findConsequences: ({ args: [application = '', id = ''], operations }) =>
    operations.consequences.ofReplacing(application, id),
  run: async ({ args: [application = '', id = ''], options, reason, operations, io }) => {
    const { keepOldDays } = options;
    const keepDays = typeof keepOldDays === 'number' ? keepOldDays : 0;
    const replaced = await operations.tokens.replace({ application, id, keepDays }, reason);
    if (replaced.toConfirm) io.note(waitsNote(application, replaced.id));
    return { text: replaced.token, note: secretNotice, json: replaced };
  },
};

const revokeCommand: CommandSpec = {
  usage: 'revoke <application> <id>',
  summary: 'revoke a token: the API rejects the next request with it',
  examples: ['tokens revoke shop 3f1c9a0b2d4e5f60 --yes --reason "leaked"'],
  options: [reasonOption()],
  describeChange: ([application, id]) => `The token ${id} of ${application} will be revoked.`,
  findConsequences: ({ args: [application = '', id = ''], operations }) =>
    operations.consequences.ofRevoking(application, id),
  run: async ({ args: [application = '', id = ''], reason, operations }) => {
    const token = await operations.tokens.revoke({ application, id }, reason);
    return {
      text: `Revoked: ${token.prefix}… (${token.name})`,
      json: { revoked: token.id },
    };
  },
};

export const tokenCommands: CommandGroup = {
  name: 'tokens',
  summary: 'manage the bearer tokens of an application',
  examples: ['tokens list shop', 'tokens issue --help'],
  commands: [issueCommand, listCommand, replaceCommand, confirmCommand, revokeCommand],
};
