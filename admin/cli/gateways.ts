import { InvalidArgumentError } from 'commander';
import { parsePercent } from '../../contract/basis-points.ts';
import { gatewayKinds } from '../../contract/gateway-account.ts';
import { isoTime } from '../../contract/time.ts';
import {
  type CommandSpec,
  type CommandGroup,
  count,
  option,
  reasonOption,
  required,
  textOf,
} from './commands.ts';
import type { Io } from './io.ts';
import { feeText, opensNothingText, reportedFeesText } from '../operations/facts.ts';
import { reportsFees } from '../operations/gateways.ts';
import { table } from './output.ts';

/** The built-in driver, which needs no credentials. */
const sandboxDriver = 'sandbox';

/** Reads JSON of several lines: the consoles of providers format it that way. */
const readCredentials = (io: Io): Promise<string> =>
  io.readSecret('Credentials, a JSON object (not shown; end with Ctrl-D): ', isJson);

/** @returns hundredths of a percent */
const percentOf = (text: string): number => {
  const value = parsePercent(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 100 with at most two decimals.');
};

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
    required('--driver <name>', 'the provider'),
    option(
      '--kind <kind>',
      'live, or sandbox for the test environment of the provider, the only kind for test tokens',
      'none, which the driver sandbox alone takes',
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

const accountCommand: CommandSpec = {
  usage: 'account <gateway>',
  summary:
    'set the time zone of its days, the fee that was agreed, and whether reported fees are booked',
  examples: [
    'gateways account zarinpal --time-zone Asia/Tehran --reason "days as in their reports"',
    'gateways account stripe --fee-percent 1.4 --fee-fixed-minor-units 25',
    'gateways account zarinpal --fees told --reason "compared with their settlement of May"',
  ],
  options: [
    option('--time-zone <name>', 'a name of the IANA database, as Asia/Tehran', 'as it is'),
    option(
      '--fee-percent <percent>',
      'of each payment, with at most two decimals',
      'as it is',
    ).argParser(percentOf),
    option(
      '--fee-fixed-minor-units <number>',
      'for each payment, in minor units of its currency',
      'as it is',
    ).argParser(count(1_000_000)),
    option(
      '--fees <choice>',
      'told: book the fees that it reports with its payments; off: book none',
      'as it is',
    ).choices(['told', 'off']),
    reasonOption(),
  ],
  findMisuse: ({ timeZone, feePercent, feeFixedMinorUnits, fees }) =>
    [timeZone, feePercent, feeFixedMinorUnits, fees].every((each) => each === undefined)
      ? 'say what to set: --time-zone, --fee-percent, --fee-fixed-minor-units, --fees'
      : null,
  run: async ({ args: [slug = ''], options, reason, operations }) => {
    const timeZone = textOf(options['timeZone']);
    const { feePercent, feeFixedMinorUnits: feeFixed, fees } = options;
    const terms = {
      ...(timeZone !== null && { timeZone }),
      ...(feePercent !== undefined && { feeBasisPoints: Number(feePercent) }),
      ...(feeFixed !== undefined && { feeFixed: Number(feeFixed) }),
      ...(fees !== undefined && { feesReported: fees === 'told' }),
    };
    await operations.gateways.setAccount(slug, terms, reason);
    const advice =
      timeZone === null
        ? ''
        : '\nIts days have other hours now: compare the last closed one again (accounts compare).';
    return { text: `Set: ${slug}${advice}`, json: { slug, ...terms } };
  },
};

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list all gateways',
  examples: ['gateways list'],
  run: async ({ operations }) => {
    const [listed, opensNothing] = await Promise.all([
      operations.gateways.list(),
      operations.gateways.opensNothing(null),
    ]);
    const gateways = listed.map((gateway) => ({
      ...gateway,
      opensNothing: opensNothing.get(gateway.slug) ?? null,
    }));
    const rows = gateways.map((gateway) => ({
      slug: gateway.slug,
      driver: gateway.driver,
      kind: gateway.kind,
      enabled: gateway.enabled,
      credentials: gateway.hasCredentials,
      'time zone': gateway.timeZone,
      fee: feeText(gateway),
      'reported fees': reportedFeesText(gateway, reportsFees(gateway)),
      openings: gateway.opensNothing && opensNothingText(gateway.opensNothing, isoTime),
    }));
    return { text: table(rows, 'There are no gateways.'), json: gateways };
  },
};

const setEnabledCommand = (name: 'enable' | 'disable', summary: string): CommandSpec => ({
  usage: `${name} <gateway>`,
  summary,
  examples: [`gateways ${name} zarinpal --reason "maintenance at the provider"`],
  options: [reasonOption()],
  findConsequences: async ({ args: [slug = ''], operations }) =>
    name === 'enable' ? null : operations.consequences.ofDisabling(slug),
  run: async ({ args: [slug = ''], reason, operations }) => {
    const enabled = name === 'enable';
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
    accountCommand,
    setEnabledCommand('enable', 'accept new payments again'),
    setEnabledCommand('disable', 'reject new payments; open payments continue'),
  ],
};
