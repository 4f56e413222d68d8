import { gatewayKinds } from '../contract/gateway-account.ts';
import { type CommandSpec, type CommandGroup, option, reasonOption } from './commands.ts';
import type { Io } from './io.ts';
import { table } from './output.ts';

/** The built-in driver, which needs no credentials. */
const sandboxDriver = 'sandbox';

/** Reads JSON of several lines: the consoles of providers format it that way. */
const readCredentials = (io: Io): Promise<string> =>
  io.readSecret('Credentials, a JSON object (not shown; end with Ctrl-D): ', isJson);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const addCommand: CommandSpec = {
  usage: 'add <gateway>',
  summary: 'add an account at a payment provider; its credentials come from a prompt or a pipe',
  examples: [
    'gateways add sandbox --driver sandbox',
    'gateways add zarinpal --driver zarinpal --kind live',
    'gateways add zarinpal --driver zarinpal --kind live < credentials.json',
  ],
  options: [
    option('--driver <name>', 'the provider').makeOptionMandatory(),
    option(
      '--kind <kind>',
      'live, or sandbox for the test environment of the provider, the only kind for test tokens; the driver sandbox needs none',
    ).choices([...gatewayKinds]),
    reasonOption(),
  ],
  // No default: payments of a sandbox account look as paid as those of a live one.
  findMisuse: ({ driver, kind }) =>
    driver === sandboxDriver || kind !== undefined
      ? null
      : `the driver ${String(driver)} needs a --kind: live, or sandbox for its test environment`,
  run: async ({ args: [slug = ''], options, reason, operations, io }) => {
    const driver = String(options.driver);
    const kind = options.kind === 'live' ? 'live' : 'sandbox';
    const credentials = driver === sandboxDriver ? null : await readCredentials(io);
    await operations.gateways.add({ slug, driver, kind, credentials }, reason);
    return { text: `Added: ${slug}`, json: { slug, driver, kind } };
  },
};

const updateCommand: CommandSpec = {
  usage: 'update <gateway>',
  summary: 'replace the credentials of an account; they come from a prompt or a pipe',
  examples: [
    'gateways update zarinpal --reason "the key was rotated"',
    'gateways update zarinpal --yes < credentials.json',
  ],
  options: [reasonOption()],
  describeChange: ([slug]) =>
    `The credentials of ${slug} are replaced at once, for open payments too. Secrets of notifications stay unless they are given.`,
  run: async ({ args: [slug = ''], reason, operations, io }) => {
    const credentials = await readCredentials(io);
    await operations.gateways.setCredentials(slug, credentials, reason);
    return { text: `Updated: ${slug}`, json: { slug } };
  },
};

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list all gateways',
  examples: ['gateways list'],
  run: async ({ operations }) => {
    const gateways = await operations.gateways.list();
    const rows = gateways.map(({ slug, driver, kind, enabled, hasCredentials }) => ({
      slug,
      driver,
      kind,
      enabled,
      credentials: hasCredentials,
    }));
    return { text: table(rows, 'There are no gateways.'), json: gateways };
  },
};

const setEnabledCommand = ({
  name,
  enabled,
  summary,
}: {
  name: string;
  enabled: boolean;
  summary: string;
}): CommandSpec => ({
  usage: `${name} <gateway>`,
  summary,
  examples: [`gateways ${name} zarinpal --reason "maintenance at the provider"`],
  options: [reasonOption()],
  run: async ({ args: [slug = ''], reason, operations }) => {
    await operations.gateways.setEnabled(slug, enabled, reason);
    return { text: `${enabled ? 'Enabled' : 'Disabled'}: ${slug}`, json: { slug, enabled } };
  },
});

export const gatewayCommands: CommandGroup = {
  name: 'gateways',
  summary: 'manage the accounts at payment providers',
  examples: ['gateways list', 'gateways add --help'],
  commands: [
    addCommand,
    updateCommand,
    listCommand,
    setEnabledCommand({ name: 'enable', enabled: true, summary: 'accept new payments again' }),
    setEnabledCommand({
      name: 'disable',
      enabled: false,
      summary: 'reject new payments; open payments continue',
    }),
  ],
};
