import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import { Refusal } from '../operations/change.ts';
import type { EventDetails } from '../operations/events.ts';
import { deliveryStateOf } from '../operations/labels.ts';
import type { EventSummary } from '../../postgres/admin/events.ts';
import { everyDelivery } from '../../postgres/webhooks/delivery-filter.ts';
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

const exhausted = { ...everyDelivery, delivery: 'exhausted' } as const;

const listCommand: CommandSpec = {
  usage: 'list',
  summary: 'list events whose six attempts have failed',
  examples: ['deliveries list --application shop'],
  options: [option('--application <slug>', 'only of this application', 'of all'), limitOption()],
  run: async ({ options, list, operations }) => {
    const filter = { ...exhausted, application: textOf(options.application) };
    const found = await list((limit) => operations.events.list(filter, { after: null, limit }));
    const rows = found.map((row) => ({
      event: row.eventId,
      kind: row.kind,
      payment: row.paymentId,
      application: row.application,
      order: row.orderId,
      delivery: row.status,
      attempts: row.attempts,
      'last error': row.responseStatus ?? row.errorClass,
      test: row.test,
      created: row.createdAt,
    }));
    return { text: table(rows, 'No delivery is exhausted.'), json: found };
  },
};

const replayCommand: CommandSpec = {
  usage: 'replay [events...]',
  summary: 'send events again now: six new attempts if exhausted, the next attempt if failing',
  examples: [
    'deliveries replay 9d413a4a-9bbb-5a2a-abff-29c92712128f',
    'deliveries replay PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    'deliveries replay --application shop --rate 5 --yes --reason "receiver is back"',
  ],
  options: [
    option(
      '--application <slug>',
      'all exhausted deliveries of this application',
      'those that are named',
    ),
    option(
      '--rate <count>',
      'maximum a second, with --application',
      String(limits.replaysPerSecond),
    ).argParser(count(limits.workerReplaysPerSecond)),
    reasonOption(),
  ],
  findMisuse: ({ application, rate }, args) => {
    if ((textOf(application) === null) === (args.length === 0))
      return 'Name either events, payments with one event, or an --application.';
    return rate !== undefined && args.length > 0 ? '--rate goes with --application alone' : null;
  },
  describeChange: ({ length }, { application }) =>
    typeof application === 'string'
      ? `All exhausted events of ${application} are sent again.`
      : length === 1
        ? 'The event is sent again.'
        : `${length} events are sent again.`,
  run: async (call) => {
    const application = textOf(call.options.application);
    return application === null ? replayEach(call) : replayAll(call, application);
  },
};

const replayEach = async ({ args, reason, operations }: Call): Promise<Output> => {
  const results: {
    id: string;
    event: Pick<EventSummary, 'eventId' | 'kind' | 'paymentId'> | null;
    result: string;
    why: string;
  }[] = [];
  for (const id of args) {
    let event: EventSummary | null = null;
    try {
      event = await operations.events.named(id);
      const when = await operations.replays.replayOne(event.eventId, reason);
      results.push({
        id,
        event,
        result: 'replayed',
        why: when === 'later' ? 'within 6 minutes' : '',
      });
    } catch (error) {
      if (!(error instanceof Refusal) || args.length === 1) throw error;
      results.push({ id, event, result: 'refused', why: error.message });
    }
  }
  const rows = results.map(({ id, event, result, why }) => ({
    event: event?.eventId ?? id,
    kind: event?.kind,
    payment: event?.paymentId,
    result,
    note: why,
  }));
  return {
    text: table(rows, ''),
    json: results.map(({ id, event, result, why }) => ({
      id,
      eventId: event?.eventId ?? null,
      event: event?.kind ?? null,
      paymentId: event?.paymentId ?? null,
      result,
      why,
    })),
    failed: results.some(({ result }) => result === 'refused'),
  };
};

/** Starts a replay and shows its progress until its end. Ctrl-C stops it before its next event. */
const replayAll = async (call: Call, application: string): Promise<Output> => {
  const { options, reason, operations, io, interruption } = call;
  const page = { after: null, limit: 1 };
  const [any] = await operations.events.list({ ...exhausted, application }, page);
  if (!any) return { text: 'No delivery is exhausted.', json: [] };
  const filter = { ...exhausted, application, to: new Date() };
  const perSecond = Number(options.rate ?? limits.replaysPerSecond);
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
  usage: 'show <id>',
  summary: 'show an event, or all events of a payment and its refunds, with every attempt',
  examples: [
    'deliveries show 9d413a4a-9bbb-5a2a-abff-29c92712128f',
    'deliveries show PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  ],
  run: async ({ args: [id = ''], operations }) => {
    const ids = id.startsWith('PAY_')
      ? (await operations.events.listOfPayment(id)).map(({ eventId }) => eventId)
      : [id];
    const found = await Promise.all(ids.map((each) => operations.events.get(each)));
    return {
      text: found.length > 0 ? found.map(formatEvent).join('\n\n') : `${id} has no event yet.`,
      json: found.map(({ event: { body, ...event }, workflowUrl }) => ({
        ...event,
        body: body.toString(),
        workflowUrl,
      })),
    };
  },
};

const formatEvent = ({ event, workflowUrl }: EventDetails): string => {
  const summary = facts({
    event: event.eventId,
    kind: event.kind,
    payment: event.paymentId,
    ...(event.refundId !== null && { refund: event.refundId }),
    ...(event.disputeId !== null && { dispute: event.disputeId }),
    application: event.application,
    delivery: deliveryStateOf(event.status, event.errorClass),
    round: event.round,
    'next attempt': event.nextAttemptAt,
    workflow: workflowUrl,
  });
  const rows = event.attempts.map((attempt) => ({
    attempt: attempt.number,
    round: attempt.round,
    trigger: attempt.trigger,
    time: attempt.startedAt,
    ms: attempt.durationMs,
    status: attempt.responseStatus,
    result: attempt.completedAt === null ? 'not completed' : (attempt.errorClass ?? 'delivered'),
    error: attempt.error,
  }));
  return `${summary}\n\n${table(rows, 'There was no attempt.')}`;
};

export const deliveryCommands: CommandGroup = {
  name: 'deliveries',
  summary: 'show deliveries of events, list exhausted ones, send them again',
  examples: ['deliveries list', 'deliveries show --help', 'deliveries replay --help'],
  commands: [listCommand, showCommand, replayCommand],
};
