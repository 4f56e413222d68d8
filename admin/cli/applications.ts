import type { Option } from 'commander';
import type { Application, NewApplication } from '../../postgres/applications/applications.ts';
import type { Settings } from '../operations/application-setting.ts';
import { newSettings, type Setting, settings } from '../operations/application-settings.ts';
import { Refusal } from '../operations/change.ts';
import { byLabel } from '../operations/fact.ts';
import { applicationFacts, receiverText, reservedText } from '../operations/facts.ts';
import { hideQuery } from '../operations/webhook-url.ts';
import {
  type CommandGroup,
  type CommandSpec,
  type Options,
  count,
  option,
  reasonOption,
  required,
} from './commands.ts';
import type { Io } from './io.ts';
import { facts, table, type Output } from './output.ts';

const redact = (application: Application): Application => ({
  ...application,
  webhookUrl: application.webhookUrl && hideQuery(application.webhookUrl),
});

const format = (application: Application): Output => {
  const json = redact(application);
  const text = facts({ slug: json.slug, ...byLabel(applicationFacts(application)) });
  return { text, json };
};

/** The option of a setting. @param otherwise what counts without it; undefined: what a new application has */
const optionOf = ({ option: [flags, help], input, ...setting }: Setting, otherwise?: string) => {
  const isNeeded = otherwise === undefined && setting.isRequired;
  const made = isNeeded
    ? required(flags, help)
    : option(flags, help, otherwise ?? setting.show({ ...newSettings, slug: 'the slug' }));
  if (input.kind === 'choice') made.choices(input.choices);
  return input.kind === 'number' ? made.argParser(count(input.max)) : made;
};

/** The options that change a setting, and that remove it. */
const changesOf = (setting: Setting): Option[] => {
  const { option: flags, removal, input } = setting;
  const changed = optionOf(setting, input.kind === 'lines' ? 'as they are' : 'as it is');
  return removal === undefined
    ? [changed]
    : [changed, option(flags[0].replace(/^--(\S+).*/, '--no-$1'), removal)];
};

/** The settings whose option is given. */
const settingsIn = (options: Options): Partial<Settings> => {
  const given = settings.map((setting) => {
    const value = options[optionOf(setting).attributeName()];
    if (value === undefined) return {};
    return setting.read(value === false ? [] : [value].flat().map(String));
  });
  return Object.assign({}, ...given);
};

/** `-` reads the webhook URL: arguments stay in the shell's history and in the list of processes. */
const withUrl = async (options: Options, io: Io): Promise<Options> => {
  if (options['webhookUrl'] !== '-') return options;
  const url = await io.readSecret('Webhook URL (not shown): ', (typed) => typed.trim() !== '');
  if (url === '') throw new Refusal('Standard input has no webhook URL.');
  return { ...options, webhookUrl: url };
};

const createCommand: CommandSpec = {
  usage: 'create <application>',
  summary:
    'create an application with its first webhook secret, which is shown once; issue a token next',
  examples: [
    'applications create shop --gateway sandbox --callback-url https://shop.example/return --webhook-url https://shop.example/webhook',
  ],
  options: [...settings.map((setting) => optionOf(setting)), reasonOption()],
  run: async ({ args: [slug = ''], options, reason, operations, io }) => {
    const given = settingsIn(await withUrl(options, io));
    // Commander wants the options that must be given.
    const application = { slug, webhookUrl: null, ...given } as NewApplication;
    const created = await operations.applications.create(application, reason);
    const { text, json } = format(created.application);
    return {
      text: `${text}\n\nWebhook secret, which cannot be shown again:\n${created.secret}`,
      json: { application: json, webhookSecret: created.secret },
    };
  },
};

