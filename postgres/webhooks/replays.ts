import type { ListPosition } from '../../contract/list.ts';
import type { WorkflowStart } from '../../contract/payment.ts';
import type { DeliveryStatus, RoundTrigger } from '../../contract/status.ts';
import {
  createDeliveries,
  deliveryColumns,
  joinLastAttempt,
  type ListedDelivery,
} from './deliveries.ts';
import { type DeliveryFilter, matchingDeliveries, statusesOf } from './delivery-filter.ts';
import { first, type Queries, type Sql } from '../driver/sql.ts';
import type { Owner } from '../payments/payments.ts';

export const replayStatuses = ['running', 'done', 'stopped'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** The deliveries of which a person can replay many at once. */
export const replayable = ['undelivered', 'failing', 'exhausted', 'delivered'] as const;

/** The deliveries that a replay takes. */
export interface ReplayFilter extends DeliveryFilter {
  delivery: (typeof replayable)[number];
  to: Date;
}

export interface NewReplay extends ReplayFilter {
  id: string;
  trigger: Exclude<RoundTrigger, 'schedule'>;
  /** At most so many rounds a second; null: the published rate. */
  perSecond: number | null;
  matched: number;
}

/** A replay of many events, with its progress. */
export interface Replay extends NewReplay {
  status: ReplayStatus;
  stopRequested: boolean;
  /** Events whose next round began. */
  begun: number;
  /** Events that had another status when their turn came. */
  refused: number;
  createdAt: Date;
  endedAt: Date | null;
}

/** A replay as operators see it. */
export interface OperatorReplay extends Replay {
  /** The person who began it; null: an application, or the audit log does not say. */
  startedBy: string | null;
}

/** A replay of an application. */
export type OwnReplay = Replay & Owner & { from: Date; delivery: 'exhausted' | 'delivered' };

/** A replay as the worker needs it. */
export interface RunningReplay extends Replay {
  after: ListPosition | undefined;
  /** Its application has no webhook URL any more. */
  isWithoutUrl: boolean;
}

export interface ReplayedEvent {
  id: string;
  round: number;
  createdAt: Date;
}

/** The effect of a replay on an event, and the state of its delivery now. */
export interface ReplayResult extends ListedDelivery {
  /** The position in the replay, from 1. */
  number: number;
  /** False: the event had another status when its turn came. */
  begun: boolean;
  delivery: DeliveryStatus;
}

/** Over all applications, those without a webhook URL are left out: nothing can be sent to them. */
const withUrl = ({ application }: ReplayFilter): boolean => application === null;

export const createReplays = (sql: Queries) => {
  const columns = sql`
    r.id, r.application, r.test, r.trigger, r.delivery, r.kind, r.from_at as "from", r.to_at as "to",
    r.error_class as "errorClass", r.event_ids::text[] as "eventIds", r.per_second as "perSecond", r.status,
    r.stop_requested as "stopRequested", r.matched, r.begun, r.refused,
    r.created_at as "createdAt", r.ended_at as "endedAt"`;

  const startedBy = sql`(
    select l.actor from audit_log l
    where l.subject = 'replay:' || r.id and l.action = 'delivery.replay_many' order by l.id limit 1) as "startedBy"`;

  /** A replay of both modes belongs to each. */
  const isOf = (test: boolean | null) =>
    test === null ? sql`true` : sql`coalesce(r.test, ${test}) = ${test}`;

  return {
    /** For an application. Undefined if another one of it and the mode is running; then nothing is written. */
    insert: (
      replay: Omit<NewReplay, 'trigger' | 'perSecond'> & Owner & Pick<OwnReplay, 'delivery'>,
    ) =>
      first(sql<OwnReplay[]>`
        insert into replays as r (id, application, test, delivery, from_at, to_at, matched)
        values (${replay.id}, ${replay.application}, ${replay.test}, ${replay.delivery},
          ${replay.from}, ${replay.to}, ${replay.matched})
        on conflict do nothing
        returning ${columns}`),

    /** For an operator. False if another operator's of the same owner is running; then nothing is written. */
    async insertOfOperator(replay: Omit<NewReplay, 'trigger'>): Promise<boolean> {
      const { eventIds } = replay;
      const { count } = await sql`
        insert into replays (id, application, test, trigger, delivery, kind, from_at, to_at,
          error_class, event_ids, per_second, matched)
        values (${replay.id}, ${replay.application}, ${replay.test}, 'admin', ${replay.delivery}, ${replay.kind},
          ${replay.from}, ${replay.to}, ${replay.errorClass}, ${eventIds && [...eventIds]}::text[]::uuid[],
          ${replay.perSecond}, ${replay.matched})
        on conflict do nothing`;
      return count === 1;
    },

    /** The running one of this owner that takes all that match. */
    async getRunningId({
      application,
      test,
      trigger,
    }: Pick<NewReplay, 'application' | 'test' | 'trigger'>): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from replays
        where application is not distinct from ${application} and test is not distinct from ${test}
          and trigger = ${trigger} and status = 'running' and event_ids is null`;
      return row?.id;
    },

    /** An application's own replay. */
    get: (id: string, { application, test }: Owner) =>
      first(sql<OwnReplay[]>`
        select ${columns} from replays r
        where r.id = ${id} and r.application = ${application} and r.test = ${test}
          and r.trigger = 'application'`),

    /** For operators: of whatever owner. */
    find: (id: string) =>
      first(
        sql<OperatorReplay[]>`select ${columns}, ${startedBy} from replays r where r.id = ${id}`,
      ),

    /** For operators: the newest first. */
    async list(limit: number, test: boolean | null): Promise<OperatorReplay[]> {
      return sql<OperatorReplay[]>`
        select ${columns}, ${startedBy} from replays r where ${isOf(test)} order by r.created_at desc limit ${limit}`;
    },

    /** For operators: the newest first. */
    async listRunning(limit: number, test: boolean | null): Promise<Replay[]> {
      return sql<Replay[]>`
        select ${columns} from replays r where r.status = 'running' and ${isOf(test)}
        order by r.created_at desc limit ${limit}`;
    },

    /** Counts the events that match, up to `limit`. */
    async countMatching(filter: ReplayFilter, limit: number): Promise<number> {
      const matched = matchingDeliveries(sql, filter, { limit, withUrl: withUrl(filter) });
      const [row] = await sql<{ count: number }[]>`select count(*) from (${matched}) as counted`;
      return row?.count ?? 0;
    },

    /** The next events of a replay, oldest first. */
    async listNext(replay: RunningReplay, limit: number): Promise<ReplayedEvent[]> {
      const part = {
        order: 'oldest',
        after: replay.after ?? null,
        limit,
        withUrl: withUrl(replay),
      } as const;
      return sql<ReplayedEvent[]>`
        select d.event_id as id, d.round, d.created_at as "createdAt"
        from (${matchingDeliveries(sql, replay, part)}) as d
        order by d.created_at, d.event_id`;
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

    /** The results after a position, in order. Events that were purged are left out. */
    async listResults(id: string, { after, limit }: { after: number; limit: number }) {
      return sql<ReplayResult[]>`
        select r.number, r.begun, ${deliveryColumns(sql)}, d.status as delivery
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

/**
 * Begins the next round of an event, or makes its next attempt now, unless the event has another status by now, and moves on to it.
 * @returns the payment if a round began; `overtaken` if the replay is no longer at that position, or is to
 *   stop: an activity that Temporal has given up may still be running
 */
export const replayNext = (
  sql: Sql,
  { id, after, delivery, trigger }: RunningReplay,
  event: ReplayedEvent,
  now: Date,
): Promise<WorkflowStart | 'overtaken' | undefined> =>
  sql.begin(async (tx) => {
    const { count } = await tx`
      update replays set position_at = ${event.createdAt}, position_id = ${event.id}::uuid
      where id = ${id} and status = 'running' and not stop_requested
        and position_id is not distinct from ${after?.id ?? null}::uuid`;
    if (count === 0) return 'overtaken';
    const from = statusesOf(delivery).filter((status) => status !== 'none');
    const start = { from, round: event.round, trigger, now };
    const payment = await createDeliveries(tx).replay(event.id, start);
    const counted = payment ? tx`begun = begun + 1` : tx`refused = refused + 1`;
    await tx`
      with counted as (
        update replays set ${counted} where id = ${id} returning begun + refused as number
      )
      insert into replay_results (replay_id, number, event_id, begun)
      select ${id}, number, ${event.id}::uuid, ${payment !== undefined}::boolean from counted`;
    return payment;
  });
