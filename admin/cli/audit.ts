import { InvalidArgumentError } from 'commander';
import { readableFacts } from '../operations/audit-money.ts';
import type { Operations } from '../operations/operations.ts';
import type { AuditFacts, ChainEnd } from '../../postgres/audit-log.ts';
import { type CommandSpec, limitOption, numberArgument, option, textOf } from './commands.ts';
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

/** The things of which the log has records, by the word before the colon. */
const finders = {
  application: (operations, name) => operations.applications.get(name),
  gateway: (operations, name) => operations.gateways.check(name),
  payment: (operations, name) => operations.payments.get(name),
  refund: (operations, name) => operations.refunds.get(name),
  account_difference: (operations, name) =>
    operations.accounts.getDifference(numberArgument(name, 'a difference')),
  currency: null,
  key: null,
  person: null,
  replay: (operations, name) => operations.replays.get(name),
} satisfies Record<string, ((operations: Operations, name: string) => Promise<unknown>) | null>;
type Kind = keyof typeof finders;
const kinds = Object.keys(finders) as Kind[]; // Object.keys widens to string.

const parseSubject = (text: string): string => {
  const [kind, ...name] = text.split(':');
  const isKnown = kinds.some((known) => known === kind) && name.join(':') !== '';
  if (isKnown || text === 'retention') return text;
  throw new InvalidArgumentError(
    `It must be retention, or <kind>:<name> with ${kinds.join(', ')}.`,
  );
};

/** A mistyped name must not look like a thing that nobody has changed. @throws NotFound */
const checkSubject = async (operations: Operations, subject: string): Promise<void> => {
  const kind = kinds.find((known) => subject.startsWith(`${known}:`));
  if (kind !== undefined) await finders[kind]?.(operations, subject.slice(kind.length + 1));
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
    ).argParser(parseSubject),
    option('--actor <name>', 'only of this person', 'of all'),
    option('--text <text>', 'only with this text in names, reason or change', 'with any'),
    limitOption(),
    option(
      '--verify',
      'check that no record was changed or removed, and print the last one: note it elsewhere',
    ).conflicts(['subject', 'actor', 'text', 'limit']),
    option('--noted <record>', 'with --verify: a record noted earlier, which must be there', 'none')
      .argParser(parseNoted)
      .conflicts(['subject', 'actor', 'text', 'limit']),
  ],
  run: async ({ options, list, operations }) => {
    if (options['verify'] || options['noted'])
      return verify(operations, (options['noted'] as ChainEnd | undefined) ?? null);
    const subject = textOf(options.subject);
    const part = textOf(options['text']);
    const text = part === null ? null : { part, actions: [] };
    const filter = { subject, actor: textOf(options['actor']), text };
    const records = await list((limit) => operations.auditLog({ ...filter, limit }));
    if (records.length === 0 && subject !== null && part === null)
      await checkSubject(operations, subject);
    const rows = records.map((record) => {
      const { before, after } = readableFacts(record);
      return {
        time: record.at,
        actor: record.actor,
        action: record.action,
        subject: record.subject,
        before: formatFacts(before),
        after: formatFacts(
          record.payments === null ? after : { ...after, payments: record.payments },
        ),
        reason: record.reason,
      };
    });
    const ifEmpty = `The audit log has no entry${subject === null ? '' : ` for ${subject}`}.`;
    return { text: table(rows, ifEmpty), json: records };
  },
};
