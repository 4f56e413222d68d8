import type { ListPosition as EventPosition } from '../contract/list.ts';
import type { DeliveryStatus, RoundTrigger } from '../contract/status.ts';
import { joinLastAttempt } from './deliveries.ts';
import type { Queries } from './driver/sql.ts';
import type { Owner } from './payments.ts';

export const replayStatuses = ['running', 'done', 'stopped'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** The events that a replay takes. */
export interface ReplayFilter {
  /** Null: of every application. */
  application: string | null;
  /** Null: of both token modes. */
  test: boolean | null;
  delivery: 'exhausted' | 'delivered';
  from: Date;
  to: Date;
  /** The class of the last attempt's error; null: any, or none. */
  errorClass: string | null;
  /** Only these; null: every one that matches. */
  eventIds: readonly string[] | null;
}

/** The request of an application. */
export interface NewReplay extends Owner, Pick<ReplayFilter, 'delivery' | 'from' | 'to'> {
  id: string;
  matched: number;
}

/** The request of an operator. */
export interface NewRetrigger extends ReplayFilter {
  id: string;
  matched: number;
  perSecond: number;
}

/** A replay of many events, with its progress. */
export interface Replay extends ReplayFilter {
  id: string;
  trigger: Exclude<RoundTrigger, 'schedule'>;
  /** Null: the published rate. */
  perSecond: number | null;
  matched: number;
  status: ReplayStatus;
  stopRequested: boolean;
  /** Events whose next round began. */
  begun: number;
  /** Events that had another status when their turn came. */
  refused: number;
  createdAt: Date;
  endedAt: Date | null;
}

/** A replay as the worker needs it. */
export interface RunningReplay extends Replay {
  after: EventPosition | undefined;
  /** Its application has no webhook URL any more. */
  isWithoutUrl: boolean;
}

export interface ReplayedEvent {
  id: string;
  paymentId: string;
  round: number;
  createdAt: Date;
}

/** What a replay did with an event, and how far its delivery is now. */
export interface ReplayResult {
  /** The position in the replay, from 1. */
  number: number;
  /** False: the event had another status when its turn came. */
  begun: boolean;
  eventId: string;
  kind: string;
  paymentId: string;
  application: string;
  test: boolean;
  orderId: string;
  delivery: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  errorClass: string | null;
}

export const createReplays = (sql: Queries) => {
  const columns = sql`
    r.id, r.application, r.test, r.trigger, r.delivery, r.from_at as "from", r.to_at as "to",
    r.error_class as "errorClass", r.event_ids::text[] as "eventIds", r.per_second as "perSecond", r.status,
    r.stop_requested as "stopRequested", r.matched, r.begun, r.refused,
    r.created_at as "createdAt", r.ended_at as "endedAt"`;

  /**
   * Reads the beginning of one range of an index for each application, mode and kind. Kinds come from the rows,
   * because a later version may have recorded one that is unknown here.
   */
  const matching = (
    { application, test, delivery, from, to, errorClass, eventIds }: ReplayFilter,
    { after, limit }: { after?: EventPosition | undefined; limit: number },
  ) => {
    const columnsOfEvent = sql`
      d.event_id as id, d.payment_id as "paymentId", d.round, d.created_at as "createdAt"`;
    const position = after
      ? sql`and (d.created_at, d.event_id) > (${after.at}, ${after.id}::uuid)`
      : sql``;
    if (eventIds)
      return sql`
        select ${columnsOfEvent} from deliveries d join applications a on a.slug = d.application
        where d.event_id = any(${[...eventIds]}::text[]::uuid[]) and d.status = ${delivery}
          and a.webhook_url is not null ${position}
        order by d.created_at, d.event_id limit ${limit}`;
    return sql`
      ${kindsOf({ application, test })}
      select d.* from kinds k cross join lateral (
        select ${columnsOfEvent} from deliveries d
        where d.application = k.application and d.test = k.test and d.kind = k.kind
          and d.status = ${delivery} and d.created_at < ${to}
          ${errorClass === null ? sql`` : sql`and d.error_class = ${errorClass}`}
          ${after ? position : sql`and d.created_at >= ${from}`}
        order by d.created_at, d.event_id limit ${limit}) as d
      where k.kind is not null
      order by d."createdAt", d.id limit ${limit}`;
  };

  /** Each kind of event that an application has in a mode. An application without a webhook URL gets nothing. */
  const kindsOf = ({ application, test }: Pick<ReplayFilter, 'application' | 'test'>) => sql`
      with recursive owners as (
        select a.slug as application, m.test from applications a
        cross join (values (true), (false)) as m (test)
        where a.webhook_url is not null
          ${application === null ? sql`` : sql`and a.slug = ${application}`}
          ${test === null ? sql`` : sql`and m.test = ${test}`}
      ), kinds as (
        select o.application, o.test, (
          select min(d.kind) from deliveries d
          where d.application = o.application and d.test = o.test) as kind
        from owners o
        union all
        select k.application, k.test, (
          select min(d.kind) from deliveries d
          where d.application = k.application and d.test = k.test and d.kind > k.kind)
        from kinds k where k.kind is not null
      )`;

  return {
    /** Undefined if another one of this application and mode is running; then nothing is written. */
    async insert(replay: NewReplay): Promise<Replay | undefined> {
      const [row] = await sql<Replay[]>`
        insert into replays as r (id, application, test, delivery, from_at, to_at, matched)
        values (${replay.id}, ${replay.application}, ${replay.test}, ${replay.delivery},
          ${replay.from}, ${replay.to}, ${replay.matched})
        on conflict do nothing
        returning ${columns}`;
      return row;
    },

    /** False if another one of an operator with the same owner is running; then nothing is written. */
    async insertRetrigger(retrigger: NewRetrigger): Promise<boolean> {
      const { application, test, errorClass, eventIds } = retrigger;
      const { count } = await sql`
        insert into replays (id, application, test, trigger, delivery, from_at, to_at,
          error_class, event_ids, per_second, matched)
        values (${retrigger.id}, ${application}, ${test}, 'admin', ${retrigger.delivery},
          ${retrigger.from}, ${retrigger.to}, ${errorClass}, ${eventIds && [...eventIds]}::text[]::uuid[],
          ${retrigger.perSecond}, ${retrigger.matched})
        on conflict do nothing`;
      return count === 1;
    },

    async getRunningId({ application, test }: Owner): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from replays
        where application = ${application} and test = ${test} and trigger = 'application'
          and status = 'running'`;
      return row?.id;
    },

    async getRunningRetrigger({
      application,
      test,
    }: Pick<ReplayFilter, 'application' | 'test'>): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from replays
        where application is not distinct from ${application} and test is not distinct from ${test}
          and trigger = 'admin' and status = 'running' and event_ids is null`;
      return row?.id;
    },

    /** An application's own replay. */
    async get(id: string, { application, test }: Owner): Promise<Replay | undefined> {
      const [row] = await sql<Replay[]>`
        select ${columns} from replays r
        where r.id = ${id} and r.application = ${application} and r.test = ${test}
          and r.trigger = 'application'`;
      return row;
    },

    /** For operators: of whatever owner. */
    async find(id: string): Promise<Replay | undefined> {
      const [row] = await sql<Replay[]>`select ${columns} from replays r where r.id = ${id}`;
      return row;
    },

    /** For operators: the newest first. */
    async list(limit: number): Promise<Replay[]> {
      return sql<Replay[]>`
        select ${columns} from replays r order by r.created_at desc limit ${limit}`;
    },

    /** For operators: the newest first. */
    async listRunning(limit: number): Promise<Replay[]> {
      return sql<Replay[]>`
        select ${columns} from replays r where r.status = 'running'
        order by r.created_at desc limit ${limit}`;
    },

    /** Counts the events that match, up to `limit`. */
    async countMatching(filter: ReplayFilter, limit: number): Promise<number> {
      const { delivery, from, to, errorClass, eventIds } = filter;
      const matched = eventIds
        ? matching(filter, { limit })
        : sql`
          ${kindsOf(filter)}
          select from kinds k join deliveries d
            on d.application = k.application and d.test = k.test and d.kind = k.kind
          where k.kind is not null and d.status = ${delivery} and d.created_at >= ${from}
            and d.created_at < ${to}
            ${errorClass === null ? sql`` : sql`and d.error_class = ${errorClass}`}
          limit ${limit}`;
      const [row] = await sql<{ count: number }[]>`select count(*) from (${matched}) as counted`;
      return row?.count ?? 0;
    },

    /** The next events of a replay, oldest first. */
    async listNext(replay: RunningReplay, limit: number): Promise<ReplayedEvent[]> {
      return sql<ReplayedEvent[]>`${matching(replay, { after: replay.after, limit })}`;
    },

    /** The workflow stops at its next event. */
    async requestStop(id: string): Promise<void> {
      await sql`update replays set stop_requested = true where id = ${id} and status = 'running'`;
    },

    async getForWorker(id: string): Promise<RunningReplay | undefined> {
      const [row] = await sql<(RunningReplay & { at: Date | null; afterId: string })[]>`
        select ${columns}, r.position_at as at, r.position_id as "afterId",
          r.application is not null and a.webhook_url is null as "isWithoutUrl"
        from replays r left join applications a on a.slug = r.application where r.id = ${id}`;
      if (!row) return undefined;
      const { at, afterId, ...replay } = row;
      return { ...replay, after: at ? { at, id: afterId } : undefined };
    },

    /**
     * Moves on to an event. False if the replay is no longer at that position, or is to stop: an activity that
     * Temporal has given up may still be running.
     */
    async advance(
      id: string,
      { from, to }: { from: EventPosition | undefined; to: EventPosition },
    ): Promise<boolean> {
      const { count } = await sql`
        update replays set position_at = ${to.at}, position_id = ${to.id}::uuid
        where id = ${id} and status = 'running' and not stop_requested
          and position_id is not distinct from ${from?.id ?? null}::uuid`;
      return count === 1;
    },

    /** Counts an event, and records what was done with it. */
    async recordResult(id: string, eventId: string, { begun }: { begun: boolean }): Promise<void> {
      const counted = begun ? sql`begun = begun + 1` : sql`refused = refused + 1`;
      await sql`
        with counted as (
          update replays set ${counted} where id = ${id} returning begun + refused as number
        )
        insert into replay_results (replay_id, number, event_id, begun)
        select ${id}, number, ${eventId}::uuid, ${begun}::boolean from counted`;
    },

    /** The results after a position, in order. Events that were purged are left out. */
    async listResults(id: string, { after, limit }: { after: number; limit: number }) {
      return sql<ReplayResult[]>`
        select r.number, r.begun, d.event_id as "eventId", d.kind, d.payment_id as "paymentId",
          d.application, d.test, d.order_id as "orderId", d.status as delivery,
          coalesce(t.number, 0) as attempts, t.response_status as "responseStatus",
          d.error_class as "errorClass"
        from replay_results r
        join deliveries d on d.event_id = r.event_id
        ${joinLastAttempt(sql)}
        where r.replay_id = ${id} and r.number > ${after}
        order by r.number limit ${limit}`;
    },

    async end(id: string, status: 'done' | 'stopped'): Promise<void> {
      await sql`
        update replays set status = ${status}, ended_at = now()
        where id = ${id} and status = 'running'`;
    },
  };
};
export type Replays = ReturnType<typeof createReplays>;
