import { ReplayResponse } from '../../contract/replays.ts';
import type { Replays } from '../../postgres/webhooks/replays.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { findOwnReplay } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';
import { presentReplay, replayExamples, replayParams } from './present-replay.ts';

export const stopReplayRoute = {
  tag: 'Events',
  summary: 'Stop a replay',
  description:
    'It stops before its next event. Rounds that have begun go on. Safe to repeat; a replay that has ended ' +
    'stays as it is.',
  params: replayParams,
  responses: {
    202: { description: 'The replay.', content: ReplayResponse, examples: replayExamples },
  },
  errors: ['REPLAY_NOT_FOUND'],
} as const satisfies RouteSpec;

export interface Deps {
  replays: Pick<Replays, 'get' | 'requestStop'>;
  workflows: Pick<WorkflowCalls, 'startReplayMany'>;
}

export const stopReplayHandler =
  ({ replays, workflows }: Deps): Handler<'application', typeof stopReplayRoute> =>
  async (request) => {
    const replay = await findOwnReplay(replays, request);
    if (replay.status === 'running') {
      await replays.requestStop(replay.id);
      // Does nothing unless the workflow was lost: then nobody else would see the mark.
      await unavailableIfTemporalIsDown(
        workflows.startReplayMany(replay.id, replay.application),
        'The stop is recorded, and Temporal is not available now.',
      );
    }
    return { status: 202, body: presentReplay(await findOwnReplay(replays, request)) };
  };
