import type { z } from 'zod';
import { newReplayId } from '../../contract/ids.ts';
import { limits } from '../../contract/limits.ts';
import { CreateReplay, ReplayPlanResponse, ReplayResponse } from '../../contract/replays.ts';
import { everyDelivery } from '../../postgres/webhooks/delivery-filter.ts';
import type { Replays } from '../../postgres/webhooks/replays.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { ownerOf } from '../http/owned-records.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { invalidBody, parseBody } from '../http/validation.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { presentReplay, replayExamples } from './present-replay.ts';

const createExamples = {
  count: { from: '2026-11-17', to: '2026-11-17', dry_run: true },
  exhausted: { from: '2026-11-17', to: '2026-11-17' },
  delivered: {
    from: '2026-11-17T08:00:00Z',
    to: '2026-11-17T09:30:00Z',
    delivery: 'delivered',
  },
} satisfies Record<string, z.input<typeof CreateReplay>>;

export const createReplayRoute = {
  tag: 'Events',
  summary: 'Deliver the events of a time range again',
  description:
    `Replays at most ${limits.replayEvents} events of at most ${limits.replayDays} days, oldest first, ` +
    `at most ${limits.replaysPerSecond} a second, and ${limits.workerReplaysPerSecond} in one worker for all applications. One replay at a time runs for an application and token mode. With ` +
    '`dry_run` it only counts.',
  body: { json: CreateReplay, examples: createExamples },
  // To a `to` before its `from`.
  validationExample: { path: 'to', rule: 'too_small', message: 'must be later than from' },
  responses: {
    200: {
      description: 'The count of a dry run.',
      content: ReplayPlanResponse,
      examples: { count: { matched: 412 } },
    },
    202: {
      description: 'The replay, `running`.',
      headers: ['location'],
      content: ReplayResponse,
      examples: { running: { ...replayExamples.running, begun: 0, refused: 0 } },
    },
  },
  errors: ['REPLAY_NOT_POSSIBLE'],
} as const satisfies RouteSpec;

export interface Deps {
  replays: Pick<Replays, 'countMatching' | 'insert' | 'getRunningId'>;
  workflows: Pick<WorkflowCalls, 'startReplayMany'>;
  publicBaseUrl: string;
}

export const createReplayHandler = (
  deps: Deps,
): Handler<'application', typeof createReplayRoute> => {
  const { replays, workflows, publicBaseUrl } = deps;

  return async (request) => {
    const { caller, refuse } = request;
    const body = parseBody(CreateReplay, await request.readJson(), refuse);
    const { from, to, delivery, dry_run: isDryRun } = body;
    const owner = ownerOf(caller);
    const filter = { ...everyDelivery, ...owner, delivery, from, to };
    const matched = await replays.countMatching(filter, limits.replayEvents + 1);
    if (matched > limits.replayEvents)
      throw invalidBody(refuse, [
        {
          path: 'to',
          rule: 'too_big',
          message: `must be earlier: the time range has more than ${limits.replayEvents} such events`,
        },
      ]);
    if (isDryRun) return { status: 200, body: JSON.stringify({ matched }) };
    if (caller.webhookUrl === null)
      throw refuse(
        'REPLAY_NOT_POSSIBLE',
        'The application has no webhook URL: an admin can set one.',
      );

    const running = { ...owner, trigger: 'application' } as const;
    const isRunning = await replays.getRunningId(running);
    if (isRunning === undefined) {
      const id = newReplayId();
      // Before the record, which the workflow waits for: without Temporal there is no replay.
      await unavailableIfTemporalIsDown(
        workflows.startReplayMany(id, owner.application),
        'The events cannot be replayed now.',
      );
      const replay = await replays.insert({ ...filter, id, matched });
      if (replay)
        return {
          status: 202,
          body: presentReplay(replay),
          headers: { location: `${publicBaseUrl}/api/v1/replays/${id}` },
        };
    }
    const runningId = await replays.getRunningId(running);
    // Does nothing unless the workflow was lost, e.g. with Temporal's database.
    if (runningId) await workflows.startReplayMany(runningId, owner.application).catch(() => {});
    throw refuse(
      'REPLAY_NOT_POSSIBLE',
      `Another replay is running${runningId ? `: ${runningId}` : ''}.`,
      runningId ? { details: { replay_id: runningId } } : {},
    );
  };
};
