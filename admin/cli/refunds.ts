import { formatMoney } from '../../contract/money.ts';
import { amountLeft } from '../../contract/payment-fields.ts';
import { refundStatuses } from '../../contract/refund.ts';
import { knownCurrency } from '../operations/approvals.ts';
import { Refusal } from '../operations/change.ts';
import { byLabel } from '../operations/fact.ts';
import { overRuleText, refundDetailFacts, refundFacts, reservedText } from '../operations/facts.ts';
import type { RefundRecord } from '../../postgres/admin/refunds.ts';
import { everyRefund } from '../../postgres/refunds/filter.ts';
import { confirmAboveCommand } from './approvals.ts';
import {
  amountIn,
  amountOptions,
  findForeignAmount,
  Misuse,
  required,
  requiredReason,
  type CommandGroup,
  type CommandSpec,
  limitOption,
  option,
  reasonOption,
  textOf,
  givenReason,
} from './commands.ts';
import { facts, table } from './output.ts';
import { eventRows, timelineRows } from './payments.ts';

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list refunds, the newest first',
  examples: [
    'refunds list --by-hand',
    'refunds list --payment PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --json',
  ],
  options: [
    option('--application <slug>', 'only of this application', 'of all'),
    option('--payment <payment>', 'only of this payment', 'of all'),
    option('--status <status>', 'only with this status', 'with any').choices([...refundStatuses]),
    option('--by-hand', 'only those that wait for a decision'),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const filter = {
      ...everyRefund,
      application: textOf(options.application),
      paymentId: textOf(options['payment']),
      status: refundStatuses.find((status) => status === options.status) ?? null,
      stage: options['byHand'] === true ? ('by_hand' as const) : null,
    };
    const found = await list((limit) => operations.refunds.list(filter, { after: null, limit }));
    const rows = found.map((refund) => byLabel(refundFacts(refund)));
    return { text: table(rows, 'No refund matches.'), json: found };
  },
};

const showCommand: CommandSpec = {
  usage: 'show <refund>',
  summary: 'show who asked for a refund, what the gateway was told and said, and its events',
  examples: ['refunds show REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV'],
  run: async ({ args: [id = ''], operations }) => {
    const details = await operations.refunds.details(id, { withAudit: true });
    const { refund, timeline, events, workflowUrl } = details;
    const summary = facts({
      ...byLabel(refundDetailFacts(details)),
      test: refund.test,
      workflow: workflowUrl,
    });
    return {
      text: `${summary}\n\n${table(eventRows(events), 'There is no event yet.')}\n\n${table(timelineRows(timeline), '')}`,
      json: { ...refund, timeline, events, workflowUrl },
    };
  },
};

const createCommand: CommandSpec = {
  usage: 'create <payment>',
  summary: 'give money of a paid payment back; above a set amount another admin must confirm it',
  examples: [
    'refunds create PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --amount "6.00 EUR" --reason "the seat is taken"',
    'refunds create PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --recorded --reason "paid back in cash"',
  ],
  options: [
    ...amountOptions('how much goes back', 'everything that is left'),
    option('--recorded', 'it was given back already, outside of the gateway, which is not told'),
    requiredReason(),
  ],
  prepare: async ({ args: [id = ''], options, operations }) => {
    const { payment } = await operations.payments.get(id);
    const { currency, status } = payment;
    const misuse = findForeignAmount(options, currency, id);
    if (misuse !== null) throw new Misuse(misuse);
    const left = amountLeft(payment);
    if (left === 0)
      throw new Refusal(
        status === 'paid' ? `Nothing is left of ${id} to give back.` : `${id} is ${status}.`,
      );
    const amount = amountIn(options);
    const recorded = options['recorded'] === true;
    // No question about money that the gateway does not give back.
    const problem = await operations.refunds.findProblem(id, { amount: amount ?? left, recorded });
    if (problem !== null) throw new Refusal(`${id}: ${problem}`);
    const money = formatMoney({ amount: amount ?? left, currency });
    const overRule = await operations.refunds.overRule(id, amount ?? left);
    return {
      waits: overRule ? `${overRuleText(overRule, { currency, asker: null })} Then ` : '',
      wanted: amount ?? left,
      money: amount === null ? `${money}, everything that is left of ${id},` : `${money} of ${id}`,
    };
  },
  describeChange: (_, { money, recorded, waits }) =>
    `${String(waits)}${String(money)} ${recorded ? 'is recorded as given back' : 'goes back to the payer'}.`,
  run: async ({ args: [id = ''], options, reason, operations }) => {
    const amount = Number(options['wanted']);
    const recorded = options['recorded'] === true;
    const wanted = { amount, recorded, reason: givenReason(reason) };
    const { refund, toConfirm, overRule } = await operations.refunds.create(id, wanted);
    const { currency } = refund;
    const done = recorded ? 'is recorded' : `gives ${formatMoney(refund)} back`;
    const text = overRule
      ? `${refund.id} waits: refunds confirm. ${overRuleText(overRule, { currency, asker: null })}`
      : `${refund.id} ${done}.`;
    return { text, json: { ...refund, toConfirm, overRule } };
  },
};

