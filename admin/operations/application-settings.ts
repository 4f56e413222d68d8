import { type Language, languageOf, languages } from '../../contract/languages.ts';
import { limits } from '../../contract/limits.ts';
import { parseWholeNumber } from '../../contract/whole-number.ts';
import type { Application } from '../../postgres/applications/applications.ts';
import type { AuditFacts } from '../../postgres/audit-log.ts';
import type { Description, Name, Settings } from './application-setting.ts';
import { hideQuery } from './webhook-url.ts';

const yesOrNo = (yes: string, no: string) => ({
  input: { kind: 'choice', choices: [yes, no] } as const,
  write: (value: boolean) => [value ? yes : no],
  read: ([word]: readonly string[]) => word === yes,
});

const eventsOf = (of: string, { on, off }: { on: string; off: string }) => ({
  ...yesOrNo('on', 'off'),
  label: `Events of ${of}s`,
  option: [`--${of}-events <state>`, `events of ${of}s, which its receiver must know`] as const,
  byDefault: false,
  page: {
    path: `${of}-events`,
    title: (slug: string) => `Events of ${of}s for ${slug}`,
    consequence: `On: the receiver gets a webhook when ${on}, and it must know these events. Off: no webhook is sent about ${off} from now on.`,
    remark: ({ webhookUrl }: Application) =>
      webhookUrl === null
        ? ' It has no webhook URL now, so nothing is sent before it has one.'
        : '',
    done: (slug: string, shown: string) => `The events of ${of}s for ${slug} are ${shown}.`,
  },
});

const mostRequests = 1_000_000;
const displayNameMax = 60;

/** Payers take the name for that of the shop, so it may hide or turn nothing; some languages need the joiners U+200C and U+200D. */
const displayNameProblem = (name: string): string | undefined => {
  if ([...name].length > displayNameMax) return `has more than ${displayNameMax} characters`;
  if (/[^\P{C}\u200c\u200d]|[\p{Zl}\p{Zp}]/u.test(name)) return 'has invisible characters';
  return /[\p{L}\p{N}]/u.test(name) ? undefined : 'has no letter';
};

