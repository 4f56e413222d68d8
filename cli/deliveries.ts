import type { Command } from 'commander';
import { Refusal } from '../operations/change.ts';
import type { BulkOptions, Retriggered } from '../operations/deliveries.ts';
import type { PaymentTimeline } from '../operations/payments.ts';
import type { Call, CliContext } from './commands.ts';
import {
  command,
  count,
  formatDone,
  group,
  limit,
  listUpTo,
  option,
  reason,
  textOf,
} from './commands.ts';
import { facts, type Output, table } from './output.ts';
import { formatPayments } from './payments.ts';

const listCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'list',
      summary: 'list deliveries whose six attempts have failed',
      examples: ['deliveries list --application shop'],
      options: [option('--application <slug>', 'only of this application'), limit()],
    },
    async ({ options, operations, io }) => {
      const application = textOf(options.application);
      const found = await listUpTo(Number(options.limit), io, (max) =>
        operations.deliveries.listExhausted(application, max),
      );
      return formatPayments(found, 'No delivery is exhausted.');
    },
  );

const retriggerCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'retrigger [payments...]',
      summary: 'start six new attempts for exhausted deliveries, with the current URL and secrets',
      examples: [
        'deliveries retrigger PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
        'deliveries retrigger --application shop --rate 5 --yes --reason "receiver is back"',
      ],
      options: [
        option('--application <slug>', 'all exhausted deliveries of this application'),
        option('--rate <count>', 'maximum a second').argParser(count(100)).default(10),
        reason(),
      ],
      describeChange: (ids, { application }) =>
        typeof application === 'string'
          ? `All exhausted events of ${application} are sent again.`
          : `The events of ${ids.length} payments are sent again.`,
    },
    retrigger,
  );

const retrigger = async (call: Call): Promise<Output> => {
  const { args, options, operations, io, interruption } = call;
  const application = textOf(options.application);
  if ((application === null) === (args.length === 0))
    throw new Refusal('Name either payments or an --application.');
  const bulkOptions: BulkOptions = {
    perSecond: Number(options.rate),
    reason: textOf(options.reason),
    signal: interruption(),
    onProgress: ({ done, total, refused }) => {
      if (total > 1) io.note(`${done} of ${total}${refused > 0 ? `, ${refused} refused` : ''}`);
    },
    onStop: (notTried) =>
      io.note(`Stopped: Temporal does not reset workflows. Not tried: ${notTried}`),
  };
  const { deliveries } = operations;
  const work =
    application === null
      ? deliveries.retriggerMany(args, bulkOptions)
      : deliveries.retriggerAll(application, bulkOptions);
  return formatDone(work, (results, isDone) => {
    const [only] = results;
    if (args.length === 1 && only?.result === 'refused') throw new Refusal(only.why);
    const failed = results.some(({ result }) => result === 'refused');
    if (results.length === 0)
      return { text: isDone ? 'No delivery is exhausted.' : 'Nothing was done.', json: results };
    return { ...(application === null ? formatEach(results) : formatCounts(results)), failed };
  });
};

const formatEach = (results: readonly Retriggered[]): Output => {
  const rows = results.map((one) => [
    one.id,
    one.result === 'refused' ? 'refused' : 're-triggered',
    noteOf(one),
  ]);
  return { text: table(['payment', 'result', 'note'], rows, ''), json: results };
};

const noteOf = (one: Retriggered): string => {
  switch (one.result) {
    case 'refused':
      return one.why;
    case 'no_history':
      return 'within 6 minutes';
    case 'reset':
      return '';
  }
};

/** An application may have very many deliveries: only the refused ones are listed. */
const formatCounts = (results: readonly Retriggered[]): Output => {
  const refused = results.filter(({ result }) => result === 'refused');
  const withoutHistory = results.filter(({ result }) => result === 'no_history');
  const counts = facts({
    're-triggered': results.length - refused.length,
    ...(withoutHistory.length > 0 && { 'of these within 6 minutes': withoutHistory.length }),
    refused: refused.length,
  });
  const rows = refused.map((one) => [one.id, noteOf(one)]);
  const list = table(['refused', 'why'], rows, '');
  return { text: [counts, list].filter(Boolean).join('\n\n'), json: results };
};

const showCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'show <payment>',
      summary: 'show the delivery of a payment, with every attempt',
      examples: ['deliveries show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
    },
    async ({ args: [id = ''], operations }) => formatDelivery(await operations.payments.get(id)),
  );

const formatDelivery = ({ payment, workflowUrl }: PaymentTimeline): Output => {
  const { id, application, eventId, eventKind, delivery, round, nextAttemptAt, attempts } = payment;
  const summary = facts({
    payment: id,
    application,
    event: eventId,
    kind: eventKind,
    delivery: delivery ?? 'none yet: the payment has not ended',
    round,
    'next attempt': nextAttemptAt,
    workflow: workflowUrl,
  });
  const rows = attempts.map((attempt) => [
    attempt.number,
    attempt.round,
    attempt.trigger,
    attempt.startedAt,
    attempt.durationMs,
    attempt.responseStatus,
    attempt.completedAt === null ? 'not completed' : (attempt.errorClass ?? 'delivered'),
    attempt.error,
  ]);
  const headings = ['attempt', 'round', 'trigger', 'time', 'ms', 'status', 'result', 'error'];
  return {
    text: `${summary}\n\n${table(headings, rows, 'There was no attempt.')}`,
    json: {
      paymentId: id,
      application,
      eventId,
      eventKind,
      delivery,
      round,
      nextAttemptAt,
      attempts,
      workflowUrl,
    },
  };
};

export const deliveryCommands = (context: CliContext): Command =>
  group(
    {
      name: 'deliveries',
      summary: 'show a delivery, list and re-trigger exhausted ones',
      examples: ['deliveries list', 'deliveries show --help', 'deliveries retrigger --help'],
    },
    [listCommand(context), showCommand(context), retriggerCommand(context)],
  );
