import type { AttemptResult, PastAttempt } from '../../contract/attempt.ts';
import type { EventKind } from '../../contract/event.ts';
import { limits } from '../../contract/limits.ts';
import type { WorkflowStart } from '../../contract/payment.ts';
import type { DeliveryStatus, RoundTrigger } from '../../contract/status.ts';
import { changesOne, type Queries } from '../driver/sql.ts';
import { joinPaymentOfEvent, selectStartOfEvent } from '../payment-columns.ts';
import { isActive } from '../secrets/webhook-secrets.ts';

/** The input of an attempt. It is read for every attempt, so a corrected URL or secret takes effect at once. */
export interface Delivery {
  paymentId: string;
  status: DeliveryStatus;
  round: number;
  exhaustedByRun: string | null;
  /** It waited in Postgres, because too many deliveries of its application waited. */
  postponed: boolean;
  /** The next attempt was asked for: it does not wait for the documented delay. */
  atOnce: boolean;
  application: string;
  event: { id: string; kind: EventKind; body: Buffer };
  /** The trace of the request that created the payment or the refund. */
  traceparent: string | null;
  webhookUrl: string | null;
  /** Sealed, see secrets/secret-box.ts; newest first. */
  secrets: string[];
  /** The attempts of this round, in order. */
  attempts: PastAttempt[];
  /** Over all rounds; 0 before the first attempt. */
  highestNumber: number;
}

/** The state of the delivery after an attempt. */
export type Consequence =
  | { status: 'delivered' }
  | { status: 'pending'; nextAttemptAt: Date }
  | { status: 'exhausted'; run: string };

export interface ReplayStart {
  trigger: RoundTrigger;
  now: Date;
  /** The statuses that a delivery may have. */
  from: readonly Exclude<DeliveryStatus, 'none'>[];
  /** The round that the caller has seen: of several callers only the first begins the next one. */
  round?: number;
}

interface DeliveryRow extends Omit<Delivery, 'event' | 'attempts'> {
  eventId: string;
  kind: EventKind;
  body: Buffer;
  attempts: (Omit<PastAttempt, 'scheduledAt' | 'startedAt'> &
    Record<'scheduledAt' | 'startedAt', string>)[];
}

const toDelivery = ({ eventId, kind, body, attempts, ...row }: DeliveryRow): Delivery => ({
  ...row,
  event: { id: eventId, kind, body },
  attempts: attempts.map((attempt) => ({
    ...attempt,
    scheduledAt: new Date(attempt.scheduledAt),
    startedAt: new Date(attempt.startedAt),
  })),
});

/** One POST of a delivery. */
export interface AttemptRecord {
  number: number;
  round: number;
  trigger: RoundTrigger;
  startedAt: Date;
  completedAt: Date | null;
  durationMs: number | null;
  responseStatus: number | null;
  errorClass: string | null;
  error: string | null;
  responseBody: string | null;
  responseTruncated: boolean | null;
}

/** A delivery in a list for people. */
export interface ListedDelivery {
  eventId: string;
  kind: EventKind;
  paymentId: string;
  application: string;
  test: boolean;
  orderId: string;
  /** The number of the last attempt that has ended, with its result. */
  attempts: number;
  responseStatus: number | null;
  errorClass: string | null;
}

/** Its columns: of the delivery `d`, and of `t` as `joinLastAttempt` joins it. */
export const deliveryColumns = (sql: Queries) => sql`
  d.event_id as "eventId", d.kind, d.payment_id as "paymentId", d.application, d.test,
  d.order_id as "orderId", coalesce(t.number, 0) as attempts,
  t.response_status as "responseStatus", d.error_class as "errorClass"`;

/** Joins the last attempt of the delivery `d` that has ended, as `t`. */
export const joinLastAttempt = (sql: Queries) => sql`
  left join lateral (
    select t.number, t.response_status from attempts t
    where t.event_id = d.event_id and t.completed_at is not null
    order by t.number desc limit 1
  ) as t on true`;

/** So many failed attempts of a round, six minutes of it, count for the health of the receiver. */
const leastFailures = 3;

