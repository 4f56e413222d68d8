import type { Payments } from './client.ts';
import { type ApiError, PaymentsError } from './errors.ts';
import { type RequestOptions, sleep } from './request.ts';
import type { Event } from './types.ts';
import { SignatureError, verify, type Webhook } from './webhooks.ts';

/** One statement with `$1` for the first of its values. Each `…Query` makes one of a connection or a transaction. */
export type Query = (
  text: string,
  values: string[],
) => PromiseLike<readonly Record<string, unknown>[]>;

/** For a migration of Postgres or SQLite. Each application of the service has tables of its own. */
export const inboxTables = `
create table if not exists payments_inbox (
  event_id text primary key,
  received_at timestamp not null default current_timestamp
);
create table if not exists payments_inbox_position (
  feed text primary key,
  cursor text not null
);`;

export interface InboxOptions {
  client: Payments;
  /** As of `verify`. */
  secret: Webhook['secret'];
  /**
   * Takes the webhooks of live and of test payments, which come to the same URL with the same signature. By default
   * only those of the token's mode: a test payment must not pay a live order. Then compare `test` with the order.
   */
  bothModes?: boolean | undefined;
  /** When the shop began to use the inbox: older events are not caught up. It never changes. */
  since: Date;
  /** Outside of a transaction. */
  query: Query;
  /**
   * Opens a transaction of the shop, asks `isFirst` in it, and changes the order in the same one if the answer is
   * true. An error must end the transaction without effect.
   */
  once: (event: Event, isFirst: (query: Query) => Promise<boolean>) => PromiseLike<unknown>;
}

export interface Received {
  event: Event;
  /** False: nothing was changed. The event had come before, or `event.test` is not the token's mode. */
  isFirst: boolean;
}

/** Lets each event change the shop exactly once: its id is stored in the transaction that changes the order. */
export const createInbox = (options: InboxOptions) => {
  const { client, secret, since, bothModes = false, query, once } = options;

  const take = async (event: Event): Promise<boolean> => {
    let isFirst = false;
    await once(event, async (inTransaction) => {
      // Another transaction with this id is waited for: it decides.
      const inserted = await inTransaction(
        'insert into payments_inbox (event_id) values ($1) on conflict do nothing returning event_id',
        [event.event_id],
      );
      return (isFirst = inserted.length === 1);
    });
    return isFirst;
  };

  const isKnown = async (id: string): Promise<boolean> => {
    const text = 'select event_id from payments_inbox where event_id = $1';
    return (await query(text, [id])).length === 1;
  };

  /** A page of the feed with the bodies of its events. It waits for the next minute after a 429. */
  const readPage = async (cursor: string | undefined, signal: AbortSignal | undefined) => {
    const from = since.toISOString();
    const wanted = { order: 'asc', include: 'payload', per_page: 100, from, cursor } as const;
    for (;;)
      try {
        return await client.events.list(wanted, { signal }).page().withResponse();
      } catch (error) {
        // No instanceof: the client may be of the other copy of this package.
        const { status, retryAfterSeconds } = error as Partial<ApiError>;
        if (status !== 429 || retryAfterSeconds === undefined) throw error;
        await sleep(Math.min(Math.max(retryAfterSeconds * 1000, 1_000), minuteMs), signal);
      }
  };

  return {
    /**
     * Takes a webhook. Answer 2xx when it returns, the error's status for a SignatureError, and 500 for whatever
     * `once` throws: the service sends the event again.
     * @throws SignatureError
     */
    async receive(webhook: Omit<Webhook, 'secret'>): Promise<Received> {
      const event = await verify({ ...webhook, secret });
      if (typeof (event as Event | null)?.event_id !== 'string')
        throw new SignatureError('body', 'The body is signed, and it is no event.');
      // Accepted all the same, or it would come again. The feed of a token of its mode has it, too.
      const isOtherMode = event.test === (client.mode === 'live');
      return { event, isFirst: (bothModes || !isOtherMode) && (await take(event)) };
    },

    /**
     * Takes every event of the feed that no webhook has brought, oldest first; call it when the shop starts. Goes on
     * where it ended, also after an error. Uses at most half of the application's budget of requests, and none of its
     * last quarter: then it waits for the next minute. Returns how many events changed the shop.
     */
    async catchUp({ signal }: Pick<RequestOptions, 'signal'> = {}): Promise<number> {
      const feed = `${client.mode} since ${since.toISOString()}`;
      const text = 'select cursor from payments_inbox_position where feed = $1';
      const [position] = await query(text, [feed]);
      let cursor = position && String(position['cursor']);
      let taken = 0;
      let requests = 0;
      for (;;) {
        requests += 1;
        const { data: page, headers } = await readPage(cursor, signal);
        for (const { event_id: id, payload } of page.data) {
          if (!payload) throw new PaymentsError(noFeed);
          if (!(await isKnown(id)) && (await take(payload))) taken += 1;
        }
        const { has_more: hasMore, next_cursor: next } = page.pagination;
        if (next !== null && next !== cursor)
          await query(
            `insert into payments_inbox_position (feed, cursor) values ($1, $2)
             on conflict (feed) do update set cursor = excluded.cursor returning feed`,
            [feed, next],
          );
        else if (hasMore) throw new PaymentsError(noFeed);
        if (!hasMore) return taken;
        cursor = next ?? undefined;
        const pause = pauseMs(headers, requests);
        if (pause > 0) requests = 0;
        await sleep(pause, signal);
      }
    },
  };
};

