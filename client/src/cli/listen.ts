import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { ApiError, PaymentsError } from '../errors.ts';
import type { EventDetail, EventSummary } from '../types.ts';
import { sign } from '../webhooks.ts';
import type { Cli } from './output.ts';
import { print, printError, refuseLive, sleep, UsageError } from './output.ts';

const pollMs = 3_000;
/** As long as the service waits for a receiver. */
const answerMs = 10_000;
/** The clocks of this machine and of the service may differ by this much. */
const clockDifferenceMs = 300_000;
const maxSeen = 10_000;

interface Forwarded {
  event: EventDetail;
  body: string;
  attempts: number;
}

/**
 * `listen --forward-to URL`: asks for new events, and posts them as the service would. The service delivers
 * them to the webhook URL that is set, too.
 */
export const listen = async (cli: Cli): Promise<void> => {
  refuseLive(cli, 'listen');
  const secret = secretOf(cli.token);
  if (cli.flags['print-secret']) return print(secret);
  const url = targetOf(cli.flags['forward-to']);
  const { from } = cli.flags;
  const startedAt = from === undefined ? await startOf(cli) : undefined;
  const since = new Date(Date.now() - (from === undefined ? clockDifferenceMs : ageMs(from)));
  let last: Forwarded | undefined;
  let isPosting = Promise.resolve();
  const post = (forwarded: Forwarded) => {
    last = forwarded;
    // One after another, also where r is pressed meanwhile.
    isPosting = isPosting.then(() => forward(forwarded, { url, secret }));
    return isPosting;
  };
  onKey('r', () => {
    if (last) void post({ ...last, attempts: last.attempts + 1 });
  });

  const seen = new Set<string>();
  const find = () => findNew(cli, since, seen);
  if (startedAt !== undefined)
    for (const { event_id: id, created_at } of await find())
      if (Date.parse(created_at) < startedAt) seen.add(id);
  print(`Ready. Events go to ${url}, signed with ${secret}; r sends the last one again.`);
  for (;;) {
    try {
      for (const { event_id: id } of await find()) {
        const { data: event, text } = await cli.client.events.get(id).withResponse();
        await post({ event, body: payloadIn(text), attempts: 1 });
        seen.add(id);
      }
      dropOldest(seen);
      await sleep(pollMs);
    } catch (error) {
      if (!(error instanceof PaymentsError) || !error.retryable) throw error;
      const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined;
      const seconds = Math.min(Math.max(asked ?? 0, pollMs / 1000), 60);
      printError(`${error.message} The next try is in ${seconds} seconds.`);
      await sleep(seconds * 1000);
    }
  }
};

/**
 * When this process has started, by the clock of the service: what happens after it is new, also before the first look.
 * The service tells whole seconds: the clocks are taken as equal where they can be, and else an event too much is new.
 */
const startOf = async ({ client }: Cli): Promise<number> => {
  const askedAt = Date.now();
  const { headers } = await client.me().withResponse();
  const date = Date.parse(headers.get('date') ?? '') || askedAt;
  const ahead = date - Date.now();
  const canBeEqual = ahead <= 0 && date + 1_000 >= askedAt;
  return performance.timeOrigin + (canBeEqual ? 0 : ahead);
};

/** The events that were not seen, oldest first. One can appear below a newer one, so whole pages are read. */
const findNew = async ({ client }: Cli, since: Date, seen: ReadonlySet<string>) => {
  const found: EventSummary[] = [];
  const query = { from: since.toISOString(), per_page: 100 };
  for await (const { data } of client.events.list(query).pages()) {
    const unseen = data.filter(({ event_id: id }) => !seen.has(id));
    found.push(...unseen);
    if (unseen.length < data.length) break;
  }
  return found.toReversed();
};

const forward = async (
  { event, body, attempts }: Forwarded,
  { url, secret }: { url: string; secret: string },
): Promise<void> => {
  const timestamp = Math.floor(Date.now() / 1000);
  const begin = performance.now();
  const result = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhook/1.0',
      'x-service-event': event.event,
      'x-service-event-id': event.event_id,
      'x-service-timestamp': String(timestamp),
      'x-service-delivery-attempt': String(attempts),
      'x-service-signature': await sign({ body, secret, timestamp }),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMs),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return String(response.status);
    },
    (error: Error) => ((error.cause ?? error) as Error).message,
  );
  const ms = Math.round(performance.now() - begin);
  print(`${event.event} ${event.payment_id} ${event.order_id}: ${result} in ${ms} ms`);
};

/** The text of the payload: the bytes that the service has frozen, with their number literals. */
const payloadIn = (text: string): string => {
  // In a string the quotes would have backslashes, so this is the member itself.
  const begin = text.indexOf('"payload":') + '"payload":'.length;
  let depth = 0;
  // Strings are matched whole, so that the braces in them do not count.
  for (const { 0: part, index } of text.slice(begin).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (part === '{') depth += 1;
    if (part === '}') depth -= 1;
    if (depth === 0) return text.slice(begin, begin + index + part.length);
  }
  throw new Error('The event of the service has no payload.');
};

/** The same after each start, and unlike the application's own. */
const secretOf = (token: string): string =>
  `whsec_${createHmac('sha256', token).update('payments listen').digest('hex').slice(0, 43)}`;

const targetOf = (text: string | undefined): string => {
  if (text === undefined) throw new UsageError('listen needs --forward-to URL.');
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new UsageError('--forward-to must be a URL.');
  return new URL(address).href;
};

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `10m`, `1h`, `2d`. */
const ageMs = (text: string): number => {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  if (ms === undefined) throw new UsageError('--from must be a time such as 30s, 10m, 1h or 2d.');
  return Number(count) * ms;
};

/** Whether the terminal would stop this process for reading a key. Node cannot ask the terminal itself. */
const inBackground = (): boolean => {
  const ps = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]);
  const [own, foreground] = String(ps.stdout).trim().split(/\s+/);
  return foreground !== undefined && own !== foreground;
};

const onKey = (key: string, act: () => void): void => {
  const { stdin } = process;
  if (stdin.isTTY && inBackground()) return;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', (data: Buffer) => {
    const keys = data.toString();
    // A raw terminal sends Ctrl-C as a character.
    if (keys.includes('\u0003')) process.exit(0);
    if (keys.includes(key)) act();
  });
};

const dropOldest = (seen: Set<string>): void => {
  for (const id of seen) {
    if (seen.size <= maxSeen) return;
    seen.delete(id);
  }
};