/** The settings of an application, in the order of its facts. Console, command line and audit log have them from here. */
const descriptions: { [Each in Name]: Description<Settings[Each]> } = {
  defaultGateway: {
    label: 'Default gateway',
    field: 'gateway',
    input: { kind: 'gateway' },
    option: ['--gateway <slug>', 'default gateway'],
    write: (slug) => [slug],
    read: ([slug = '']) => slug,
    page: {
      path: 'gateway',
      // All live, or all sandboxes: neither could change alone to the other kind.
      with: 'fallbackGateways',
      title: (slug) => `Change the gateways of ${slug}`,
      consequence:
        'New payments that name no gateway go to the default one, and so does their money. A fallback gateway gets those that the gateways before it do not open. Payments that exist stay as they are. A test token takes sandbox gateways only.',
      isSensitive: true,
      done: (slug, shown) =>
        `The gateways of ${slug} were changed. Its default gateway is ${shown}.`,
    },
  },
  fallbackGateways: {
    label: 'Fallback gateways',
    fieldLabel: 'Fallback gateways, one in a line, in the order of asking; empty: none',
    field: 'fallbacks',
    input: { kind: 'lines', max: 300 },
    option: [
      '--fallback-gateway <slug...>',
      'asked in this order while the gateways before them do not open a payment',
    ],
    removal: 'ask the default gateway alone',
    byDefault: [],
    write: (slugs) => slugs,
    ifEmpty: () => 'none',
    read: (slugs) => [...slugs],
    page: {
      path: 'fallback-gateways',
      title: (slug) => `Change the fallback gateways of ${slug}`,
      consequence:
        'They are asked in this order while the gateways before them do not open a payment, and the money goes to the one that opens it. All gateways of an application are live, or all are sandboxes.',
      isSensitive: true,
      done: (slug) => `The fallback gateways of ${slug} were changed.`,
    },
  },
  allowedGateways: {
    label: 'Other gateways that it may name',
    fieldLabel: 'Other gateways that it may name, one in a line; empty: none',
    field: 'allowed',
    input: { kind: 'lines', max: 3_000 },
    option: [
      '--allowed-gateway <slug...>',
      'gateways that a create may name, beside the default one and the fallbacks',
    ],
    removal: 'let creates name the default gateway and the fallbacks alone',
    byDefault: [],
    write: (slugs) => slugs,
    ifEmpty: () => 'none',
    read: (slugs) => [...slugs],
    page: {
      path: 'allowed-gateways',
      title: (slug) => `Change what gateways ${slug} may name`,
      consequence:
        'A create may name these, beside the default gateway and the fallbacks, and the money goes to the one that it names. The API says of every other gateway that there is none. Payments that exist stay as they are.',
      isSensitive: true,
      done: (slug, shown) => `Other gateways that ${slug} may name: ${shown}.`,
    },
  },
  webhookUrl: {
    label: 'Webhook URL',
    fieldLabel: 'New webhook URL, may be empty',
    field: 'url',
    input: { kind: 'url' },
    option: [
      '--webhook-url <url>',
      'where webhooks are sent, https only; - reads it from a prompt or standard input, as its query may be a key',
    ],
    removal: 'remove the webhook URL',
    byDefault: null,
    write: (url) => (url === null ? [] : [hideQuery(url)]),
    ifEmpty: () => 'none',
    read: ([url]) => url ?? null,
    page: {
      path: 'webhook-url',
      title: (slug) => `Change the webhook URL of ${slug}`,
      consequence:
        'The next attempt of every delivery goes to the new address, also of events that have ended already. With an empty address new events are not sent, and the attempts of those that wait fail.',
      isSensitive: true,
      done: (slug) => `The webhook URL of ${slug} was changed.`,
    },
  },
  callbackUrls: {
    label: 'Callback URLs',
    fieldLabel: 'Callback URLs, one in a line; the first is the default',
    field: 'callbacks',
    // A URL may be long, and an application may have several.
    input: { kind: 'lines', max: 4_000 },
    option: ['--callback-url <url...>', 'where payers return to; the first one is the default'],
    write: (urls) => urls,
    read: (urls) => [...urls],
    check: ({ length }) =>
      length === 0 ? 'An application needs at least one callback URL.' : undefined,
    page: {
      path: 'callback-urls',
      title: (slug) => `Change the callback URLs of ${slug}`,
      consequence:
        'New payments may name only these, and take the first one if they name none. Payers of open payments still return to the address that their payment has.',
      isSensitive: true,
      done: (slug) => `The callback URLs of ${slug} were changed.`,
    },
  },
  requestsPerMinute: {
    label: 'Requests a minute',
    fieldLabel: 'Calls a minute',
    field: 'budget',
    input: { kind: 'number', max: mostRequests },
    option: ['--requests-per-minute <count>', 'request budget'],
    byDefault: limits.applicationRequestsPerMinute,
    write: (budget) => [String(budget)],
    read: ([word = '']) => parseWholeNumber(word, { min: 1, max: mostRequests }) ?? Number.NaN,
    check: (budget) =>
      budget >= 1 && budget <= mostRequests
        ? undefined
        : 'The budget is a whole number of requests a minute, from 1 to 1,000,000.',
    page: {
      path: 'budget',
      title: (slug) => `Change the budget of ${slug}`,
      consequence: 'The API answers 429 above this number of calls a minute.',
      done: (slug, shown) => `The budget of ${slug} is ${shown} calls a minute.`,
    },
  },
  refundEvents: {
    field: 'events',
    ...eventsOf('refund', {
      on: 'an admin asks for a refund, and when a refund succeeds or fails',
      off: 'refunds that end',
    }),
  },
  disputeEvents: {
    field: 'disputes',
    ...eventsOf('dispute', {
      on: 'a dispute opens, changes or closes',
      off: 'disputes that change',
    }),
  },
  ordersPaidOnce: {
    label: 'One paid payment for an order',
    field: 'once',
    ...yesOrNo('yes', 'no'),
    option: [
      '--orders-paid-once <choice>',
      'of the payments of an order at most one is paid and not given back',
    ],
    // A shop that wants two payments for an order says so. For all others the second one is a mistake.
    byDefault: true,
    page: {
      path: 'orders',
      title: (slug) => `One paid payment for an order of ${slug}`,
      consequence:
        'Yes: of the payments with one order id at most one is paid and not given back in full, also of those that are open now. Money of a second one goes back to its payer. No: each payment is paid on its own, and two paid ones of live gateways are an alert. Payments through a sandbox with a live token take no part.',
      done: (slug, shown) => `Orders of ${slug}: paid once is ${shown}.`,
    },
  },
  displayName: {
    label: 'Name for payers',
    fieldLabel: 'Name for payers; empty: that of the application',
    field: 'name',
    input: { kind: 'text', max: 120 },
    option: ['--display-name <name>', 'the name that payers see, instead of the slug'],
    removal: 'show payers the slug',
    byDefault: null,
    write: (name) => (name === null ? [] : [name]),
    ifEmpty: ({ slug }) => slug,
    read: ([name]) => name?.trim() ?? null,
    check(name) {
      const problem = name === null ? undefined : displayNameProblem(name);
      return problem && `The name that payers see ${problem}.`;
    },
    page: {
      path: 'payers',
      with: 'locale',
      title: (slug) => `What payers of ${slug} see`,
      consequence:
        'The pages of payers say whom they pay, at once; an empty name shows the slug. A gateway whose page can show a name gets that of new payments. A page is in the language that the browser asks for, and otherwise in this one.',
      done: (slug, shown) => `Payers of ${slug} see ${shown}.`,
    },
  },
  locale: {
    label: 'Language for payers',
    field: 'locale',
    input: { kind: 'choice', choices: languages },
    option: [
      '--locale <language>',
      "language of payers' pages for browsers that ask for none of theirs",
    ],
    byDefault: null,
    write: (locale) => [locale ?? 'en'],
    read: ([word]) => (word ?? null) as Language | null, // Checked below.
    check: (locale) =>
      locale === null || languageOf(locale) === locale
        ? undefined
        : `The language is one of ${languages.join(', ')}.`,
  },
};