export const createDeliveries = (sql: Queries) => ({
  async get(eventId: string): Promise<Delivery | undefined> {
    const [row] = await sql<DeliveryRow[]>`
      select d.payment_id as "paymentId", d.status, d.round, d.exhausted_by_run as "exhaustedByRun", d.application,
        d.postponed_at is not null as postponed, d.at_once as "atOnce",
        e.id as "eventId", e.kind, e.body, a.webhook_url as "webhookUrl",
        case when e.subject = e.payment_id then p.traceparent else r.traceparent end as traceparent,
        array(
          select s.ciphertext from webhook_secrets s
          where s.application = d.application and ${isActive(sql)}
          order by s.id desc
        ) as secrets,
        coalesce((
          select json_agg(json_build_object('number', t.number,
            'scheduledAt', t.scheduled_at, 'startedAt', t.started_at,
            'completed', t.completed_at is not null, 'durationMs', t.duration_ms) order by t.number)
          from attempts t where t.event_id = d.event_id and t.round = d.round
        ), '[]') as attempts,
        coalesce((
          select max(t.number) from attempts t where t.event_id = d.event_id
        ), 0) as "highestNumber"
      from deliveries d
      join events e on e.id = d.event_id
      join applications a on a.slug = d.application
      left join payments p on p.id = d.payment_id
      left join refunds r on r.id = e.subject
      where d.event_id = ${eventId}`;
    return row && toDelivery(row);
  },

  /**
   * Records that the delivery waits for a slot of its application until the sweeper wakes its workflow. The
   * end of an attempt clears it. A delivery that is postponed again keeps its position.
   */
  async postpone(eventId: string, now: Date): Promise<void> {
    await sql`
      update deliveries set postponed_at = coalesce(postponed_at, ${now})
      where event_id = ${eventId} and status = 'pending'`;
  },

  async exists(eventId: string): Promise<boolean> {
    const rows = await sql`select from deliveries where event_id = ${eventId}`;
    return rows.length > 0;
  },

  /**
   * Begins the next round of a delivery that is over. If it is failing, the next attempt of the round becomes due
   * now. It changes nothing within 10 seconds after a delivered one's round or a failing one's last attempt began,
   * so that concurrent requests have one effect: some of them may come after a fast receiver.
   * @returns the payment; undefined if the delivery has another state, e.g. because somebody else was first
   */
  async replay(
    eventId: string,
    { trigger, now, from, round }: ReplayStart,
  ): Promise<WorkflowStart | undefined> {
    const restBegan = sql`now() - make_interval(secs => ${limits.replayReuseSeconds}::int)`;
    const [row] = await sql<WorkflowStart[]>`
      with replayed as (
        update deliveries d set status = 'pending', next_attempt_at = ${now}, exhausted_by_run = null,
          at_once = status = 'pending',
          round = case when status = 'pending' then round else round + 1 end,
          trigger = case when status = 'pending' then trigger else ${trigger} end,
          round_began_at = case when status = 'pending' then round_began_at else ${now} end
        where event_id = ${eventId} and status = any(${[...from]}::text[])
          ${round === undefined ? sql`` : sql`and round = ${round}`}
          and case status
            when 'exhausted' then true
            when 'delivered' then round_began_at is null or round_began_at < ${restBegan}
            else not at_once and next_attempt_at > ${now} and not exists (
              select from attempts t where t.event_id = d.event_id and t.started_at > ${restBegan})
          end
        returning event_id, payment_id)
      select ${selectStartOfEvent(sql)}
      from replayed join events e on e.id = replayed.event_id ${joinPaymentOfEvent(sql)}`;
    return row;
  },

  /**
   * Writes the row before the POST. An attempt that was interrupted starts again under its number.
   * @returns when the attempt was due, null if the delivery is not pending, and whether it is of a test; undefined
   *   if the attempt is complete
   */
  async beginAttempt(
    eventId: string,
    attempt: { number: number; round: number; scheduledAt: Date; startedAt: Date },
  ): Promise<{ dueAt: Date | null; test: boolean } | undefined> {
    const [row] = await sql<{ dueAt: Date | null; test: boolean }[]>`
      with begun as (
        insert into attempts as t
          (event_id, number, round, trigger, scheduled_at, started_at)
        select event_id, ${attempt.number}::int, ${attempt.round}::int, trigger,
          ${attempt.scheduledAt}::timestamptz, ${attempt.startedAt}::timestamptz
        from deliveries where event_id = ${eventId}
        on conflict (event_id, number) do update set
          scheduled_at = excluded.scheduled_at, started_at = excluded.started_at
        where t.completed_at is null
        returning event_id)
      select d.next_attempt_at as "dueAt", d.test from begun join deliveries d using (event_id)`;
    return row;
  },

  /**
   * Completes the row after the POST and moves the delivery, in one statement. The third failure of a round, and each
   * one after that, counts for the health of the receiver.
   * @returns false if the attempt is complete already; then nothing is written
   */
  completeAttempt: (
    eventId: string,
    number: number,
    {
      result,
      consequence,
      completedAt,
    }: { result: AttemptResult; consequence: Consequence; completedAt: Date },
  ) =>
    changesOne(sql`
      with attempt as (
        update attempts set completed_at = ${completedAt}, duration_ms = ${result.durationMs},
          response_status = ${result.responseStatus}, error_class = ${result.errorClass},
          error = ${result.error}, response_body = ${result.responseBody},
          response_truncated = ${result.responseTruncated}
        where event_id = ${eventId} and number = ${number} and completed_at is null
        returning event_id
      ), moved as (
        update deliveries d set status = ${consequence.status},
          next_attempt_at = ${consequence.status === 'pending' ? consequence.nextAttemptAt : null},
          delivered_at = ${consequence.status === 'delivered' ? completedAt : sql`delivered_at`},
          error_class = ${result.errorClass},
          failing_at = ${
            result.errorClass === null
              ? null
              : sql`case when d.failing_at is not null or ${leastFailures - 1} <= (
                  select count(*) from attempts t
                  where t.event_id = d.event_id and t.round = d.round and t.completed_at is not null)
                then ${completedAt}::timestamptz end`
          },
          exhausted_by_run = ${consequence.status === 'exhausted' ? consequence.run : null},
          postponed_at = null, at_once = false
        from attempt where d.event_id = attempt.event_id and d.status = 'pending'
      )
      select from attempt`),
});
export type Deliveries = ReturnType<typeof createDeliveries>;
