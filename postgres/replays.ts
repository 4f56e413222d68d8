import type { EventPosition } from '../contract/list-events.ts';
import type { Queries } from './driver/sql.ts';
import type { Owner } from './payments.ts';

export const replayStatuses = ['running', 'done', 'stopped'] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

export interface NewReplay extends Owner {
  id: string;
  delivery: 'exhausted' | 'delivered';
  from: Date;
  to: Date;
  matched: number;
}

/** A replay of the events of a time, with its progress. */
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

/** A replay as the worker needs it. */
export interface RunningReplay extends Replay {
  after: EventPosition | undefined;
  webhookUrl: string | null;
}

export const createReplays = (sql: Queries) => {
  const columns = sql`
    r.id, r.application, r.test, r.delivery, r.from_at as "from", r.to_at as "to", r.status,
    r.stop_requested as "stopRequested", r.matched, r.begun, r.refused,
    r.created_at as "createdAt", r.ended_at as "endedAt"`;
  return {
    /** Undefined if another one of this application and mode is running; then nothing is written. */
    async insert(replay: NewReplay): Promise<Replay | undefined> {
      const [row] = await sql<Replay[]>`
        insert into replays as r (id, application, test, delivery, from_at, to_at, matched)
        values (${replay.id}, ${replay.application}, ${replay.test}, ${replay.delivery},
          ${replay.from}, ${replay.to}, ${replay.matched})
        on conflict (application, test) where status = 'running' do nothing
        returning ${columns}`;
      return row;
    },

    async getRunningId({ application, test }: Owner): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        select id from replays
        where application = ${application} and test = ${test} and status = 'running'`;
      return row?.id;
    },

    async get(id: string, { application, test }: Owner): Promise<Replay | undefined> {
      const [row] = await sql<Replay[]>`
        select ${columns} from replays r
        where r.id = ${id} and r.application = ${application} and r.test = ${test}`;
      return row;
    },

    /** The workflow stops at its next event. */
    async requestStop(id: string): Promise<void> {
      await sql`update replays set stop_requested = true where id = ${id} and status = 'running'`;
    },

    async getForWorker(id: string): Promise<RunningReplay | undefined> {
      const [row] = await sql<(RunningReplay & { at: Date | null; afterId: string })[]>`
        select ${columns}, r.position_at as at, r.position_id as "afterId",
          a.webhook_url as "webhookUrl"
        from replays r join applications a on a.slug = r.application where r.id = ${id}`;
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

    async count(id: string, { begun }: { begun: boolean }): Promise<void> {
      await (begun
        ? sql`update replays set begun = begun + 1 where id = ${id}`
        : sql`update replays set refused = refused + 1 where id = ${id}`);
    },

    async end(id: string, status: 'done' | 'stopped'): Promise<void> {
      await sql`
        update replays set status = ${status}, ended_at = now()
        where id = ${id} and status = 'running'`;
    },
  };
};
export type Replays = ReturnType<typeof createReplays>;