const updateCommand: CommandSpec = {
  usage: 'update <application>',
  summary: 'change URLs, gateways or request budget; the next attempt uses a new webhook URL',
  examples: [
    'applications update shop --webhook-url https://shop.example/new-webhook',
    'applications update shop --webhook-url - < webhook-url',
    'applications update shop --no-webhook-url --reason "receiver is gone"',
    'applications update shop --gateway zarinpal-main --fallback-gateway zibal-main payping-main',
    'applications update shop --no-fallback-gateway',
    'applications update shop --requests-per-minute 600',
    'applications update shop --refund-events on --reason "its receiver knows them"',
    'applications update shop --display-name "The Shop" --locale fa',
    'applications update shop --orders-paid-once no --reason "it has two payments for an order on purpose"',
  ],
  options: [...settings.flatMap(changesOf), reasonOption()],
  findConsequences: ({ args: [slug = ''], options, operations }) =>
    operations.consequences.ofSettings(slug, settingsIn(options)),
  run: async ({ args: [slug = ''], options, reason, operations, io }) => {
    const given = settingsIn(await withUrl(options, io));
    if (Object.keys(given).length === 0)
      throw new Refusal('Nothing to change: see applications update --help.');
    return format(await operations.applications.update(slug, given, reason));
  },
};

const statusOf = { enable: 'active', disable: 'disabled' } as const;

const setStatusCommand = (name: keyof typeof statusOf, summary: string): CommandSpec => ({
  usage: `${name} <application>`,
  summary,
  examples: [`applications ${name} shop --reason "requested by its owner"`],
  options: [reasonOption()],
  findConsequences: ({ args: [slug = ''], operations }) =>
    operations.consequences.ofSettings(slug, { status: statusOf[name] }),
  run: async ({ args: [slug = ''], reason, operations }) => {
    const changed = await operations.applications.setStatus(slug, statusOf[name], reason);
    const { text, json } = format(changed);
    const reserved = await operations.refunds.sumReserved(slug, 'application');
    if (reserved.length === 0) return { text, json };
    const next =
      name === 'disable'
        ? `No gateway is told until you enable ${slug}, or let one go on with refunds release. Call them off with refunds cancel --application ${slug}.`
        : 'They go on within some minutes.';
    const withReserved = { ...(json as object), reservedRefunds: reserved };
    return {
      text: `${text}\n\nRefunds that no gateway was told of: ${reservedText(reserved)}. ${next}`,
      json: withReserved,
    };
  },
});

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list all applications',
  examples: ['applications list --json'],
  run: async ({ list, operations }) => {
    const found = await list((max) => operations.applications.list(max));
    const applications = found.map(redact);
    const rows = applications.map((application) => ({
      slug: application.slug,
      status: application.status,
      gateway: application.defaultGateway,
      budget: application.requestsPerMinute,
      'webhook URL': application.webhookUrl,
      created: application.createdAt,
    }));
    return { text: table(rows, 'There are no applications.'), json: applications };
  },
};

const showCommand: CommandSpec = {
  usage: 'show <application>',
  summary: 'show one application',
  examples: ['applications show shop'],
  run: async ({ args: [slug = ''], operations: { applications } }) => {
    const application = redact(await applications.get(slug));
    const [live, test] = [
      await applications.receiver(slug, false),
      await applications.receiver(slug, true),
    ];
    const text = facts({
      slug,
      ...byLabel(applicationFacts(application)),
      'Live receiver': receiverText(live),
      'Test receiver': receiverText(test),
    });
    return { text, json: { ...application, receivers: { live, test } } };
  },
};

export const applicationCommands: CommandGroup = {
  name: 'applications',
  summary: 'manage the systems that use the service',
  examples: ['applications list', 'applications create --help'],
  commands: [
    createCommand,
    listCommand,
    showCommand,
    updateCommand,
    setStatusCommand(
      'disable',
      'reject API calls, and have refunds wait that no gateway was told of; webhooks are still delivered',
    ),
    setStatusCommand('enable', 'accept API calls again, and go on with refunds that waited'),
  ],
};
