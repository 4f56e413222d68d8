import type { EventKind } from '../contract/event.ts';
import type { DeliveryStatus } from '../contract/status.ts';
import type { Queries } from './driver/sql.ts';
import { isActive } from './webhook-secrets.ts';

/** One POST in the ledger. */
export interface LedgerRow {
  number: number;
  /** When the attempt was due, by Temporal's clock, which a test can skip. */
  scheduledAt: Date;
  /** Real time. */
  startedAt: Date;
  completed: boolean;
  durationMs: number | null;
}

/** The input of an attempt. It is read for every attempt, so a corrected URL or secret takes effect at once. */
export interface Delivery {
  paymentId: string;
  status: DeliveryStatus;
  round: number;
  exhaustedByRun: string | null;
  /** It waited in Postgres, because too many deliveries of its application waited. */
  postponed: boolean;
  application: string;
  event: { id: string; kind: EventKind; body: Buffer };
  webhookUrl: string | null;
  /** Sealed, see secret-box.ts; newest first. */
  secrets: string[];
  /** The attempts of this round, in order. */
  attempts: LedgerRow[];
  /** Over all rounds; 0 before the first attempt. */
  highestNumber: number;
}

/** The result of a POST. */
export interface AttemptResult {
  durationMs: number;
  responseStatus: number | null;
  errorClass: string | null;
  error: string | null;
  responseBody: string | null;
  responseTruncated: boolean;
}

/** The state of the delivery after an attempt. */
export type Consequence =
  | { status: 'delivered' }
  | { status: 'pending'; nextAttemptAt: Date }
  | { status: 'exhausted'; run: string };

interface DeliveryRow extends Omit<Delivery, 'event' | 'attempts'> {
  eventId: string;
  kind: EventKind;
  body: Buffer;
  attempts: (Omit<LedgerRow, 'scheduledAt' | 'startedAt'> &
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

export const createDeliveries = (sql: Queries) => ({
  async get(paymentId: string): Promise<Delivery | undefined> {
    const [row] = await sql<DeliveryRow[]>`
      select d.payment_id as "paymentId", d.status, d.round, d.exhausted_by_run as "exhaustedByRun", p.application,
        d.postponed_at is not null as postponed,
        e.id as "eventId", e.kind, e.body, a.webhook_url as "webhookUrl",
        array(
          select s.ciphertext from webhook_secrets s
          where s.application = p.application and ${isActive(sql)}
          order by s.id desc
        ) as secrets,
        coalesce((
          select json_agg(json_build_object('number', t.number,
            'scheduledAt', t.scheduled_at, 'startedAt', t.started_at,
            'completed', t.completed_at is not null, 'durationMs', t.duration_ms) order by t.number)
          from attempts t where t.payment_id = d.payment_id and t.round = d.round
        ), '[]') as attempts,
        coalesce((
          select max(t.number) from attempts t where t.payment_id = d.payment_id
        ), 0) as "highestNumber"
      from deliveries d
      join events e on e.payment_id = d.payment_id
      join payments p on p.id = d.payment_id
      join applications a on a.slug = p.application
      where d.payment_id = ${paymentId}`;
    return row && toDelivery(row);
  },

  /**
   * Records that the delivery waits for a slot of its application until the sweeper wakes its workflow. The
   * end of an attempt clears it. A delivery that is postponed again keeps its place.
   */
  async postpone(paymentId: string, now: Date): Promise<void> {
    await sql`
      update deliveries d set postponed_for = p.application,
        postponed_at = coalesce(d.postponed_at, ${now})
      from payments p
      where d.payment_id = ${paymentId} and p.id = d.payment_id and d.status = 'pending'`;
  },

  /** Starts a new round of an exhausted delivery. False if the delivery is not exhausted, e.g. started already. */
  async beginRound(paymentId: string, now: Date): Promise<boolean> {
    const { count } = await sql`
      update deliveries set status = 'pending', round = round + 1, next_attempt_at = ${now},
        exhausted_by_run = null
      where payment_id = ${paymentId} and status = 'exhausted'`;
    return count === 1;
  },

  /**
   * Writes the row before the POST. An attempt that was interrupted starts again under its number.
   * @returns when the attempt was due, null if the delivery is not pending; undefined if the attempt is
   *   complete
   */
  async beginAttempt(
    paymentId: string,
    attempt: { number: number; round: number; scheduledAt: Date; startedAt: Date },
  ): Promise<{ dueAt: Date | null } | undefined> {
    const trigger = attempt.round === 1 ? 'schedule' : 'admin';
    const [row] = await sql<{ dueAt: Date | null }[]>`
      insert into attempts as t
        (payment_id, number, round, trigger, scheduled_at, started_at)
      values (${paymentId}, ${attempt.number}, ${attempt.round}, ${trigger},
        ${attempt.scheduledAt}, ${attempt.startedAt})
      on conflict (payment_id, number) do update set
        scheduled_at = excluded.scheduled_at, started_at = excluded.started_at
      where t.completed_at is null
      returning (
        select d.next_attempt_at from deliveries d where d.payment_id = t.payment_id
      ) as "dueAt"`;
    return row;
  },

  /**
   * Completes the row after the POST and moves the delivery, in one statement.
   * @returns false if the attempt is complete already; then nothing is written
   */
  async completeAttempt(
    paymentId: string,
    number: number,
    {
      result,
      consequence,
      completedAt,
    }: { result: AttemptResult; consequence: Consequence; completedAt: Date },
  ): Promise<boolean> {
    const { count } = await sql`
      with attempt as (
        update attempts set completed_at = ${completedAt}, duration_ms = ${result.durationMs},
          response_status = ${result.responseStatus}, error_class = ${result.errorClass},
          error = ${result.error}, response_body = ${result.responseBody},
          response_truncated = ${result.responseTruncated}
        where payment_id = ${paymentId} and number = ${number} and completed_at is null
        returning payment_id
      ), moved as (
        update deliveries d set status = ${consequence.status},
          next_attempt_at = ${consequence.status === 'pending' ? consequence.nextAttemptAt : null},
          exhausted_by_run = ${consequence.status === 'exhausted' ? consequence.run : null},
          postponed_for = null, postponed_at = null
        from attempt where d.payment_id = attempt.payment_id and d.status = 'pending'
      )
      select from attempt`;
    return count === 1;
  },
});
export type Deliveries = ReturnType<typeof createDeliveries>;
