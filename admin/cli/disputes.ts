import { disputeStages, disputeStatuses } from '../../contract/dispute.ts';
import { everyDispute } from '../../postgres/admin/disputes.ts';
import { byLabel } from '../operations/fact.ts';
import { disputeAdvice, disputeDetailFacts, disputeFacts } from '../operations/facts.ts';
import { type CommandGroup, type CommandSpec, limitOption, option, textOf } from './commands.ts';
import { facts, table } from './output.ts';
import { eventRows } from './payments.ts';

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list disputes, the newest first',
  examples: ['disputes list --status needs_response', 'disputes list --application shop --json'],
  options: [
    option('--application <slug>', 'only of this application', 'of all'),
    option('--gateway <slug>', 'only at this gateway', 'at all'),
    option('--payment <payment>', 'only of this payment', 'of all'),
    option('--stage <stage>', 'only of this stage', 'of any').choices([...disputeStages]),
    option('--status <status>', 'only with this status', 'with any').choices([...disputeStatuses]),
    limitOption(),
  ],
  run: async ({ options, list, operations }) => {
    const filter = {
      ...everyDispute,
      application: textOf(options.application),
      gateway: textOf(options['gateway']),
      paymentId: textOf(options['payment']),
      stage: disputeStages.find((stage) => stage === options['stage']) ?? null,
      status: disputeStatuses.find((status) => status === options.status) ?? null,
    };
    const found = await list((limit) => operations.disputes.list(filter, { after: null, limit }));
    const rows = found.map((dispute) => byLabel(disputeFacts(dispute, new Date())));
    return { text: table(rows, 'No dispute matches.'), json: found };
  },
};

const showCommand: CommandSpec = {
  usage: 'show <dispute>',
  summary: 'show what a dispute is about, what to do now and until when',
  examples: ['disputes show DISPUTE_4T9GZ7Q2W8YB6K1MXR5C0NHJDV'],
  run: async ({ args: [id = ''], operations }) => {
    const details = await operations.disputes.details(id);
    const { dispute, events, gatewayUrl } = details;
    const summary = facts({
      ...byLabel(disputeDetailFacts(details, new Date())),
      test: dispute.test,
      'at the gateway': gatewayUrl,
    });
    return {
      text: `${summary}\n\n${disputeAdvice(details, new Date()).text}\n\n${table(eventRows(events), 'There is no event.')}`,
      json: { ...dispute, events, gatewayUrl },
    };
  },
};

export const disputeCommands: CommandGroup = {
  name: 'disputes',
  summary: 'find disputes, and what to do about them; the gateway takes the answer',
  examples: ['disputes list --status needs_response'],
  commands: [listCommand, showCommand],
};
