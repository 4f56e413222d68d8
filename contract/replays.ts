import { z } from 'zod';
import { eventKinds } from './event.ts';
import { replayIdPattern } from './ids.ts';
import { limits } from './limits.ts';
import { laterThanFrom, notAhead, timeBound, timeRule } from './list.ts';
import { openEnum, time } from './response-fields.ts';
import { dayMs } from './time.ts';
import { oneOf, requestObject } from './request-fields.ts';

const mustBeText = { error: 'must be a string' };

/** The request to deliver the events of a time again. */
export const CreateReplay = requestObject({
  from: timeBound(0, mustBeText)
    .refine(...notAhead)
    .meta({ description: `Events created at this time or later. ${timeRule}` }),
  to: timeBound(dayMs, mustBeText).meta({
    description: `Events created before this time; a date includes its whole day in UTC. At most ${limits.replayDays} days after \`from\`. ${timeRule}`,
  }),
  delivery: z
    .enum(['exhausted', 'delivered'], { error: 'must be exhausted or delivered' })
    .default('exhausted')
    .meta({ description: 'The events whose delivery has this status.' }),
  dry_run: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({ description: 'True only counts the events, and replays nothing.' }),
})
  .refine(...laterThanFrom)
  .refine(({ from, to }) => to.getTime() - from.getTime() <= limits.replayDays * dayMs, {
    path: ['to'],
    error: `must be at most ${limits.replayDays} days after from`,
    params: { rule: 'too_big' },
  })
  .meta({ id: 'CreateReplay' });

export const ReplayId = z
  .string()
  .regex(replayIdPattern)
  .meta({ description: 'The id of a replay.', examples: ['RPL_01K9Z5W6X7Y8ZABCDEFGHJKMNP'] });

const matched = z.int().min(0).meta({ description: 'Events that matched at the start.' });

export const ReplayPlanResponse = z.strictObject({ matched }).meta({ id: 'ReplayPlan' });

export const ReplayResponse = z
  .strictObject({
    replay_id: ReplayId,
    status: openEnum(['running', 'done', 'stopped']).meta({
      description: 'It stops when asked to, or when the application has no webhook URL any more.',
    }),
    delivery: openEnum(['exhausted', 'delivered']),
    from: time('As sent; a date as its first moment.'),
    to: time('As sent; a date as the end of its day.'),
    matched,
    begun: z.int().min(0).meta({ description: 'Events whose next round has begun.' }),
    refused: z.int().min(0).meta({
      description: 'Events that had another status when their turn came.',
    }),
    created_at: time('When the replay was created.'),
    ended_at: time('Null while it runs.').nullable(),
  })
  .meta({ id: 'Replay' });
export type ReplayResponse = z.infer<typeof ReplayResponse>;

/** The request for a signed sample. */
export const TestWebhook = requestObject({
  event: oneOf(eventKinds).default('payment.paid').meta({ description: 'The kind of the sample.' }),
}).meta({ id: 'TestWebhook' });

export const WebhookTestResponse = z
  .strictObject({
    sent: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'The body that was sent, an event of a payment that does not exist; null if nothing was sent.',
    }),
    response_status: z.int().nullable(),
    duration_ms: z.int().min(0).nullable(),
    error: z.string().nullable().meta({
      description: 'The class of the failure, as of an attempt; null if the receiver accepted it.',
    }),
    response_body: z.string().nullable().meta({
      description:
        "The start of the receiver's answer, at most 4 KB; null if it accepted the event.",
    }),
    response_truncated: z.boolean(),
  })
  .meta({ id: 'WebhookTest' });
export type WebhookTestResponse = z.infer<typeof WebhookTestResponse>;
