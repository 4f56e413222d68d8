import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../contract/limits.ts';
import { Refusal } from '../operations/change.ts';
import type { PaymentTimeline } from '../operations/payments.ts';
import { everyDelivery } from '../postgres/delivery-filter.ts';
import {
  type CommandSpec,
  type CommandGroup,
  type Call,
  count,
  limitOption,
  option,
  reasonOption,
  textOf,
} from './commands.ts';
import { facts, type Output, table } from './output.ts';
import { formatPayments } from './payments.ts';

const exhausted = { id: null, orderId: null, status: null, delivery: 'exhausted' } as const;

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list deliveries whose six attempts have failed',
  examples: ['deliveries list --application shop'],
  options: [option('--application <slug>', 'only of this application'), limitOption()],
  run: async ({ options, list, operations }) => {
    const application = textOf(options.application);
    const found = await list((max) => operations.payments.find({ ...exhausted, application }, max));
    return formatPayments(found, 'No delivery is exhausted.');
  },
};

const replayCommand: CommandSpec = {
  usage: 'replay [payments...]',
  summary: 'send events again now: six new attempts if exhausted, the next attempt if failing',
  examples: [
    'deliveries replay PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    'deliveries replay --application shop --rate 5 --yes --reason "receiver is back"',
  ],
  options: [
    option('--application <slug>', 'all exhausted deliveries of this application'),
    option('--rate <count>', 'maximum a second, with --application')
      .argParser(count(limits.workerReplaysPerSecond))
      .default(limits.replaysPerSecond),
    reasonOption(),
  ],
  describeChange: (ids, { application }) =>
    typeof application === 'string'
      ? `All exhausted events of ${application} are sent again.`
      : `The events of ${ids.length} payments are sent again.`,
  run: async (call) => {
    const application = textOf(call.options.application);
    if ((application === null) === (call.args.length === 0))
      throw new Refusal('Name either payments or an --application.');
    return application === null ? replayEach(call) : replayAll(call, application);
  },
};

const replayEach = async ({ args, reason, operations }: Call): Promise<Output> => {
  const results: { id: string; result: string; why: string }[] = [];
  for (const id of args) {
    try {
      const when = await operations.replays.replayOne(id, reason);
      results.push({ id, result: 'replayed', why: when === 'later' ? 'within 6 minutes' : '' });
    } catch (error) {
      if (!(error instanceof Refusal) || args.length === 1) throw error;
      results.push({ id, result: 'refused', why: error.message });
    }
  }
  const rows = results.map(({ id, result, why }) => ({ payment: id, result, note: why }));
  return {
    text: table(rows, ''),
    json: results,
    failed: results.some(({ result }) => result === 'refused'),
  };
};

/** Starts a replay and shows its progress until its end. Ctrl-C stops it before its next event. */
const replayAll = async (call: Call, application: string): Promise<Output> => {
  const { options, reason, operations, io, interruption } = call;
  const [any] = await operations.payments.find({ ...exhausted, application }, 1);
  if (!any) return { text: 'No delivery is exhausted.', json: [] };
  const filter = { ...everyDelivery, application, delivery: 'exhausted', to: new Date() } as const;
  const perSecond = Number(options.rate);
  const id = await operations.replays.start(filter, { perSecond, reason });
  io.note(`Replay ${id}. Ctrl-C stops it.`);
  const signal = interruption();
  for (let shown = ''; ;) {
    const { status, begun, refused, matched, stopRequested } = await operations.replays.get(id);
    const progress = `${begun + refused} of ${matched}`;
    if (progress !== shown) io.note((shown = progress));
    if (status !== 'running')
      return {
        text: facts({ replay: id, status, replayed: begun, refused }),
        json: { id, status, matched, begun, refused },
        failed: status === 'stopped' || refused > 0,
      };
    // It may end by itself meanwhile.
    if (signal.aborted && !stopRequested)
      await operations.replays.stop(id, 'Interrupted').catch(() => {});
    await sleep(500, undefined, signal.aborted ? {} : { signal }).catch(() => {});
  }
};

const showCommand: CommandSpec = {
  usage: 'show <payment>',
  summary: 'show the delivery of a payment, with every attempt',
  examples: ['deliveries show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'],
  run: async ({ args: [id = ''], operations }) => formatDelivery(await operations.payments.get(id)),
};

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
  const rows = attempts.map((attempt) => ({
    attempt: attempt.number,
    round: attempt.round,
    trigger: attempt.trigger,
    time: attempt.startedAt,
    ms: attempt.durationMs,
    status: attempt.responseStatus,
    result: attempt.completedAt === null ? 'not completed' : (attempt.errorClass ?? 'delivered'),
    error: attempt.error,
  }));
  return {
    text: `${summary}\n\n${table(rows, 'There was no attempt.')}`,
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

export const deliveryCommands: CommandGroup = {
  name: 'deliveries',
  summary: 'show a delivery, list exhausted ones, send them again',
  examples: ['deliveries list', 'deliveries show --help', 'deliveries replay --help'],
  commands: [listCommand, showCommand, replayCommand],
};
