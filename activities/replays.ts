import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, heartbeat } from '@temporalio/activity';
import { limits } from '../contract/limits.ts';
import type { WorkflowStart } from '../contract/payment.ts';
import { createDeliveries, type RoundStart } from '../postgres/deliveries.ts';
import type { Queries, Sql } from '../postgres/driver/sql.ts';
import { createReplays, type ReplayedEvent, type RunningReplay } from '../postgres/replays.ts';
import { eventNotFound, replayBusy, replayNotFound } from '../temporal/failures.ts';
import type { ReplayInput, ReplayManyInput, ReplayResult } from '../temporal/messages.ts';
import type { PaymentWorkflows } from '../temporal/payment-workflows.ts';
import { replayDelivery } from '../temporal/replay-delivery.ts';
import type { Resets } from '../temporal/resets.ts';
import type { Bulkhead } from './bulkhead.ts';
import type { Log } from './log.ts';

export interface Deps {
  sql: Sql;
  paymentOutcomes: { get(id: string): Promise<WorkflowStart | undefined> };
  resets: Resets;
  /** Bounds the replays of an application that hold a connection to Postgres while Temporal resets. */
  replayBulkhead: Bulkhead;
  workflows: Pick<PaymentWorkflows, 'restart'>;
  now: () => Date;
  logger: Pick<Log, 'info'>;
}

/** Less than the timeout of the activity, so that a stopping worker loses little. */
const batchMs = 15_000;
const batchSize = 50;
/** The API commits the record within seconds after the start, or never. */
const attemptsForRecord = 30;

/** The statuses from which an application may begin another round. */
const replayable = ['exhausted', 'delivered'] as const;

const reasons = {
  application: 'Replayed by the application',
  admin: 'Re-triggered by an operator',
} as const;

/**
 * Begins further rounds of deliveries for applications, and of many deliveries for operators. The payments' own
 * workflows carry them out.
 */
export const createReplayActivities = (deps: Deps) => {
  const { sql, paymentOutcomes, resets, replayBulkhead, workflows, now, logger } = deps;

  const begin = (
    tx: Queries,
    { id, paymentId }: { id: string; paymentId: string },
    start: RoundStart & Pick<RunningReplay, 'trigger'>,
  ) =>
    replayDelivery(
      { paymentId, reason: reasons[start.trigger] },
      {
        beginRound: () => createDeliveries(tx).beginRound(id, start),
        toDelivery: resets.toDelivery,
      },
    );

  const startWorkflow = async (paymentId: string): Promise<void> => {
    const payment = await paymentOutcomes.get(paymentId);
    // Without it the sweeper starts the workflow once the delivery is overdue.
    if (payment) await workflows.restart(payment).catch(() => {});
  };

  /** @returns false if the replay is to stop, or another try of the activity has taken over */
  const replayNext = async (replay: RunningReplay, event: ReplayedEvent): Promise<boolean> => {
    const from = replay.after;
    const to = { at: event.createdAt, id: event.id };
    const { trigger } = replay;
    const round = { from: [replay.delivery], round: event.round, trigger, now: now() };
    const result = await sql.begin(async (tx) => {
      const replays = createReplays(tx);
      // First: a reset cannot be rolled back.
      if (!(await replays.advance(replay.id, { from, to }))) return 'overtaken';
      const workflow = await begin(tx, event, round);
      await replays.recordResult(replay.id, event.id, { begun: workflow !== undefined });
      return workflow;
    });
    if (result === 'overtaken') return false;
    replay.after = to;
    if (result === 'no_history') await startWorkflow(event.paymentId);
    return true;
  };

  return {
    /** Begins the next round of one event, unless somebody has begun it since the caller looked. */
    async replayEvent({ eventId, round }: ReplayInput): Promise<ReplayResult> {
      const [event] = await sql<{ id: string; paymentId: string; application: string }[]>`
        select event_id as id, payment_id as "paymentId", application from deliveries
        where event_id = ${eventId}`;
      if (!event) throw eventNotFound(eventId);
      const startedAt = now();
      const start = { from: replayable, round, trigger: 'application', now: startedAt } as const;
      const slot = replayBulkhead.acquire(event.application, eventId);
      if (!slot.acquired) throw replayBusy(event.application, slot.retryAfterMs);
      const workflow = await sql
        .begin((tx) => begin(tx, event, start))
        .finally(() => slot.release());
      if (workflow === 'no_history') await startWorkflow(event.paymentId);
      if (workflow === undefined) return { result: 'unchanged' };
      logger.info({ event_id: eventId, round: round + 1 }, 'An application replays an event');
      return { result: 'begun', nextAttemptAt: startedAt.toISOString() };
    },

    /** Replays events for some seconds, oldest first. */
    async replaySome({ replayId }: ReplayManyInput): Promise<'more' | 'ended'> {
      const replays = createReplays(sql);
      const replay = await replays.getForWorker(replayId);
      if (!replay) throw replayNotFound(replayId, activityInfo().attempt >= attemptsForRecord);
      if (replay.status !== 'running') return 'ended';
      if (replay.stopRequested || replay.isWithoutUrl) {
        await replays.end(replayId, 'stopped');
        return 'ended';
      }
      const pauseMs = 1000 / (replay.perSecond ?? limits.replaysPerSecond);
      const until = performance.now() + batchMs;
      while (performance.now() < until) {
        const found = await replays.listNext(replay, batchSize);
        for (const event of found) {
          heartbeat();
          const nextAt = performance.now() + pauseMs;
          // The next activity finds out why.
          if (!(await replayNext(replay, event))) return 'more';
          await sleep(Math.max(nextAt - performance.now(), 0));
        }
        if (found.length < batchSize) {
          await replays.end(replayId, 'done');
          return 'ended';
        }
      }
      return 'more';
    },
  };
};
