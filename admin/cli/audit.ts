import { InvalidArgumentError } from 'commander';
import type { Operations } from '../operations/operations.ts';
import type { AuditFacts, ChainEnd } from '../../postgres/audit-log.ts';
import { type CommandSpec, limitOption, option, textOf } from './commands.ts';
import { facts, type Output, table } from './output.ts';

const parseNoted = (text: string): ChainEnd => {
  const [, id = '', hash = ''] = /^(0|[1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id === '') throw new InvalidArgumentError('It must be what --verify has printed.');
  return { id: Number(id), hash };
};

const verify = async (operations: Operations, noted: ChainEnd | null): Promise<Output> => {
  const { last, brokenAt, hasNoted } = await operations.verifyAuditLog(noted);
  const result = { last: last.id === 0 ? null : `${last.id}:${last.hash}`, brokenAt, hasNoted };
  const state = brokenAt === null ? 'whole' : `broken at record ${brokenAt}`;
  return {
    text: facts({
      chain: hasNoted ? state : `${state}; the noted record is not there`,
      'last record': result.last,
    }),
    json: result,
    failed: brokenAt !== null || !hasNoted,
  };
};

const formatFacts = (recorded: AuditFacts | null): string =>
  recorded ? JSON.stringify(recorded) : '';

export const auditCommand: CommandSpec = {
  usage: 'audit',
  summary: 'list the changes of admins, the newest first',
  examples: ['audit --limit 20', 'audit --subject application:shop --json', 'audit --verify'],
  options: [
    option(
      '--subject <subject>',
      'only of this, e.g. application:shop, gateway:zarinpal, payment:PAY_…',
      'of all',
    ),
    limitOption(),
    option(
      '--verify',
      'check that no record was changed or removed, and print the last one: note it elsewhere',
    ),
    option(
      '--noted <record>',
      'with --verify: a record noted earlier, which must be there',
      'none',
    ).argParser(parseNoted),
  ],
  run: async ({ options, list, operations }) => {
    if (options['verify'] || options['noted'])
      return verify(operations, (options['noted'] as ChainEnd | undefined) ?? null);
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