const names = Object.keys(descriptions) as Name[]; // Object.keys widens to string.

/** A setting without the type of its value, for code that treats all alike. */
const settingOf = <Of extends Name>(name: Of) => {
  const description: Description<Settings[Of]> = descriptions[name];
  const { byDefault, write, ifEmpty, read, check, page, ...words } = description;
  const others = names.map((each) => descriptions[each].page);
  const written = (of: Partial<Settings>): readonly string[] => {
    const value: Settings[Of] | undefined = of[name];
    return value === undefined ? [] : write(value);
  };
  return {
    fieldLabel: words.label,
    ...words,
    name,
    /** A new application must name it. */
    isRequired: byDefault === undefined,
    /** The path of the page that changes it, below that of the application. */
    path: (page ?? others.find((other) => other?.with === name))?.path ?? '',
    write: written,
    /** The value as facts have it. */
    show: (of: Partial<Settings> & Pick<Application, 'slug'>): string =>
      written(of).join(', ') || (ifEmpty?.(of) ?? ''),
    read: (typed: readonly string[]): Partial<Settings> => ({ [name]: read(typed) }),
    check(of: Partial<Settings>): string | undefined {
      const value: Settings[Of] | undefined = of[name];
      return value === undefined ? undefined : check?.(value);
    },
  };
};
export type Setting = ReturnType<typeof settingOf>;

export const settings: readonly Setting[] = names.map(settingOf);

/** The settings of a new application that it need not name. */
export const newSettings = Object.fromEntries(
  names.map((name) => [name, descriptions[name].byDefault]),
) as Partial<Settings>; // Object.fromEntries forgets the names.

/** As the audit log has them: under the names of the columns, without the key that a webhook URL may hold. */
export const auditedSettings = (of: Settings): AuditFacts =>
  Object.fromEntries(
    names.map((name) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === 'webhookUrl' ? of.webhookUrl && hideQuery(of.webhookUrl) : of[name],
    ]),
  );

/** Why no application can have these settings. */
export const problemOfSettings = (of: Partial<Settings>): string | undefined =>
  settings.map(({ check }) => check(of)).find((problem) => problem !== undefined);

/** The pages of the console that change settings, each with those that it changes. */
export const settingsPages = names.flatMap((name) => {
  const { page } = descriptions[name];
  const isChanged = (setting: Setting) => [name, page?.with].includes(setting.name);
  return page === undefined ? [] : [{ ...page, settings: settings.filter(isChanged) }];
});
