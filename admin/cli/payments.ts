import { formatMoney } from '../../contract/money.ts';
import { statuses } from '../../contract/status.ts';
import { everyPayment, type PaymentRow } from '../../postgres/admin/payments.ts';
import { byLabel } from '../operations/fact.ts';
import { adviceText, paymentFacts } from '../operations/facts.ts';
import { deliveryStateOf } from '../operations/labels.ts';
import type { PaymentTimeline } from '../operations/payments.ts';
import {
  type CommandGroup,
  type CommandSpec,
  givenReason,
  limitOption,
  option,
  requiredReason,
  textOf,
} from './commands.ts';
import { facts, type Output, table } from './output.ts';

const formatPayments = (payments: readonly PaymentRow[], ifEmpty: string): Output => {
  const rows = payments.map((payment) => ({
    payment: payment.id,
    application: payment.application,
    order: payment.orderId,
    status: payment.status,
    amount: formatMoney(payment),
    delivery: payment.delivery && deliveryStateOf(payment.delivery, payment.deliveryError),
    test: payment.test,
    created: payment.createdAt,
    'duplicate of': payment.duplicateOf,
  }));
  return { text: table(rows, ifEmpty), json: payments };
};

export const timelineRows = (timeline: PaymentTimeline['timeline']) =>
  timeline.map(({ at, what, details }) => ({ time: at, what, details: details ?? '' }));

export const eventRows = (events: PaymentTimeline['events']) =>
  events.map(({ eventId, kind, refundId, disputeId, status, errorClass, nextAttemptAt }) => ({
    event: eventId,
    kind,
    refund: refundId,
    dispute: disputeId,
    delivery: deliveryStateOf(status, errorClass),
    'next attempt': nextAttemptAt,
  }));

const formatPayment = ({
  payment,
  timeline,
  events,
  others,
  workflowUrl,
}: PaymentTimeline): Output => {
  const summary = facts({
    payment: payment.id,
    order: payment.orderId,
    amount: formatMoney(payment),
    status: payment.status,
    ...byLabel(paymentFacts(payment)),
    'tell the payer': adviceText(payment, 'en', new Date()),
    event: payment.eventId,
    delivery: payment.delivery && deliveryStateOf(payment.delivery, payment.deliveryError),
    test: payment.test,
    workflow: workflowUrl,
  });
  const ofOrder = others.map((other) => ({
    'other payment of the order': other.id,
    status: other.status,
    amount: formatMoney(other),
    created: other.createdAt,
    'holds the order since': other.orderClaimedAt,
  }));
  const parts = [
    summary,
    table(eventRows(events), 'There is no event yet.'),
    ...(ofOrder.length > 0 ? [table(ofOrder, '')] : []),
    table(timelineRows(timeline), ''),
  ];
  return {
    text: parts.join('\n\n'),
    json: { ...payment, timeline, events, others, workflowUrl },
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
    option('--id <payment>', 'only this one', 'any'),
    option('--order <order>', "only of this order, the application's own reference", 'of all'),
    option('--application <slug>', 'only of this application', 'of all'),
    option('--status <status>', 'only with this status', 'with any').choices([...statuses]),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const filter = {
      ...everyPayment,
      id: textOf(options.id),
      orderId: textOf(options.order),
      application: textOf(options.application),
      status: statuses.find((status) => status === options.status) ?? null,
    };
    const found = await list(
      async (limit) => (await operations.payments.list(filter, { after: null, limit })).rows,
    );
    return formatPayments(found, 'No payment matches.');
  },
};

const showCommand: CommandSpec = {
  usage: 'show <payment>',
  summary: 'show the timeline of a payment, with every attempt to deliver its event',
  examples: ['payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
  run: async ({ args: [id = ''], operations }) => formatPayment(await operations.payments.get(id)),
};

const cancelCommand: CommandSpec = {
  usage: 'cancel <payment>',
  summary: 'call a payment off that nobody has paid',
  examples: ['payments cancel PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --reason "ordered twice"'],
  options: [requiredReason()],
  run: async ({ args: [id = ''], reason, operations }) => {
    const { status, isAnswered } = await operations.payments.cancel(id, givenReason(reason));
    const why = isAnswered ? '' : ' The gateway gave no answer: try again.';
    return { text: `${id} is ${status}.${why}`, json: { id, status, isAnswered } };
  },
};

const checkedCommand: CommandSpec = {
  usage: 'checked <payment>',
  summary: 'say that you have looked after money that the gateway may have kept',
  examples: ['payments checked PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --reason "returned by the bank"'],
  options: [requiredReason()],
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.payments.check(id, givenReason(reason));
    return { text: `${id} is checked.`, json: { id, checked: true } };
  },
};

const releaseOrderCommand: CommandSpec = {
  usage: 'release-order <payment>',
  summary:
    'take the order from an open payment whose gateway is silent, so that another payment can be paid',
  examples: [
    'payments release-order PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP --reason "its gateway is down, the payer has paid again"',
  ],
  options: [requiredReason()],
  run: async ({ args: [id = ''], reason, operations }) => {
    await operations.payments.releaseOrder(id, givenReason(reason));
    return {
      text: `${id} does not hold its order any more. Money that its gateway takes for it now goes back if the gateway can return it.`,
      json: { id, released: true },
    };
  },
};

export const paymentCommands: CommandGroup = {
  name: 'payments',
  summary:
    'find payments, show their timelines, call one off, release an order, and check late money',
  examples: ['payments list', 'payments find --order order-4711', 'payments show --help'],
  commands: [findCommand, showCommand, cancelCommand, releaseOrderCommand, checkedCommand],
};
