import { ReplayResponse } from '../../contract/replays.ts';
import type { Replays } from '../../postgres/webhooks/replays.ts';
import { findOwnReplay } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { presentReplay, replayExamples, replayParams } from './present-replay.ts';

export const getReplayRoute = {
  tag: 'Events',
  summary: 'Get the progress of a replay',
  description: 'A replay of another application, or of the other token mode, responds `404`.',
  params: replayParams,
  responses: {
    200: { description: 'The replay.', content: ReplayResponse, examples: replayExamples },
  },
  errors: ['REPLAY_NOT_FOUND'],
} as const satisfies RouteSpec;

export const getReplayHandler =
  ({ replays }: { replays: Pick<Replays, 'get'> }): Handler<'application', typeof getReplayRoute> =>
  async (request) => ({ status: 200, body: presentReplay(await findOwnReplay(replays, request)) });
