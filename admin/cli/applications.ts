import { languageOf, languages } from '../../contract/languages.ts';
import { limits } from '../../contract/limits.ts';
import type { Application } from '../../postgres/applications.ts';
import { Refusal } from '../operations/change.ts';
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
  textOf,
} from './commands.ts';
import type { Io } from './io.ts';
import { facts, table, type Output } from './output.ts';

const redact = (application: Application): Application => ({
  ...application,
  webhookUrl: application.webhookUrl && hideQuery(application.webhookUrl),
});

const format = (application: Application): Output => {
  const json = redact(application);
  const text = facts({ slug: json.slug, ...applicationFacts(application) });
  return { text, json };
};

const callbackUrl = [
  '--callback-url <url...>',
  'where payers return to; the first one is the default',
] as const;
const webhookUrlOption = (otherwise: string) =>
  option(
    '--webhook-url <url>',
    'where webhooks are sent, https only; - reads it from a prompt or standard input, as its query may be a key',
    otherwise,
  );

/**
 * Null if the option is missing. `-` reads the URL: arguments stay in the shell's history and in the list of
 * processes.
 */
const readWebhookUrl = async (given: unknown, io: Io): Promise<string | null> => {
  if (given !== '-') return textOf(given);
  const url = await io.readSecret('Webhook URL (not shown): ', (typed) => typed.trim() !== '');
  if (url === '') throw new Refusal('Standard input has no webhook URL.');
  return url;
};

const toTexts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined;

const fallbackGateway = (otherwise: string) =>
  option(
    '--fallback-gateway <slug...>',
    'asked in this order while the gateways before them do not open a payment',
    otherwise,
  );

const ordersPaidOnce = (byDefault: string) =>
  option(
    '--orders-paid-once <choice>',
    'of the payments of an order at most one is paid and not given back',
    byDefault,
  ).choices(['yes', 'no']);

/** The settings that a create and an update share. */
const settingOptions = (otherwise: {
  budget: string;
  events: string;
  orders: string;
  name: string;
  locale: string;
}) => [
  option('--requests-per-minute <count>', 'request budget', otherwise.budget).argParser(
    count(1_000_000),
  ),
  option(
    '--refund-events <state>',
    'events of refunds, which its receiver must know',
    otherwise.events,
  ).choices(['on', 'off']),
  option(
    '--dispute-events <state>',
    'events of disputes, which its receiver must know',
    otherwise.events,
  ).choices(['on', 'off']),
  ordersPaidOnce(otherwise.orders),
  option('--display-name <name>', 'the name that payers see, instead of the slug', otherwise.name),
  option(
    '--locale <language>',
    "language of payers' pages for browsers that ask for none of theirs",
    otherwise.locale,
  ).choices(languages),
];

/** The settings whose option is given. */
const settingsIn = (options: Options) => {
  const { requestsPerMinute, refundEvents, disputeEvents, displayName, locale } = options;
  const { ordersPaidOnce: once } = options;
  const fallbackGateways = toTexts(options['fallbackGateway']);
  return {
    ...(fallbackGateways && { fallbackGateways }),
    ...(typeof requestsPerMinute === 'number' && { requestsPerMinute }),
    ...(refundEvents !== undefined && { refundEvents: refundEvents === 'on' }),
    ...(disputeEvents !== undefined && { disputeEvents: disputeEvents === 'on' }),
    ...(once !== undefined && { ordersPaidOnce: once === 'yes' }),
    ...(typeof displayName === 'string' && { displayName: displayName.trim() }),
    ...(typeof locale === 'string' && { locale: languageOf(locale) ?? null }),
  };
};

/** The settings that an update changes, besides the webhook URL, which may come from a prompt. */
const changedSettings = (options: Options) => {
  const callbackUrls = toTexts(options['callbackUrl']);
  const { gateway, displayName } = options;
  return {
    ...(callbackUrls && { callbackUrls }),
    ...(typeof gateway === 'string' && { defaultGateway: gateway }),
    ...(options['fallbackGateway'] === false && { fallbackGateways: [] }),
    ...settingsIn(options),
    ...(displayName === false && { displayName: null }),
  };
};

const createCommand: CommandSpec = {
  usage: 'create <application>',
  summary:
    'create an application with its first webhook secret, which is shown once; issue a token next',
  examples: [
    'applications create shop --gateway sandbox --callback-url https://shop.example/return --webhook-url https://shop.example/webhook',
  ],
  options: [
    required('--gateway <slug>', 'default gateway'),
    fallbackGateway('none'),
    required(...callbackUrl),
    webhookUrlOption('none'),
    ...settingOptions({
      budget: String(limits.applicationRequestsPerMinute),
      events: 'off',
      orders: 'yes',
      name: 'the slug',
      locale: 'en',
    }),
    reasonOption(),
  ],
  run: async ({ args: [slug = ''], options, reason, operations, io }) => {
    const application = {
      slug,
      defaultGateway: String(options.gateway),
      callbackUrls: toTexts(options.callbackUrl) ?? [],
      webhookUrl: await readWebhookUrl(options.webhookUrl, io),
      ...settingsIn(options),
    };
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
  options: [
    option(...callbackUrl, 'as it is'),
    webhookUrlOption('as it is'),
    option('--no-webhook-url', 'remove the webhook URL'),
    option('--gateway <slug>', 'default gateway', 'as it is'),
    fallbackGateway('as they are'),
    option('--no-fallback-gateway', 'ask the default gateway alone'),
    ...settingOptions({
      budget: 'as it is',
      events: 'as it is',
      orders: 'as it is',
      name: 'as it is',
      locale: 'as it is',
    }),
    option('--no-display-name', 'show payers the slug'),
    reasonOption(),
  ],
  findConsequences: ({ args: [slug = ''], options, operations }) =>
    operations.consequences.ofSettings(slug, changedSettings(options)),
  run: async ({ args: [slug = ''], options, reason, operations, io }) => {
    const webhookUrl = await readWebhookUrl(options.webhookUrl, io);
    const settings = {
      ...changedSettings(options),
      ...(options.webhookUrl === false && { webhookUrl: null }),
      ...(webhookUrl !== null && { webhookUrl }),
    };
    if (Object.keys(settings).length === 0)
      throw new Refusal('Nothing to change: see applications update --help.');
    return format(await operations.applications.update(slug, settings, reason));
  },
};

const setStatusCommand = ({
  name,
  status,
  summary,
}: {
  name: string;
  status: Application['status'];
  summary: string;
}): CommandSpec => ({
  usage: `${name} <application>`,
  summary,
  examples: [`applications ${name} shop --reason "requested by its owner"`],
  options: [reasonOption()],
  findConsequences: ({ args: [slug = ''], operations }) =>
    operations.consequences.ofSettings(slug, { status }),
  run: async ({ args: [slug = ''], reason, operations }) => {
    const { text, json } = format(await operations.applications.setStatus(slug, status, reason));
    const reserved = await operations.refunds.sumReserved(slug, 'application');
    if (reserved.length === 0) return { text, json };
    const next =
      status === 'disabled'
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
      ...applicationFacts(application),
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
    setStatusCommand({
      name: 'disable',
      status: 'disabled',
      summary:
        'reject API calls, and have refunds wait that no gateway was told of; webhooks are still delivered',
    }),
    setStatusCommand({
      name: 'enable',
      status: 'active',
      summary: 'accept API calls again, and go on with refunds that waited',
    }),
  ],
};
