import type { EventSummary, ListEvents } from '../types.ts';
import type { Cli } from './output.ts';
import { countOf, print, printJson, UsageError } from './output.ts';

export const lineOf = ({
  created_at,
  event,
  delivery,
  event_id,
  payment_id,
  order_id,
}: EventSummary) =>
  [created_at, event.padEnd(17), delivery.status.padEnd(9), event_id, payment_id, order_id].join(
    '  ',
  );

/** `events list`: newest first. */
export const listEvents = async ({ client, flags }: Cli): Promise<void> => {
  const limit = countOf('--limit', flags.limit ?? '20', 1_000_000);
  const { delivery, payment, order } = flags;
  let count = 0;
  const query = {
    ...(delivery !== undefined && { delivery }),
    ...(payment !== undefined && { payment_id: payment }),
    ...(order !== undefined && { order_id: order }),
    per_page: Math.min(limit, 100),
    // The service checks the values, and its error names those that it knows.
  } as ListEvents;
  for await (const event of client.events.list(query)) {
    if (flags.json) printJson(event);
    else print(lineOf(event));
    count += 1;
    if (count === limit) return;
  }
  if (count === 0 && !flags.json) print('There is no such event.');
};

/** `events show ID`: the event with its payload, its delivery and every attempt. */
export const showEvent = async ({ client, word }: Cli): Promise<void> =>
  printJson(await client.events.get(word), 2);

/** `events replay ID`: begins another round of attempts. */
export const replayEvent = async ({ client, word, flags }: Cli): Promise<void> => {
  if (client.mode === 'live' && !flags.live)
    throw new UsageError('The token is live, so this sends a real event: add --live to do it.');
  const { delivery } = await client.events.replay(word);
  print(
    `Round ${delivery.round} is ${delivery.status}: ${delivery.attempts_left} attempts are left.`,
  );
};
