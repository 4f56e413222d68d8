import { languages } from '../../contract/languages.ts';
import { linkExpiresIn, linkStatuses } from '../../contract/links/link.ts';
import { formatMoney } from '../../contract/money.ts';
import { dayMs } from '../../contract/time.ts';
import { everyLink, type LinkRecord } from '../../postgres/admin/links.ts';
import { byLabel, pick } from '../operations/fact.ts';
import { linkFacts, linkOverRuleText } from '../operations/links/links.ts';
import { labelOf } from '../operations/labels.ts';
import { confirmAboveCommand } from './approvals.ts';
import {
  type CommandGroup,
  type CommandSpec,
  count,
  givenReason,
  limitOption,
  moneyArgument,
  type Options,
  option,
  reasonOption,
  required,
  requiredReason,
  textOf,
} from './commands.ts';
import { facts, table } from './output.ts';
import { eventRows } from './payments.ts';

const daySeconds = dayMs / 1000;
const anId = 'LNK_01K9Z5W6X7Y8ZABCDEFGHJKMNP';

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list payment links, the newest first',
  examples: ['links list --status open', 'links list --application shop --order A-17 --json'],
  options: [
    option('--application <slug>', 'only of this application', 'of all'),
    option('--order <order>', 'only of this order', 'of all'),
    option('--status <status>', 'only with this status', 'with any').choices([...linkStatuses]),
    option('--to-confirm', 'only those that wait for a second admin'),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const filter = {
      ...everyLink,
      application: textOf(options.application),
      orderId: textOf(options['order']),
      status: linkStatuses.find((status) => status === options.status) ?? null,
      toConfirm: options['toConfirm'] === true || null,
    };
    const found = await list((limit) => operations.links.list(filter, { after: null, limit }));
    const rows = found.map((link) => ({
      link: link.id,
      ...byLabel(
        pick(linkFacts(link, null), 'application', 'order', 'amount', 'status', 'created', 'until'),
      ),
    }));
    return { text: table(rows, 'No link matches.'), json: found };
  },
};

const showCommand: CommandSpec = {
  usage: 'show <link>',
  summary: 'show the address of a link, its payments and its event',
  examples: [`links show ${anId}`],
  run: async ({ args: [id = ''], operations }) => {
    const { link, url, tries, event } = await operations.links.details(id);
    const events = event ? [event] : [];
    const payments = tries.map((payment) => ({
      payment: payment.id,
      status: labelOf('status', payment.status),
      gateway: payment.gateway,
      created: payment.createdAt,
    }));
    const summary = facts({ link: link.id, ...byLabel(linkFacts(link, url)), test: link.test });
    return {
      text: [
        summary,
        table(payments, 'Nobody has begun to pay it.'),
        table(eventRows(events), 'There is no event yet.'),
      ].join('\n\n'),
      json: { ...link, url, payments: tries, events },
    };
  },
};

const createCommand: CommandSpec = {
  usage: 'create <application>',
  summary: 'make a link that whoever has its address can pay, once',
  examples: [
    'links create shop --order A-17 --amount "84.00 EUR" --text "Invoice A-17" --reason "asked by phone"',
  ],
  options: [
    required('--order <order>', 'the order that it pays'),
    required('--amount <money>', 'like "84.00 EUR"').argParser(moneyArgument),
    option('--text <text>', 'for the payer', 'none'),
    option('--language <language>', 'of its page', 'that of the application').choices([
      ...languages,
    ]),
    option('--days <days>', 'until nobody can begin to pay it')
      .argParser(count(linkExpiresIn.max / daySeconds))
      .default(linkExpiresIn.default / daySeconds),
    option('--test', 'for test payments', 'for real ones'),
    requiredReason(),
  ],
  run: async ({ args: [application = ''], options, reason, operations }) => {
    const wanted = {
      application,
      test: options['test'] === true,
      orderId: textOf(options['order']) ?? '',
      ...(options['amount'] as ReturnType<typeof moneyArgument>), // It is required.
      description: textOf(options['text']),
      locale: textOf(options['language']),
      expiresIn: Number(options['days']) * daySeconds,
    };
    const overRule = await operations.links.overRule(wanted);
    const { link, url } = await operations.links.create(wanted, givenReason(reason));
    const text =
      link.toConfirm && overRule
        ? `${link.id} waits: links confirm. ${linkOverRuleText(overRule, link.currency)}`
        : `${link.id} for ${formatMoney(link)}: ${url ?? 'set PUBLIC_BASE_URL to see its address'}`;
    return { text, json: { ...link, url } };
  },
};

/** Names the money of the link in the question. */
const withLink: CommandSpec['prepare'] = async ({ args: [id = ''], operations }) => ({
  link: await operations.links.get(id),
});
const nameOf = ({ link }: Options): string => {
  const { id, orderId, ...money } = link as LinkRecord; // `withLink` has looked it up.
  return `${id}, ${formatMoney(money)} for the order ${orderId}`;
};

const disableCommand: CommandSpec = {
  usage: 'disable <link>',
  summary: 'nobody can begin to pay the link any more; a payment that has begun goes on',
  examples: [`links disable ${anId} --reason "the wrong amount"`],
  options: [requiredReason()],
  prepare: withLink,
  describeChange: (_, options) => `Nobody can begin to pay ${nameOf(options)} any more.`,
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.links.disable(id, givenReason(reason));
    return { text: `${id} is disabled.`, json: { id, status: 'disabled' } };
  },
};

const confirmCommand: CommandSpec = {
  usage: 'confirm <link>',
  summary: 'confirm a link that another admin has asked for',
  examples: [`links confirm ${anId}`],
  options: [reasonOption()],
  prepare: withLink,
  describeChange: (_, options) => `Whoever has the address can pay ${nameOf(options)}.`,
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.links.confirm(id, reason);
    return { text: `${id} is confirmed.`, json: { id } };
  },
};

export const linkCommands: CommandGroup = {
  name: 'links',
  summary: 'make, find and disable payment links',
  examples: ['links list'],
  commands: [
    listCommand,
    showCommand,
    createCommand,
    confirmCommand,
    disableCommand,
    confirmAboveCommand('link', {
      summary:
        'set the sum of links that an admin makes alone in 24 hours; another admin must confirm those above it',
      done: '',
    }),
  ],
};
