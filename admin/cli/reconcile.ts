import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { labelOf } from '../operations/labels.ts';
import type { Reconciliation } from '../operations/reconciliation.ts';
import {
  type CommandSpec,
  count,
  findEmptyPeriod,
  option,
  reasonOption,
  textOf,
} from './commands.ts';
import { type Output, table } from './output.ts';

const instant = z.iso.datetime({ offset: true });

const parseTime = (text: string): string => {
  if (instant.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a time like 2026-11-20T10:41:37Z.');
};

export const reconcileCommand: CommandSpec = {
  usage: 'reconcile',
  summary: 'list every difference between the database and Temporal; exit code 1 if there is one',
  examples: [
    'reconcile',
    'reconcile --heal --yes --reason "Temporal was restored"',
    'reconcile --since 2026-11-20T10:41:37Z --json',
  ],
  options: [
    option('--heal', 'start the missing workflows; no workflow is ever ended'),
    option(
      '--since <time>',
      'find closed workflows without a payment too, if they started after this',
      'running ones only',
    ).argParser(parseTime),
    option('--limit <count>', 'maximum of differences').argParser(count(100_000)).default(1_000),
    option('--scan <count>', 'maximum of payments, deliveries and workflows to read, each')
      .argParser(count(100_000_000))
      .default(100_000),
    reasonOption(),
  ],
  findMisuse: ({ since }) => findEmptyPeriod(textOf(since)),
  describeChange: (_, { heal }) =>
    heal ? 'The missing workflow of every payment that needs one is started.' : null,
  run: async ({ options, reason, operations, interruption }) => {
    const since = textOf(options.since);
    const found = await operations.reconcile({
      since: since === null ? null : new Date(since),
      limit: Number(options.limit),
      scan: Number(options.scan),
      heal: options.heal === true,
      reason,
      signal: interruption(),
    });
    return formatDifferences(found);
  },
};

const formatDifferences = ({ differences, complete, error }: Reconciliation): Output => {
  const isDone = error === undefined;
  const rows = differences.map((difference) => ({
    difference: labelOf('workflowDifference', difference.kind),
    payment: difference.paymentId,
    application: difference.application,
    order: difference.orderId,
    status: difference.status,
    due: difference.at,
    healed: difference.healed,
  }));
  const ifEmpty = isDone ? 'The database and Temporal agree.' : 'No difference was found so far.';
  const more = isDone && !complete ? '\nThere may be more: --limit or --scan was reached.' : '';
  return {
    text: table(rows, ifEmpty) + more,
    json: { differences, complete },
    failed: !complete || differences.some(({ healed }) => !healed),
    error,
  };
};
