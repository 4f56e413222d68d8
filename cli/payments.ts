import type { Command } from 'commander';
import { formatMoney } from '../contract/money.ts';
import { isTerminal, statuses } from '../contract/status.ts';
import type { PaymentSummary } from '../postgres/admin-payments.ts';
import type { PaymentTimeline } from '../operations/payments.ts';
import type { CliContext } from './commands.ts';
import { command, group, limit, listUpTo, option, textOf } from './commands.ts';
import { facts, type Output, table } from './output.ts';

export const formatPayments = (payments: readonly PaymentSummary[], ifEmpty: string): Output => {
  const headings = [
    'payment',
    'application',
    'order',
    'status',
    'amount',
    'delivery',
    'test',
    'created',
    'duplicate of',
  ];
  const rows = payments.map((payment) => [
    payment.id,
    payment.application,
    payment.orderId,
    payment.status,
    formatMoney(payment),
    payment.delivery,
    payment.test,
    payment.createdAt,
    payment.duplicateOf,
  ]);
  return { text: table(headings, rows, ifEmpty), json: payments };
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
  const rows = timeline.map(({ at, what, details }) => [at, what, details ?? '']);
  return {
    text: `${summary}\n\n${table(['time', 'what', 'details'], rows, '')}`,
    json: { ...payment, timeline, workflowUrl },
  };
};

const findCommand = (context: CliContext): Command =>
  command(
    context,
    {
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
        limit(),
      ],
    },
    async ({ options, operations, io }) => {
      const filter = {
        id: textOf(options.id),
        orderId: textOf(options.order),
        application: textOf(options.application),
        status: statuses.find((status) => status === options.status) ?? null,
        delivery: null,
      };
      const found = await listUpTo(Number(options.limit), io, (max) =>
        operations.payments.find(filter, max),
      );
      return formatPayments(found, 'No payment matches.');
    },
  );

const showCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'show <payment>',
      summary: 'show the timeline of a payment, with every attempt to deliver its event',
      examples: ['payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
    },
    async ({ args: [id = ''], operations }) => formatPayment(await operations.payments.get(id)),
  );

export const paymentCommands = (context: CliContext): Command =>
  group(
    {
      name: 'payments',
      summary: 'find payments and show their timelines',
      examples: ['payments list', 'payments find --order order-4711', 'payments show --help'],
    },
    [findCommand(context), showCommand(context)],
  );
