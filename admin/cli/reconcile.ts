import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { DifferenceKind } from '../reconciliation.ts';
import type { CliContext } from './commands.ts';
import { command, count, option, reason, textOf } from './commands.ts';
import { table } from './output.ts';

/** What admins read; docs/operating/restoring.md says what each means. */
export const words: Record<DifferenceKind, string> = {
  payment_without_workflow: 'open, and no workflow runs',
  delivery_without_workflow: 'ended, not delivered, and no workflow runs',
  late_payment_without_workflow: 'late money, and no workflow runs',
  delivery_overdue: 'delivery overdue, though its workflow runs',
  payment_overdue: 'overdue, and its workflow asks no gateway',
  end_without_delivery: 'ended without an event or a delivery',
  workflow_without_payment: 'a workflow without a record',
};

const instant = z.iso.datetime({ offset: true });

const time = (text: string): string => {
  if (instant.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a time like 2026-11-20T10:41:37Z.');
};

export const reconcileCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'reconcile',
      summary: 'every difference between the database and Temporal; exit code 1 while there is one',
      examples: [
        'reconcile',
        'reconcile --mend --yes --reason "Temporal was restored"',
        'reconcile --since 2026-11-20T10:41:37Z --json',
      ],
      options: [
        option('--mend', 'start the workflows that are gone; nothing is ever ended'),
        option(
          '--since <time>',
          'also closed workflows without a record that began since then',
        ).argParser(time),
        option('--limit <count>', 'differences at most').argParser(count(100_000)).default(1_000),
        option('--look <count>', 'payments, deliveries and workflows looked at, of each at most')
          .argParser(count(100_000_000))
          .default(100_000),
        reason(),
      ],
      irreversible: (_, { mend }) =>
        mend ? 'The workflow of every payment that needs one and has none is started.' : null,
    },
    async ({ options, operations }) => {
      const since = textOf(options['since']);
      const found = await operations.reconcile({
        since: since === null ? null : new Date(since),
        limit: Number(options['limit']),
        look: Number(options['look']),
        mend: options['mend'] === true,
        reason: textOf(options['reason']),
      });
      const rows = found.differences.map((one) => [
        ...[words[one.kind], one.paymentId, one.application, one.orderId, one.status, one.at],
        one.mended,
      ]);
      const headings = ['difference', 'payment', 'application', 'order', 'status', 'due', 'mended'];
      const more = found.complete ? '' : '\nThere may be more: --limit or --look was met.';
      return {
        text: table(headings, rows, 'The database and Temporal agree.') + more,
        json: found,
        failed: !found.complete || found.differences.some(({ mended }) => !mended),
      };
    },
  );