const noFeed = 'The answer is no page of the feed. Is there a cache before the service?';
const minuteMs = 60_000;

/**
 * Until the service's next minute, if half of its budget is used here, or but a quarter is left; else 0. The rest
 * of the budget alone is no measure: a shop that uses its half first would hold this up for ever.
 * @param requests since the last pause
 */
const pauseMs = (headers: Headers, requests: number): number => {
  const [limit, remaining] = [
    headers.get('x-ratelimit-limit'),
    headers.get('x-ratelimit-remaining'),
  ];
  if (limit === null || remaining === null) return 0;
  if (requests < Number(limit) / 2 && Number(remaining) > Number(limit) / 4) return 0;
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // The clocks of the service's machines differ a little.
  return minuteMs - (now % minuteMs) + 1_000;
};

export type Inbox = ReturnType<typeof createInbox>;

type Rows = readonly Record<string, unknown>[];

/** Makes a query of `postgres`: of `sql`, or of the transaction that `sql.begin` gives. */
export const postgresQuery =
  (sql: { unsafe: (text: string, values: string[]) => PromiseLike<Rows> }): Query =>
  (text, values) =>
    sql.unsafe(text, values);

/** Makes a query of `pg`: of a pool, or of the client on which the transaction has begun. */
export const pgQuery =
  (client: { query: (text: string, values: string[]) => PromiseLike<{ rows: Rows }> }): Query =>
  async (text, values) =>
    (await client.query(text, values)).rows;

/**
 * Makes a query of the database of `node:sqlite` or `better-sqlite3` on which the transaction has begun. All of a connection is in one
 * transaction, so await nothing but `isFirst` between `begin` and `commit`.
 */
export const sqliteQuery =
  (database: { prepare: (text: string) => { all: (...values: string[]) => unknown[] } }): Query =>
  async (text, values) =>
    database.prepare(text.replaceAll(/\$\d+/g, '?')).all(...values) as Rows[number][];

/** Makes a query of Drizzle on Postgres: of the database or a transaction, with the `sql` of drizzle-orm. */
export const drizzleQuery =
  <S>(
    database: { execute: (statement: S) => PromiseLike<Rows | { rows: Rows }> },
    sql: (texts: TemplateStringsArray, ...values: string[]) => S,
  ): Query =>
  async (text, values) => {
    const texts = text.split(/\$\d+/);
    const template = Object.assign(texts, { raw: texts });
    const result = await database.execute(sql(template, ...values));
    return 'rows' in result ? result.rows : result;
  };

/** Makes a query of Prisma: of the client, or of the transaction that `$transaction(async (tx) => …)` gives. */
export const prismaQuery =
  (prisma: {
    $queryRawUnsafe: (text: string, ...values: string[]) => PromiseLike<unknown>;
  }): Query =>
  async (text, values) =>
    (await prisma.$queryRawUnsafe(text, ...values)) as Rows;
