import { z } from 'zod';
import { limits } from './limits.ts';
import { receiverStates } from './receiver.ts';
import { nullableText, openEnum, time } from './response-fields.ts';

const count = z.int().min(0).max(limits.receiverEvents);
const counted = `Counted to ${limits.receiverEvents.toLocaleString('en')}.`;

/** The health of the receiver behind the webhook URL, in the token's mode. */
export const WebhookResponse = z
  .strictObject({
    state: openEnum([...receiverStates, 'none']).meta({
      description:
        '`failing`: an event was refused three times or more. `exhausted`: an event has no attempt left. Both end when the receiver accepts an event. `none`: the application has no webhook URL.',
    }),
    since: time(
      'When the state began, within half a minute. Null if the receiver never had trouble.',
    ).nullable(),
    waiting: count.meta({ description: `Events that are not delivered yet. ${counted}` }),
    exhausted: count.meta({
      description: `Events that have no attempt left; a replay delivers them again. ${counted}`,
    }),
    last_error: nullableText(
      'The class of the last failure, as of an attempt; null unless the state is `failing` or `exhausted`.',
    ),
    last_accepted_at: time('When the receiver last accepted an event.').nullable(),
    next_attempt_at: time('When the next attempt is due, of the events that wait.').nullable(),
  })
  .meta({ id: 'Webhook' });
export type WebhookResponse = z.infer<typeof WebhookResponse>;
