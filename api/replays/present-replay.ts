import { z } from 'zod';
import { formatObject } from '../../contract/json-text.ts';
import { ReplayId, type ReplayResponse } from '../../contract/replays.ts';
import { isoTime } from '../../contract/time.ts';
import type { OwnReplay } from '../../postgres/webhooks/replays.ts';

export const replayParams = z.object({ replay_id: ReplayId });

export const presentReplay = (replay: OwnReplay): string =>
  formatObject({
    replay_id: replay.id,
    status: replay.status,
    delivery: replay.delivery,
    from: isoTime(replay.from),
    to: isoTime(replay.to),
    matched: replay.matched,
    begun: replay.begun,
    refused: replay.refused,
    created_at: isoTime(replay.createdAt),
    ended_at: replay.endedAt && isoTime(replay.endedAt),
  });

export const replayExamples = {
  running: {
    replay_id: 'RPL_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
    status: 'running',
    delivery: 'exhausted',
    from: '2026-11-17T00:00:00.000+00:00',
    to: '2026-11-18T00:00:00.000+00:00',
    matched: 412,
    begun: 37,
    refused: 1,
    created_at: '2026-11-20T10:41:37.123+00:00',
    ended_at: null,
  },
} satisfies Record<string, ReplayResponse>;
