import { type CommandSpec, type CommandGroup, numberArgument, reasonOption } from './commands.ts';
import { facts, secretNotice, table } from './output.ts';

const rotateCommand: CommandSpec = {
  usage: 'rotate <application>',
  summary: 'add a webhook secret, which is shown once; the old one stays valid for 24 hours',
  examples: ['secrets rotate shop', 'secrets rotate shop --yes --json'],
  options: [reasonOption()],
  describeChange: ([application]) =>
    `${application} gets a new webhook secret, and the old one retires in 24 hours.`,
  run: async ({ args: [application = ''], reason, operations }) => {
    const secret = await operations.secrets.rotate(application, reason);
    return { text: secret, note: secretNotice, json: { secret } };
  },
};

const listCommand: CommandSpec = {
  usage: 'list <application>',
  summary: 'list the valid webhook secrets of an application, without the secrets themselves',
  examples: ['secrets list shop'],
  run: async ({ args: [application = ''], operations }) => {
    const secrets = await operations.secrets.list(application);
    const rows = secrets.map(({ id, createdAt, retiresAt, keyId }) => ({
      id,
      created: createdAt,
      retires: retiresAt,
      'encrypted with key': keyId,
    }));
    return {
      text: table(rows, 'The application has no webhook secret.'),
      json: secrets,
    };
  },
};

const retireCommand: CommandSpec = {
  usage: 'retire <application> <id>',
  summary: 'retire one of two webhook secrets at once: the next attempt is not signed with it',
  examples: ['secrets retire shop 17 --yes --reason "leaked"'],
  options: [reasonOption()],
  describeChange: ([application, id]) => `The secret ${id} of ${application} retires at once.`,
  run: async ({ args: [application = '', text = ''], reason, operations }) => {
    const id = numberArgument(text, 'a secret (secrets list)');
    await operations.secrets.retire({ application, id }, reason);
    return { text: facts({ retired: id }), json: { retired: id } };
  },
};

const resealCommand: CommandSpec = {
  usage: 'reseal',
  summary:
    'encrypt everything with the first keys of SECRETS_KEY, WEBHOOKS_KEY and NOTIFICATIONS_KEY; then remove the others',
  examples: ['secrets reseal --reason "yearly rotation of the key"'],
  options: [reasonOption()],
  run: async ({ reason, operations }) => {
    const resealed = await operations.secrets.reseal(reason);
    return { text: `Encrypted with the first key: ${resealed}`, json: { resealed } };
  },
};

const listKeysCommand: CommandSpec = {
  usage: 'list-keys',
  summary:
    'list the keys of SECRETS_KEY, WEBHOOKS_KEY and NOTIFICATIONS_KEY that are in use, and how many secrets each has encrypted; exits with 1 if not all are encrypted with the first keys',
  examples: ['secrets list-keys'],
  run: async ({ operations }) => {
    const keys = await operations.secrets.listKeys();
    const rows = keys.map(({ setting, keyId, use, seals }) => ({
      setting,
      key: keyId,
      use,
      secrets: seals,
    }));
    return {
      text: table(rows, ''),
      json: keys,
      failed: keys.some(({ use, seals }) => use !== 'encrypts' && seals > 0),
    };
  },
};

export const secretCommands: CommandGroup = {
  name: 'secrets',
  summary: 'manage the webhook secrets of an application',
  examples: ['secrets list shop', 'secrets rotate --help'],
  commands: [rotateCommand, listCommand, retireCommand, resealCommand, listKeysCommand],
};
