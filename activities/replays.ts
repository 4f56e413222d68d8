import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, heartbeat } from '@temporalio/activity';
import { limits } from '../contract/limits.ts';
import type { Deliveries } from '../postgres/webhooks/deliveries.ts';
import type { Sql } from '../postgres/driver/sql.ts';
import {
  replayNext,
  type ReplayedEvent,
  type Replays,
  type RunningReplay,
} from '../postgres/webhooks/replays.ts';
import { eventNotFound, replayBusy, replayNotFound } from '../temporal/failures.ts';
import type { ReplayInput, ReplayManyInput, ReplayResult } from '../temporal/messages.ts';
import { replayDelivery } from '../temporal/replay-delivery.ts';
import type { WorkflowCalls } from '../temporal/workflow-calls.ts';
import type { Log } from './log.ts';
import type { Pace } from './pace.ts';

export interface Deps {
  sql: Sql;
  deliveries: Pick<Deliveries, 'exists' | 'replay'>;
  replays: Pick<Replays, 'getForWorker' | 'listNext' | 'end'>;
  /** All replays of this worker share it. */
  replayPace: Pace;
  workflows: Pick<WorkflowCalls, 'deliver'>;
  now: () => Date;
  logger: Pick<Log, 'info'>;
}

/** Less than the timeout of the activity, so that a stopping worker loses little. */
const batchMs = 15_000;
const batchSize = 50;
/** The API commits the record within seconds after the start, or never. */
const attemptsForRecord = 30;
const busyPauseMs = 2_000;

/** Replays deliveries. The payments' own workflows carry them out. */
export const createReplayActivities = (deps: Deps) => {
  const { sql, deliveries, replays, replayPace, workflows, now, logger } = deps;

  const waitForTurn = async (): Promise<void> => {
    const waitMs = replayPace.takeTurn();
    if (waitMs === undefined) throw replayBusy(busyPauseMs);
    await sleep(waitMs);
  };

  /** @returns false if the replay is to stop, or another try of the activity has taken over */
  const advance = async (replay: RunningReplay, event: ReplayedEvent): Promise<boolean> => {
    await waitForTurn();
    const result = await replayDelivery(
      () => replayNext(sql, replay, event, now()),
      workflows.deliver,
    );
    replay.after = { at: event.createdAt, id: event.id };
    return result !== 'overtaken';
  };

  return {
    /** Begins the next round of one event, or sends a failing one now, unless somebody did since the caller looked. */
    async replayEvent({ eventId, round }: ReplayInput): Promise<ReplayResult> {
      await waitForTurn();
      const startedAt = now();
      const start = {
        from: ['pending', 'exhausted', 'delivered'],
        round,
        trigger: 'application',
        now: startedAt,
      } as const;
      const replayed = await replayDelivery(
        () => deliveries.replay(eventId, start),
        workflows.deliver,
      );
      if (!replayed) {
        if (!(await deliveries.exists(eventId))) throw eventNotFound(eventId);
        return { result: 'unchanged' };
      }
      logger.info({ event_id: eventId, round }, 'An application replays an event');
      return { result: 'begun', nextAttemptAt: startedAt.toISOString() };
    },

    /** Replays events for some seconds, oldest first. */
    async replaySome({ replayId }: ReplayManyInput): Promise<'more' | 'ended'> {
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
          if (!(await advance(replay, event))) return 'more';
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
