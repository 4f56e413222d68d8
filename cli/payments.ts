import { formatMoney } from '../contract/money.ts';
import { isTerminal, statuses } from '../contract/status.ts';
import type { PaymentSummary } from '../postgres/admin-payments.ts';
import type { PaymentTimeline } from '../operations/payments.ts';
import { type CommandGroup, type CommandSpec, limitOption, option, textOf } from './commands.ts';
import { facts, type Output, table } from './output.ts';

export const formatPayments = (payments: readonly PaymentSummary[], ifEmpty: string): Output => {
  const rows = payments.map((payment) => ({
    payment: payment.id,
    application: payment.application,
    order: payment.orderId,
    status: payment.status,
    amount: formatMoney(payment),
    delivery: payment.delivery,
    test: payment.test,
    created: payment.createdAt,
    'duplicate of': payment.duplicateOf,
  }));
  return { text: table(rows, ifEmpty), json: payments };
};

const formatPayment = ({ payment, timeline, workflowUrl }: PaymentTimeline): Output => {
  const summary = facts({
    payment: payment.id,
    application: payment.application,
    order: payment.orderId,
    amount: formatMoney(payment),
    status: payment.status,
    'failure code': isTerminal(payment.status) ? payment.failureCode : undefined,
    gateway: payment.gateway,
    'gateway reference': payment.gatewayReference,
    'tracking code': payment.trackingCode,
    card: payment.cardPanMasked,
    event: payment.eventId,
    delivery: payment.delivery,
    'duplicate of': payment.duplicateOf,
    test: payment.test,
    workflow: workflowUrl,
  });
  const rows = timeline.map(({ at, what, details }) => ({
    time: at,
    what,
    details: details ?? '',
  }));
  return {
    text: `${summary}\n\n${table(rows, '')}`,
    json: { ...payment, timeline, workflowUrl },
  };
};

const findCommand: CommandSpec = {
  usage: 'find',
  alias: 'list',
  summary: 'find payments by id, order, application or status, the newest first',
  examples: [
    'payments find --order order-4711',
    'payments find --application shop --status failed --limit 20 --json',
  ],
  options: [
    option('--id <payment>', 'payment id'),
    option('--order <order>', "the application's own reference"),
    option('--application <slug>', 'application'),
    option('--status <status>', 'status').choices([...statuses]),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const filter = {
      id: textOf(options.id),
      orderId: textOf(options.order),
      application: textOf(options.application),
      status: statuses.find((status) => status === options.status) ?? null,
      delivery: null,
    };
    const found = await list((max) => operations.payments.find(filter, max));
    return formatPayments(found, 'No payment matches.');
  },
};

const showCommand: CommandSpec = {
  usage: 'show <payment>',
  summary: 'show the timeline of a payment, with every attempt to deliver its event',
  examples: ['payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
  run: async ({ args: [id = ''], operations }) => formatPayment(await operations.payments.get(id)),
};

export const paymentCommands: CommandGroup = {
  name: 'payments',
  summary: 'find payments and show their timelines',
  examples: ['payments list', 'payments find --order order-4711', 'payments show --help'],
  commands: [findCommand, showCommand],
};
