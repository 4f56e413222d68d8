import type { Command } from 'commander';
import type { Application } from '../../postgres/applications.ts';
import { Refusal } from '../change.ts';
import { hideQuery } from '../webhook-url.ts';
import type { CliContext } from './commands.ts';
import { command, count, group, listMax, listUpTo, option, reason, textOf } from './commands.ts';
import type { Io } from './io.ts';
import { facts, table, type Output } from './output.ts';

const toShow = (application: Application): Application => ({
  ...application,
  webhookUrl: application.webhookUrl && hideQuery(application.webhookUrl),
});

const shown = (whole: Application): Output => {
  const application = toShow(whole);
  const text = facts({
    slug: application.slug,
    status: application.status,
    'default gateway': application.defaultGateway,
    'callback URLs': application.callbackUrls,
    'webhook URL': application.webhookUrl,
    'requests a minute': application.requestsPerMinute,
    created: application.createdAt,
  });
  return { text, json: application };
};

const callbackUrls = () =>
  option('--callback-url <url...>', 'where payers come back to; the first one is the default');
const webhookUrl = () =>
  option(
    '--webhook-url <url>',
    'where its events are sent, over https; - reads it from a prompt or standard input, as its query may be a key',
  );

/** Null where none is given. An argument stays in the shell's history and in the list of processes. */
const readWebhookUrl = async (given: unknown, io: Io): Promise<string | null> => {
  if (given !== '-') return textOf(given);
  const read = await io.readSecret('Webhook URL (not shown): ', (typed) => typed.trim() !== '');
  if (read === '') throw new Refusal('No webhook URL came from standard input.');
  return read;
};

const urlsOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined;

const createCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'create <application>',
      summary:
        'make an application with its first webhook secret, shown once; then issue it a token',
      examples: [
        'applications create shop --gateway sandbox --callback-url https://shop.example/return --webhook-url https://shop.example/webhook',
      ],
      options: [
        option('--gateway <slug>', 'its default gateway').makeOptionMandatory(),
        callbackUrls().makeOptionMandatory(),
        webhookUrl(),
        reason(),
      ],
    },
    async ({ args: [slug = ''], options, operations, io }) => {
      const application = {
        slug,
        defaultGateway: String(options['gateway']),
        callbackUrls: urlsOf(options['callbackUrl']) ?? [],
        webhookUrl: await readWebhookUrl(options['webhookUrl'], io),
      };
      const made = await operations.applications.create(application, textOf(options['reason']));
      const { text, json } = shown(made.application);
      return {
        text: `${text}\n\nWebhook secret, shown now and never again:\n${made.secret}`,
        json: { application: json, webhookSecret: made.secret },
      };
    },
  );

const updateCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'update <application>',
      summary:
        'change URLs, default gateway or budget; a new webhook URL holds at the next attempt',
      examples: [
        'applications update shop --webhook-url https://shop.example/new-webhook',
        'applications update shop --webhook-url - < webhook-url',
        'applications update shop --no-webhook-url --reason "receiver is gone"',
        'applications update shop --requests-per-minute 600',
      ],
      options: [
        callbackUrls(),
        webhookUrl(),
        option('--no-webhook-url', 'remove the webhook URL'),
        option('--gateway <slug>', 'its default gateway'),
        option('--requests-per-minute <count>', 'its request budget').argParser(count(1_000_000)),
        reason(),
      ],
    },
    async ({ args: [slug = ''], options, operations, io }) => {
      const urls = urlsOf(options['callbackUrl']);
      const { gateway, requestsPerMinute } = options;
      const url = await readWebhookUrl(options['webhookUrl'], io);
      const settings = {
        ...(urls && { callbackUrls: urls }),
        ...(options['webhookUrl'] === false && { webhookUrl: null }),
        ...(url !== null && { webhookUrl: url }),
        ...(typeof gateway === 'string' && { defaultGateway: gateway }),
        ...(typeof requestsPerMinute === 'number' && { requestsPerMinute }),
      };
      if (Object.keys(settings).length === 0)
        throw new Refusal('Say what to change: see applications update --help.');
      return shown(await operations.applications.update(slug, settings, textOf(options['reason'])));
    },
  );

export const applicationCommands = (around: CliContext): Command => {
  const setStatus = (name: string, status: Application['status'], summary: string) =>
    command(
      around,
      {
        usage: `${name} <application>`,
        summary,
        examples: [`applications ${name} shop --reason "asked by its owner"`],
        options: [reason()],
      },
      async ({ args: [slug = ''], options, operations }) =>
        shown(await operations.applications.setStatus(slug, status, textOf(options['reason']))),
    );

  const list = command(
    around,
    { usage: 'list', summary: 'all applications', examples: ['applications list --json'] },
    async ({ operations, io }) => {
      const all = (await listUpTo(listMax, io, (most) => operations.applications.list(most))).map(
        toShow,
      );
      const rows = all.map((one) => [
        ...[one.slug, one.status, one.defaultGateway, one.requestsPerMinute],
        ...[one.webhookUrl, one.createdAt],
      ]);
      const headings = ['slug', 'status', 'gateway', 'budget', 'webhook URL', 'created'];
      return { text: table(headings, rows, 'There are no applications.'), json: all };
    },
  );

  const show = command(
    around,
    {
      usage: 'show <application>',
      summary: 'one application',
      examples: ['applications show shop'],
    },
    async ({ args: [slug = ''], operations }) => shown(await operations.applications.get(slug)),
  );

  return group(
    {
      name: 'applications',
      summary: 'the systems that use the service',
      examples: ['applications list', 'applications create --help'],
    },
    [
      createCommand(around),
      list,
      show,
      updateCommand(around),
      setStatus('disable', 'disabled', 'refuse its API calls; outcomes are still delivered'),
      setStatus('enable', 'active', 'accept its API calls again'),
    ],
  );
};