/** Names the money of the refund in the question. */
const withRefund: CommandSpec['prepare'] = async ({ args: [id = ''], operations }) => ({
  refund: await operations.refunds.get(id),
});
const moneyOf = ({ refund }: Readonly<Record<string, unknown>>): string => {
  // `withRefund` has looked it up.
  const { amount, currency, id, paymentId } = refund as RefundRecord;
  return `${formatMoney({ amount, currency })} of ${paymentId} (${id})`;
};

const whyOf = (options: Readonly<Record<string, unknown>>): string => {
  const { overRule, currency, askedBy } = options['refund'] as RefundRecord; // As above.
  return overRule ? overRuleText(overRule, { currency, asker: askedBy ?? '' }) : '';
};

const isRecorded = ({ refund }: Readonly<Record<string, unknown>>): boolean =>
  (refund as RefundRecord).method === 'recorded'; // As above.

const confirmCommand: CommandSpec = {
  usage: 'confirm <refund>',
  summary: 'confirm a refund that another admin has asked for',
  examples: ['refunds confirm REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV'],
  options: [reasonOption()],
  prepare: withRefund,
  describeChange: (_, options) =>
    `${moneyOf(options)} ${isRecorded(options) ? 'is recorded as given back' : 'goes back to the payer'}. ${whyOf(options)}`,
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.refunds.confirm(id, reason);
    return { text: `${id} is confirmed.`, json: { id } };
  },
};

const cancelCommand: CommandSpec = {
  usage: 'cancel [refund]',
  summary: 'call a refund off that no gateway was told of, or all of those of an application',
  examples: [
    'refunds cancel REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV --reason "the token has leaked"',
    'refunds cancel --application shop --reason "the token has leaked"',
  ],
  options: [
    option(
      '--application <slug>',
      'every one of this application, in both modes',
      'the one that is named',
    ),
    requiredReason(),
  ],
  findMisuse: ({ application }, [id]) =>
    (id === undefined) === (textOf(application) === null)
      ? 'Name one refund, or an --application.'
      : null,
  // One can be asked for again.
  describeChange: (_, { application }) =>
    typeof application === 'string'
      ? `Every refund of ${application} that no gateway was told of ends as failed.`
      : null,
  run: async ({ args: [id], options, reason: given, operations }) => {
    const application = textOf(options.application);
    const reason = givenReason(given);
    if (id !== undefined) {
      const when = await operations.refunds.cancel(id, reason);
      return { text: endedText(id, when), json: { id, when } };
    }
    const cancelled = await operations.refunds.cancelOf(application ?? '', reason);
    const text =
      cancelled.length === 0
        ? `${application} has no refund that no gateway was told of.`
        : `${reservedText(cancelled)} of ${application} called off. No gateway is told, and they end within some minutes.`;
    return { text, json: { application, cancelled } };
  },
};

