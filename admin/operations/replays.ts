import { newReplayId, replayIdPattern } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import { isoTime } from '../../contract/time.ts';
import type { EventSummary } from '../../postgres/admin/events.ts';
import { createDeliveries } from '../../postgres/webhooks/deliveries.ts';
import {
  createReplays,
  type OperatorReplay,
  type Replay,
  type ReplayFilter,
  type ReplayResult,
} from '../../postgres/webhooks/replays.ts';
import { type Replayed, replayDelivery } from '../../temporal/replay-delivery.ts';
import { findApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';
import { findEvent } from './events.ts';
import { needTemporal } from './need-temporal.ts';

export interface ReplayOptions {
  /** A limit for the sake of the receivers, up to what one worker begins a second. */
  perSecond: number;
  reason: string | null;
}

/** Replays of one delivery or of many, for operators. Applications' replays are among the many. */
export const createReplayOperations = ({
  sql,
  change,
  temporal,
  now,
}: Pick<Deps, 'sql' | 'change' | 'temporal' | 'now'>) => {
  const replays = createReplays(sql);

  const startWorkflow = (id: string, application: string | null): Promise<void> =>
    needTemporal(async () => (await temporal()).startReplayMany(id, application));

  /** @throws Refusal */
  const find = async (id: string): Promise<OperatorReplay> => {
    const replay = replayIdPattern.test(id) ? await replays.find(id) : undefined;
    if (!replay) throw new NotFound(`There is no replay ${id}.`);
    return replay;
  };

  /** @throws Refusal without one, NotFound */
  const needWebhookUrl = async (application: string): Promise<void> => {
    const { webhookUrl } = await findApplication(sql, application);
    if (webhookUrl === null) throw new Refusal('The application has no webhook URL.');
  };

  /** @throws Refusal if there are none, or too many */
  const count = async (filter: ReplayFilter): Promise<number> => {
    if (filter.application !== null) await needWebhookUrl(filter.application);
    const matched = await replays.countMatching(filter, limits.replayEvents + 1);
    if (matched === 0)
      throw new Refusal(
        `No ${filter.delivery} delivery matches. Those of applications without a webhook URL do not count.`,
      );
    if (matched > limits.replayEvents)
      throw new Refusal(
        `More than ${limits.replayEvents.toLocaleString('en')} deliveries match. Choose an application or a shorter time.`,
      );
    return matched;
  };

  return {
    count,
    needWebhookUrl,
    get: find,
    listResults: (id: string, page: { after: number; limit: number }): Promise<ReplayResult[]> =>
      replays.listResults(id, page),
    list: (limit: number, test: boolean | null = null): Promise<OperatorReplay[]> =>
      replays.list(limit, test),
    listRunning: (limit: number, test: boolean): Promise<Replay[]> =>
      replays.listRunning(limit, test),

    /**
     * Begins the next round of an event's delivery that is over, or makes the next attempt of a failing one now. Two
     * calls at once make one attempt.
     */
    async replayOne(id: string, reason: string | null): Promise<Replayed> {
      const event = await findEvent(sql, id);
      const { paymentId, kind, status: delivery, application } = event;
      if (delivery !== 'none') await needWebhookUrl(application);
      const record = () =>
        change(
          { action: 'delivery.replay', subject: `payment:${paymentId}`, reason },
          async (tx) => {
            if (delivery === 'none') throw refusalOf(event);
            const start = { from: [delivery], trigger: 'admin', now: now() } as const;
            const result = await createDeliveries(tx).replay(id, start);
            if (!result) throw refusalOf(event);
            const named = { event: id, kind };
            return {
              result,
              before: { ...named, delivery },
              after: { ...named, delivery: 'pending' },
            };
          },
        );
      return replayDelivery<never>(record, async (start) => (await temporal()).deliver(start));
    },

    /** Begins the next round of every delivery that matches. @returns the id of the replay */
    async start(filter: ReplayFilter, { perSecond, reason }: ReplayOptions): Promise<string> {
      const fastest = limits.workerReplaysPerSecond;
      if (!(Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= fastest))
        throw new Refusal(`The rate is a whole number from 1 to ${fastest} a second.`);
      const matched = await count(filter);
      const { application, test } = filter;
      const running = { application, test, trigger: 'admin' } as const;
      const runningId = filter.eventIds ? undefined : await replays.getRunningId(running);
      if (runningId !== undefined) throw alreadyRunning(runningId);
      const id = newReplayId();
      // Before the record, which the workflow waits for: without Temporal there is no replay.
      await startWorkflow(id, null);
      await change(
        { action: 'delivery.replay_many', subject: `replay:${id}`, reason },
        async (tx) => {
          const created = createReplays(tx);
          if (!(await created.insertOfOperator({ ...filter, id, matched, perSecond })))
            throw alreadyRunning((await created.getRunningId(running)) ?? '');
          const after = { ...toAuditFacts(filter), events: matched, per_second: perSecond };
          return { before: null, after };
        },
      );
      return id;
    },

    /** It stops before its next event. Rounds that have begun go on. */
    async stop(id: string, reason: string | null): Promise<void> {
      await change(
        { action: 'delivery.replay_stop', subject: `replay:${id}`, reason },
        async (tx) => {
          const { status, stopRequested, begun, refused, matched } = await find(id);
          if (status !== 'running') throw new Refusal('It has ended already.');
          if (stopRequested) throw new Refusal('It is stopping already.');
          await createReplays(tx).requestStop(id);
          return { before: { begun, refused, events: matched }, after: null };
        },
      );
      const { trigger, application } = await find(id);
      // Does nothing unless the workflow was lost: then nobody else would see the mark.
      await startWorkflow(id, trigger === 'admin' ? null : application).catch(() => {});
    },
  };
};

const refusalOf = ({ eventId, kind, paymentId, status }: EventSummary): Refusal =>
  new Refusal(
    status === 'none'
      ? `${kind} of ${paymentId} has no delivery: its application had no webhook URL when it was recorded.`
      : `An attempt of ${kind} (${eventId}) is due now, runs, or was just made.`,
  );

const alreadyRunning = (id: string) =>
  new Refusal(`Another replay of this application and mode is running: ${id}.`);

const toAuditFacts = ({
  application,
  test,
  kind,
  delivery,
  from,
  to,
  errorClass,
  eventIds,
}: ReplayFilter) => ({
  delivery,
  application: application ?? 'all',
  mode: test === null ? 'live and test' : test ? 'test' : 'live',
  ...(kind !== null && { kind }),
  ...(errorClass !== null && { error: errorClass }),
  ...(eventIds ? { selected: true } : { from: from && isoTime(from), to: isoTime(to) }),
});
