import type { Command } from 'commander';
import type { AuditFacts } from '../../postgres/audit-log.ts';
import { hideQuery } from '../webhook-url.ts';
import type { CliContext } from './commands.ts';
import { command, count, group, limit, listUpTo, option, reason, textOf } from './commands.ts';
import { facts, table } from './output.ts';

export const webhookCommands = (around: CliContext): Command => {
  const test = command(
    around,
    {
      usage: 'test <application>',
      summary: 'send a signed sample event to its webhook URL; it is marked as a test',
      examples: ['webhook test shop'],
      options: [reason()],
    },
    async ({ args: [application = ''], options, operations }) => {
      const { url, body, result } = await operations.testWebhook(
        application,
        textOf(options['reason']),
      );
      const text = facts({
        url: hideQuery(url),
        sent: body,
        result: result.errorClass === null ? 'accepted' : `${result.errorClass}: ${result.error}`,
        status: result.responseStatus,
        'took (ms)': result.durationMs,
        answer: result.responseBody,
        'answer cut off': result.responseTruncated,
      });
      return {
        text,
        json: { url: hideQuery(url), event: JSON.parse(body), ...result },
        failed: result.errorClass !== null,
      };
    },
  );
  return group(
    { name: 'webhook', summary: "an application's webhook", examples: ['webhook test shop'] },
    [test],
  );
};

export const purgeCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'purge',
      summary: 'drop what the retention policy does not keep, to be run daily',
      examples: ['purge --yes', 'purge --limit 10000 --yes --json'],
      options: [
        option('--limit <count>', 'of each kind at most')
          .argParser(count(10_000_000))
          .default(1_000_000),
        reason(),
      ],
      irreversible: () =>
        'Receivers’ answers older than KEEP_ATTEMPT_BODIES_DAYS and, where it is set, payments older than KEEP_PAYMENTS_DAYS are dropped.',
    },
    async ({ options, operations }) => {
      const most = Number(options['limit']);
      const purged = await operations.purge(most, textOf(options['reason']));
      const { attemptBodies, payments } = purged;
      // Run daily by nobody who reads it, it would fall further behind each day.
      const failed = Math.max(attemptBodies, payments) >= most;
      const more = failed ? '\nThere may be more: --limit was met.' : '';
      return {
        text: facts({ 'attempt bodies': attemptBodies, payments }) + more,
        json: purged,
        failed,
      };
    },
  );

const words = (given: AuditFacts | null): string => (given ? JSON.stringify(given) : '');

export const auditCommand = (around: CliContext): Command =>
  command(
    around,
    {
      usage: 'audit',
      summary: 'what admins have changed, the newest first',
      examples: ['audit --limit 20', 'audit --subject application:shop --json'],
      options: [
        option('--subject <subject>', 'e.g. application:shop, gateway:zarinpal, payment:PAY_…'),
        limit(),
      ],
    },
    async ({ options, operations, io }) => {
      const subject = textOf(options['subject']);
      const records = await listUpTo(Number(options['limit']), io, (most) =>
        operations.auditLog({ subject, limit: most }),
      );
      const rows = records.map((one) => [
        ...[one.at, one.actor, one.action, one.subject],
        ...[words(one.before), words(one.after), one.reason],
      ]);
      const headings = ['time', 'who', 'what', 'to what', 'before', 'after', 'why'];
      const none = `Nothing was changed yet${subject === null ? '' : ` of ${subject}`}.`;
      return { text: table(headings, rows, none), json: records };
    },
  );
