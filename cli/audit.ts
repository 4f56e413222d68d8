import type { Command } from 'commander';
import type { AuditFacts } from '../postgres/audit-log.ts';
import type { CliContext } from './commands.ts';
import { command, limit, listUpTo, option, textOf } from './commands.ts';
import { table } from './output.ts';

const formatFacts = (facts: AuditFacts | null): string => (facts ? JSON.stringify(facts) : '');

export const auditCommand = (context: CliContext): Command =>
  command(
    context,
    {
      usage: 'audit',
      summary: 'list the changes of admins, the newest first',
      examples: ['audit --limit 20', 'audit --subject application:shop --json'],
      options: [
        option('--subject <subject>', 'e.g. application:shop, gateway:zarinpal, payment:PAY_…'),
        limit(),
      ],
    },
    async ({ options, operations, io }) => {
      const subject = textOf(options.subject);
      const records = await listUpTo(Number(options.limit), io, (max) =>
        operations.auditLog({ subject, limit: max }),
      );
      const rows = records.map(
        ({ at, actor, action, subject: changed, before, after, reason, payments }) => [
          at,
          actor,
          action,
          changed,
          formatFacts(before),
          formatFacts(payments === null ? after : { ...after, payments }),
          reason,
        ],
      );
      const headings = ['time', 'actor', 'action', 'subject', 'before', 'after', 'reason'];
      const ifEmpty = `The audit log has no entry${subject === null ? '' : ` for ${subject}`}.`;
      return { text: table(headings, rows, ifEmpty), json: records };
    },
  );