const releaseCommand: CommandSpec = {
  usage: 'release <refund>',
  summary: 'let a refund go on although its application is disabled',
  examples: ['refunds release REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV --reason "the payer has called"'],
  options: [requiredReason()],
  prepare: withRefund,
  describeChange: (_, options) => `${moneyOf(options)} goes back to the payer.`,
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.refunds.release(id, givenReason(reason));
    return { text: `${id} goes on.`, json: { id } };
  },
};

const endedText = (id: string, when: 'now' | 'later'): string =>
  when === 'now' ? `${id} has ended.` : `${id} ends as soon as Temporal and a worker are there.`;

const refuseCommand: CommandSpec = {
  usage: 'refuse <refund>',
  summary: 'refuse a refund that waits for a second admin',
  examples: ['refunds refuse REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV --reason "the wrong payment"'],
  options: [requiredReason()],
  run: async ({ args: [id = ''], reason, operations }) => {
    const when = await operations.refunds.refuse(id, givenReason(reason));
    return { text: endedText(id, when), json: { id, when } };
  },
};

const limitCommand: CommandSpec = {
  usage: 'limit <application> <currency>',
  summary:
    'set what an application may refund in a day of UTC, nothing in currencies without a limit; without an amount this limit goes',
  examples: ['refunds limit shop EUR --amount "1000.00 EUR" --reason "agreed with its owner"'],
  options: [...amountOptions('the limit', 'no limit'), requiredReason()],
  findMisuse: (options, [, currency = '']) => findForeignAmount(options, currency, 'The limit'),
  findConsequences: ({ args: [application = '', currency = ''], options, operations }) =>
    operations.consequences.ofRefundLimit({
      application,
      currency: knownCurrency(currency),
      amount: amountIn(options),
    }),
  run: async ({ args: [slug = '', currency = ''], options, reason, operations }) => {
    const perDay = amountIn(options);
    const limit = { currency: knownCurrency(currency), perDay, reason: givenReason(reason) };
    const limits = await operations.refunds.setLimit(slug, limit);
    const each = limits.map((of) => `${formatMoney({ ...of, amount: of.perDay })} a day`);
    const text =
      each.length === 0
        ? `${slug} refunds without a limit, in every currency.`
        : `${slug} refunds up to ${each.join(' and ')}, in each mode. In other currencies it refunds nothing until they have a limit.`;
    return { text, json: { application: slug, currency, perDay, limits } };
  },
};

const settleCommand: CommandSpec = {
  usage: 'settle <refund>',
  summary: "end a refund that waits for a decision, as the gateway's own books say",
  examples: [
    'refunds settle REFUND_4T9GZ7Q2W8YB6K1MXR5C0NHJDV --outcome succeeded --reason "seen in the panel, 31 May"',
  ],
  options: [
    required('--outcome <outcome>', 'what became of it at the gateway').choices([
      'succeeded',
      'failed',
    ]),
    requiredReason(),
  ],
  prepare: withRefund,
  describeChange: (_, options) =>
    `The refund of ${moneyOf(options)} ends as ${String(options['outcome'])}.${
      options['outcome'] === 'failed'
        ? ' Its amount is no longer reserved, and the money could go back twice if the gateway has given it back.'
        : ''
    }`,
  run: async ({ args: [id = ''], options, reason, operations }) => {
    const as = options['outcome'] === 'succeeded' ? 'succeeded' : 'failed';
    const when = await operations.refunds.settle(id, as, givenReason(reason));
    return { text: endedText(id, when), json: { id, as, when } };
  },
};

export const refundCommands: CommandGroup = {
  name: 'refunds',
  summary: 'give money back, find refunds, and settle those that only a person can know about',
  examples: ['refunds list', 'refunds settle --help'],
  commands: [
    listCommand,
    showCommand,
    createCommand,
    confirmCommand,
    refuseCommand,
    cancelCommand,
    releaseCommand,
    settleCommand,
    limitCommand,
    confirmAboveCommand('refund', {
      summary:
        'set the amount above which another admin must confirm refunds of an admin, and every token with the scope refund',
      done: 'Tokens with the scope refund that exist stay as they are: see tokens list.',
    }),
  ],
};
