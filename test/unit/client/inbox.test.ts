import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createInbox,
  inboxTables,
  type InboxOptions,
  sqliteQuery,
} from '../../../client/src/inbox.ts';
import { Payments } from '../../../client/src/index.ts';
import { sign } from '../../../client/src/webhooks.ts';

const secret = `whsec_${'s'.repeat(43)}`;

/** A shop that keeps the ids of the events that have changed it. */
const aShop = (client: Payments, options: Partial<InboxOptions> = {}) => {
  const database = new DatabaseSync(':memory:');
  database.exec(inboxTables);
  const query = sqliteQuery(database);
  const taken: string[] = [];
  const inbox = createInbox({
    client,
    secret,
    since: new Date(0),
    query,
    async once(event, isFirst) {
      if (await isFirst(query)) taken.push(event.event_id);
    },
    ...options,
  });
  return {
    taken,
    inbox,
    async webhook(event: unknown) {
      const body = JSON.stringify(event);
      return inbox.receive({ body, signature: await sign({ body, secret }) });
    },
  };
};

const aClientOf = (mode: 'live' | 'test') =>
  new Payments({ token: `svc_${mode}_${'t'.repeat(43)}`, baseUrl: 'http://127.0.0.1:9' });
const anEvent = (test: boolean) => ({ event: 'payment.paid', event_id: randomUUID(), test });

describe('receive', () => {
  it.each(['live', 'test'] as const)(
    'takes events of its own mode alone, with a %s token',
    async (mode) => {
      const shop = aShop(aClientOf(mode));
      const [own, other] = [anEvent(mode === 'test'), anEvent(mode === 'live')];
      expect(await shop.webhook(other)).toEqual({ event: other, isFirst: false });
      expect(await shop.webhook(own)).toEqual({ event: own, isFirst: true });
      expect(shop.taken).toEqual([own.event_id]);
      // It was not taken, so the feed of its mode can bring it.
      const both = aShop(aClientOf(mode), { bothModes: true });
      expect(await both.webhook(other)).toEqual({ event: other, isFirst: true });
      expect(await both.webhook(own)).toEqual({ event: own, isFirst: true });
      expect(both.taken).toEqual([other.event_id, own.event_id]);
    },
  );

  it.each([null, 1, 'text', [], {}])('refuses %j, which is no event', async (body) => {
    const shop = aShop(aClientOf('live'));
    await expect(shop.webhook(body)).rejects.toMatchObject({ reason: 'body', status: 500 });
    expect(shop.taken).toEqual([]);
  });
});

type Reply = () => Response;
const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  () =>
    Response.json(body, { status, headers });
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  reply(status, { error: { code, message: `About ${code}.` } }, headers);

/** A page of the feed with one event. */
const page = (n: number, more: boolean, headers: Record<string, string> = {}) => {
  const payload = { event: 'payment.paid', event_id: `e-${n}`, test: true };
  const pagination = { per_page: 100, has_more: more, next_cursor: `c${n}` };
  return reply(200, { data: [{ event_id: `e-${n}`, payload }], pagination }, headers);
};
const budget = (limit: number, remaining: number) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  date: 'Fri, 20 Nov 2026 10:41:37 GMT',
});

