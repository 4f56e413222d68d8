import type { Command } from 'commander';
import { gatewayKinds } from '../../contract/gateway-account.ts';
import type { CliContext } from './commands.ts';
import { command, group, option, reason, textOf } from './commands.ts';
import type { Io } from './io.ts';
import { table } from './output.ts';

/** The built-in one, whose money is not real. */
const sandboxDriver = 'sandbox';

/** Over as many lines as it has: providers' consoles hand JSON out with line ends. */
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

const addCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'add <gateway>',
      summary:
        'configure an account at a payment provider; its credentials are asked for, or piped',
      examples: [
        'gateways add sandbox --driver sandbox',
        'gateways add zarinpal --driver zarinpal --kind live',
        'gateways add zarinpal --driver zarinpal --kind live < credentials.json',
      ],
      options: [
        option('--driver <name>', 'the kind of provider').makeOptionMandatory(),
        option(
          '--kind <kind>',
          'live, or sandbox: the test environment of a provider, all that test tokens may use; only the driver sandbox does without',
        ).choices([...gatewayKinds]),
        reason(),
      ],
      // Payments of a sandbox account look as paid as those of a live one: nobody gets one unasked.
      misused: ({ driver, kind }) =>
        driver === sandboxDriver || kind !== undefined
          ? null
          : `the driver ${String(driver)} needs a --kind: live, or sandbox for its test environment`,
    },
    async ({ args: [slug = ''], options, operations, io }) => {
      const driver = String(options['driver']);
      const kind = options['kind'] === 'live' ? ('live' as const) : ('sandbox' as const);
      const credentials = driver === sandboxDriver ? null : await readCredentials(io);
      await operations.gateways.add({ slug, driver, kind, credentials }, textOf(options['reason']));
      return { text: `Added: ${slug}`, json: { slug, driver, kind } };
    },
  );

const updateCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'update <gateway>',
      summary: 'give an account other credentials; they are asked for, or piped',
      examples: [
        'gateways update zarinpal --reason "the key was rotated"',
        'gateways update zarinpal --yes < credentials.json',
      ],
      options: [reason()],
      irreversible: ([slug]) =>
        `The credentials of ${slug} are replaced at once, also for payments on their way.`,
    },
    async ({ args: [slug = ''], options, operations, io }) => {
      const credentials = await readCredentials(io);
      await operations.gateways.setCredentials(slug, credentials, textOf(options['reason']));
      return { text: `Updated: ${slug}`, json: { slug } };
    },
  );

export const gatewayCommands = (around: CliContext): Command => {
  const list = command(
    around,
    { usage: 'list', summary: 'all gateways', examples: ['gateways list'] },
    async ({ operations }) => {
      const all = await operations.gateways.list();
      const rows = all.map((one) => [
        ...[one.slug, one.driver, one.kind, one.enabled, one.hasCredentials],
      ]);
      const headings = ['slug', 'driver', 'kind', 'enabled', 'credentials'];
      return { text: table(headings, rows, 'There are no gateways.'), json: all };
    },
  );

  const setEnabled = (name: string, enabled: boolean, summary: string) =>
    command(
      around,
      {
        usage: `${name} <gateway>`,
        summary,
        examples: [`gateways ${name} zarinpal --reason "maintenance at the provider"`],
        options: [reason()],
      },
      async ({ args: [slug = ''], options, operations }) => {
        await operations.gateways.setEnabled(slug, enabled, textOf(options['reason']));
        return { text: `${enabled ? 'Enabled' : 'Disabled'}: ${slug}`, json: { slug, enabled } };
      },
    );

  return group(
    {
      name: 'gateways',
      summary: 'accounts at payment providers',
      examples: ['gateways list', 'gateways add --help'],
    },
    [
      addCommand(around),
      updateCommand(around),
      list,
      setEnabled('enable', true, 'take new payments there again'),
      setEnabled('disable', false, 'take no new payments there; those on their way go on'),
    ],
  );
};
