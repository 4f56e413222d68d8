import type { AuditFacts } from '../postgres/audit-log.ts';
import { type CommandSpec, limitOption, option, textOf } from './commands.ts';
import { table } from './output.ts';

const formatFacts = (facts: AuditFacts | null): string => (facts ? JSON.stringify(facts) : '');

export const auditCommand: CommandSpec = {
  usage: 'audit',
  summary: 'list the changes of admins, the newest first',
  examples: ['audit --limit 20', 'audit --subject application:shop --json'],
  options: [
    option('--subject <subject>', 'e.g. application:shop, gateway:zarinpal, payment:PAY_…'),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const subject = textOf(options.subject);
    const records = await list((max) => operations.auditLog({ subject, limit: max }));
    const rows = records.map((record) => ({
      time: record.at,
      actor: record.actor,
      action: record.action,
      subject: record.subject,
      before: formatFacts(record.before),
      after: formatFacts(
        record.payments === null ? record.after : { ...record.after, payments: record.payments },
      ),
      reason: record.reason,
    }));
    const ifEmpty = `The audit log has no entry${subject === null ? '' : ` for ${subject}`}.`;
    return { text: table(rows, ifEmpty), json: records };
  },
};