describe('catchUp', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  /** A shop whose service gives these answers in turn, and then the last of them. The waits pass at once. */
  const aReader = (replies: Reply[]) => {
    const seen: { url: string; at: number }[] = [];
    const client = new Payments({
      token: `svc_test_${'t'.repeat(43)}`,
      baseUrl: 'https://pay.example',
      maxRetries: 0,
      async fetch(url) {
        seen.push({ url: url as string, at: Date.now() });
        return (replies[Math.min(seen.length, replies.length) - 1] as Reply)();
      },
    });
    const shop = aShop(client);
    return {
      ...shop,
      seen,
      async catchUp(signal?: AbortSignal) {
        const result = shop.inbox.catchUp({ signal }).then(
          (count) => count,
          (error: Error) => error.message,
        );
        await vi.runAllTimersAsync();
        return result;
      },
      waits: () => seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0)),
    };
  };

  it('reads the bodies with the feed: one request for each page', async () => {
    const shop = aReader([page(1, true), page(2, false)]);
    expect(await shop.catchUp()).toBe(2);
    expect(shop.taken).toEqual(['e-1', 'e-2']);
    const query = 'order=asc&include=payload&per_page=100&from=1970-01-01T00%3A00%3A00.000Z';
    expect(shop.seen.map(({ url }) => url)).toEqual([
      `https://pay.example/api/v1/events?${query}`,
      `https://pay.example/api/v1/events?${query}&cursor=c1`,
    ]);
    expect(shop.waits()).toEqual([0]);
  });

  // At second 37 of the service's clock. A second more is for clocks that differ.
  const untilNextMinute = 24_000;
  it.each([
    { limit: 120, remaining: 60, waits: 0 },
    { limit: 120, remaining: 31, waits: 0 },
    { limit: 120, remaining: 30, waits: untilNextMinute },
    { limit: 120, remaining: 0, waits: untilNextMinute },
    { limit: 5, remaining: 2, waits: 0 },
    { limit: 5, remaining: 1, waits: untilNextMinute },
    { limit: 2, remaining: 1, waits: untilNextMinute },
    { limit: 1, remaining: 0, waits: untilNextMinute },
  ])('with $remaining of $limit left, it waits for $waits ms', async ({ waits, ...of }) => {
    const left = budget(of.limit, of.remaining);
    // At the end of the feed nothing is waited for.
    const shop = aReader([page(1, true, left), page(2, false, left)]);
    expect(await shop.catchUp()).toBe(2);
    expect(shop.waits()).toEqual([waits]);
  });

  it('uses half of the budget of a minute at most', async () => {
    const pages = Array.from({ length: 8 }, (_, n) => page(n, true, budget(6, 6)));
    const shop = aReader([...pages, page(8, false)]);
    expect(await shop.catchUp()).toBe(9);
    const each = [0, 0, untilNextMinute];
    expect(shop.waits()).toEqual([...each, ...each, 0, 0]);
  });

  it.each([
    ['7', 7_000],
    ['59', 59_000],
    ['0', 1_000],
    ['99999999999', 60_000],
  ])('waits as a 429 with Retry-After %s asks, and goes on', async (retryAfter, ms) => {
    const refused = refusal(429, 'RATE_LIMITED', { 'retry-after': retryAfter });
    const shop = aReader([page(1, true), refused, refused, page(2, false)]);
    expect(await shop.catchUp()).toBe(2);
    expect(shop.taken).toEqual(['e-1', 'e-2']);
    expect(shop.waits()).toEqual([0, ms, ms]);
  });

  it('throws every other error, and goes on where it ended', async () => {
    const shop = aReader([page(1, true), refusal(403, 'APPLICATION_DISABLED'), page(2, false)]);
    expect(await shop.catchUp()).toContain('APPLICATION_DISABLED');
    expect(await shop.catchUp()).toBe(1);
    expect(shop.seen.at(-1)?.url).toContain('&cursor=c1');
  });

  it('throws when the same page comes again and again, or a page has no bodies', async () => {
    expect(await aReader([page(1, true)]).catchUp()).toContain('is no page of the feed');
    const bare = { data: [{ event_id: 'e-1' }], pagination: { has_more: false, next_cursor: 'c' } };
    expect(await aReader([reply(200, bare)]).catchUp()).toContain('is no page of the feed');
  });

  it('ends when its signal does, also while it waits', async () => {
    const controller = new AbortController();
    const shop = aReader([page(1, true, budget(120, 3)), page(2, false)]);
    const result = shop.catchUp(controller.signal);
    setTimeout(() => controller.abort(), 1_000);
    expect(await result).toContain('was aborted by its caller');
    expect(shop.seen.map(({ at }) => Date.now() - at)).toEqual([1_000]);
    expect(await shop.catchUp(AbortSignal.abort())).toContain('was aborted by its caller');
  });
});
