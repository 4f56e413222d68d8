import type { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import { isTerminal, statuses } from '../../contract/status.ts';
import type { PaymentSummary } from '../../postgres/admin-payments.ts';
import type { Many, Retriggered } from '../deliveries.ts';
import type { PaymentTimeline } from '../payments.ts';
import { Refusal } from '../change.ts';
import type { Call, CliContext } from './commands.ts';
import { command, count, group, limit, listUpTo, option, reason, textOf } from './commands.ts';
import { facts, type Output, table } from './output.ts';

const listed = (lines: readonly PaymentSummary[], none: string): Output => {
  const rows = lines.map((one) => [
    ...[one.id, one.application, one.orderId, one.status, formatMoney(one), one.delivery],
    ...[one.test, one.createdAt, one.duplicateOf],
  ]);
  const headings = ['payment', 'application', 'order', 'status', 'amount', 'delivery', 'test'];
  return { text: table([...headings, 'created', 'duplicate of'], rows, none), json: lines };
};

const told = ({ payment, timeline, workflowUrl }: PaymentTimeline): Output => {
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

export const paymentCommands = (around: CliContext): Command => {
  const find = command(
    around,
    {
      usage: 'find',
      summary: 'payments by id, order, application or status, the newest first',
      examples: [
        'payments find --order order-4711',
        'payments find --application shop --status failed --limit 20 --json',
      ],
      options: [
        option('--id <payment>', 'a payment id'),
        option('--order <order>', "the application's own reference"),
        option('--application <slug>', 'an application'),
        option('--status <status>', 'a status').choices([...statuses]),
        limit(),
      ],
    },
    async ({ options, operations, io }) => {
      const filter = {
        id: textOf(options['id']),
        orderId: textOf(options['order']),
        application: textOf(options['application']),
        status: statuses.find((status) => status === options['status']) ?? null,
        delivery: null,
      };
      const found = await listUpTo(Number(options['limit']), io, (most) =>
        operations.payments.find(filter, most),
      );
      return listed(found, 'There is no such payment.');
    },
  );

  const show = command(
    around,
    {
      usage: 'show <payment>',
      summary: 'one payment as a timeline, with every attempt to deliver its event',
      examples: ['payments show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
    },
    async ({ args: [id = ''], operations }) => told(await operations.payments.get(id)),
  );

  return group(
    {
      name: 'payments',
      summary: 'what happened to payments',
      examples: ['payments find --order order-4711', 'payments show --help'],
    },
    [find, show],
  );
};

const asked = (all: unknown, ids: readonly string[]): string =>
  typeof all === 'string'
    ? `Every exhausted event of ${all} is sent again.`
    : `The events of ${ids.length} payments are sent again.`;

const note = (one: Retriggered): string =>
  one.done === 'refused' ? one.why : { reset: '', left: 'within 6 minutes' }[one.done];

const came = (results: readonly Retriggered[]): Output => {
  const rows = results.map((one) => [
    ...[one.id, one.done === 'refused' ? 'refused' : 're-triggered', note(one)],
  ]);
  return { text: table(['payment', 'result', 'note'], rows, ''), json: results };
};

/** Of an application there may be very many: what went well is only counted. */
const allCame = (results: readonly Retriggered[]): Output => {
  if (results.length === 0) return { text: 'There is nothing to re-trigger.', json: results };
  const refused = results.filter(({ done }) => done === 'refused');
  const left = results.filter(({ done }) => done === 'left');
  const counts = facts({
    're-triggered': results.length - refused.length,
    ...(left.length > 0 && { 'of these within 6 minutes': left.length }),
    refused: refused.length,
  });
  const rows = refused.map((one) => [one.id, note(one)]);
  const list = table(['refused', 'why'], rows, '');
  return { text: [counts, list].filter(Boolean).join('\n\n'), json: results };
};

const retrigger = async ({ args, options, operations, io }: Call): Promise<Output> => {
  const application = textOf(options['application']);
  if ((application === null) === (args.length === 0))
    throw new Refusal('Name payments, or an application with --application, and not both.');
  const how: Many = {
    perSecond: Number(options['rate']),
    reason: textOf(options['reason']),
    onProgress: ({ done, total, refused }) => {
      if (total > 1) io.note(`${done} of ${total}${refused > 0 ? `, ${refused} refused` : ''}`);
    },
    onStop: (notTried) => io.note(`Stopped, as Temporal resets nothing; not tried: ${notTried}`),
  };
  const { deliveries } = operations;
  const results =
    application === null
      ? await deliveries.retriggerMany(args, how)
      : await deliveries.retriggerAll(application, how);
  // One alone is answered in a sentence.
  const [only] = results;
  if (args.length === 1 && only?.done === 'refused') throw new Refusal(only.why);
  const output = application === null ? came(results) : allCame(results);
  return { ...output, failed: results.some(({ done }) => done === 'refused') };
};

export const deliveryCommands = (around: CliContext): Command => {
  const list = command(
    around,
    {
      usage: 'list',
      summary: 'deliveries whose six attempts have failed',
      examples: ['deliveries list --application shop'],
      options: [option('--application <slug>', 'of one application'), limit()],
    },
    async ({ options, operations, io }) => {
      const application = textOf(options['application']);
      const found = await listUpTo(Number(options['limit']), io, (most) =>
        operations.deliveries.listExhausted(application, most),
      );
      return listed(found, 'No delivery is exhausted.');
    },
  );

  const again = command(
    around,
    {
      usage: 'retrigger [payments...]',
      summary: 'six new attempts for exhausted deliveries, with today’s URL and secrets',
      examples: [
        'deliveries retrigger PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
        'deliveries retrigger --application shop --rate 5 --yes --reason "receiver is back"',
      ],
      options: [
        option('--application <slug>', 'everything of one application'),
        option('--rate <count>', 'how many a second at most').argParser(count(100)).default(10),
        reason(),
      ],
      irreversible: (ids, options) => asked(options['application'], ids),
    },
    retrigger,
  );

  return group(
    {
      name: 'deliveries',
      summary: 'events that could not be delivered',
      examples: ['deliveries list', 'deliveries retrigger --help'],
    },
    [list, again],
  );
};
