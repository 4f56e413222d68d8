import { randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Dispatcher } from 'undici';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import { createDeliveryActivities } from '../../../activities/delivery.ts';
import { createReplayActivities } from '../../../activities/replays.ts';
import { eventId } from '../../../contract/ids.ts';
import { limits } from '../../../contract/limits.ts';
import { createDeliveries, type Deliveries } from '../../../postgres/webhooks/deliveries.ts';
import { createReplays } from '../../../postgres/webhooks/replays.ts';
import { createSecretBox } from '../../../postgres/secrets/secret-box.ts';
import { AttemptError } from '../../../webhooks/failure.ts';
import { attemptsPerRound, type Delivery } from '../../../protocol/delivery.ts';
import type { Records } from '../data/records.ts';
import { type Driver, type Stop, stopAfter } from './driver.ts';

/** Replaces statements by faulty ones. */
export type DeliveryFault = (deliveries: Deliveries, eventId: string) => Partial<Deliveries>;

const keyRing = { currentId: 'k1', keys: new Map([['k1', randomBytes(32)]]) };
const unstopped: Stop = (work) => work('');
const logger = { info() {}, warn() {} };
/** The model has the last attempts of each round. The others have failed before. */
const earlierAttempts = limits.attemptsPerRound - attemptsPerRound;

/** Delivery and replay: `deliverWebhook` and `replayEvent`. */
export const createDeliveryDriver = async (
  { sql, ended }: Records,
  fault?: DeliveryFault,
): Promise<Driver<Delivery>> => {
  const real = createDeliveries(sql);
  const { id } = await ended('paid');
  const event = eventId(id);
  const deliveries = { ...real, ...fault?.(real, event) };
  // Real time is so far away that a replay never comes too soon after another one.
  let clock = new Date(Date.now() - 30 * 86_400_000);
  const now = () => clock;
  let accepted = false;
  let run = 1;

  const failEarlierAttempts = () => sql`
    insert into attempts (event_id, number, round, trigger, scheduled_at, started_at, completed_at, duration_ms)
    select event_id, highest + n, round, trigger, t.at, t.at, t.at, 0
    from deliveries d
    cross join (select coalesce(max(number), 0) as highest from attempts where event_id = ${event}) as a
    cross join generate_series(1, ${earlierAttempts}) as n
    cross join (select ${new Date(clock.getTime() - 86_400_000)}::timestamptz as at) as t
    where d.event_id = ${event} and not exists (
      select from attempts e where e.event_id = d.event_id and e.round = d.round)`;
  await sql`
    update deliveries set next_attempt_at = ${clock}, round_began_at = ${clock} where event_id = ${event}`;
  await failEarlierAttempts();

  /** One try. Its receiver answers as the step says. */
  const deliver = (before: Delivery, stop: Stop, stopped: Partial<Deliveries>) => {
    const worker = new MockActivityEnvironment(
      {
        currentAttemptScheduledTimestampMs: clock.getTime(),
        workflowExecution: { workflowId: id, runId: `run-${run}` },
      },
      { logger: new DefaultLogger('ERROR') },
    );
    const dispatch: Dispatcher['dispatch'] = (_, handler) => {
      const controller = {} as Dispatcher.DispatchController;
      const fail = (error: Error) => handler.onResponseError?.(controller, error);
      void stop(async (step) => {
        accepted ||= !step.startsWith('POST: failed');
        return step.startsWith('POST: accepted');
      }).then(
        (isAnswered) => {
          if (!isAnswered)
            return fail(
              new AttemptError({ errorClass: 'connect', error: 'The connection is lost' }),
            );
          handler.onResponseStart?.(controller, 204, {}, '');
          handler.onResponseEnd?.(controller, {});
        },
        (crash: Error) => {
          worker.cancel();
          fail(crash);
        },
      );
      return true;
    };
    const { deliverWebhook } = createDeliveryActivities({
      deliveries: {
        ...deliveries,
        // The clock stands still during a POST, and the machine's own time would move the next attempt behind it.
        completeAttempt: (of, number, { result, ...completion }) =>
          deliveries.completeAttempt(of, number, {
            ...completion,
            result: { ...result, durationMs: 0 },
          }),
        ...stopped,
      },
      secretBox: createSecretBox(keyRing),
      dispatcher: { dispatch },
      targetRule: { allowLoopback: true },
      deliveryBulkhead: createBulkhead({ perOwner: 25 }),
      activityStartedAt: async () => clock,
      now,
      logger,
    });
    return worker.run(deliverWebhook, { id, isReset: before.reset });
  };

  const replay = (round: number, record: Deliveries['replay']) =>
    createReplayActivities({
      sql,
      deliveries: { ...deliveries, replay: record },
      replays: createReplays(sql),
      replayPace: { takeTurn: () => 0 },
      workflows: { deliver: async () => {} },
      now,
      logger,
    }).replayEvent({ eventId: event, round });

  const replayAndFail: Deliveries['replay'] = async (...args) => {
    const replayed = await deliveries.replay(...args);
    await failEarlierAttempts();
    return replayed;
  };
  const roundNow = async () => (await real.get(event))?.round ?? 0;

  return {
    async run(name, before, stop) {
      if (name()?.startsWith('replay')) {
        const round = await stop(roundNow);
        return replay(round, stopAfter(stop, replayAndFail, Boolean));
      }
      return deliver(before, stop, {
        get: stopAfter(stop, deliveries.get),
        beginAttempt: stopAfter(stop, deliveries.beginAttempt, Boolean),
      });
    },
    async happen(step, before, after) {
      if (step === 'the delay is over') {
        const [row] = await sql<{ at: Date }[]>`
          select next_attempt_at as at from deliveries where event_id = ${event}`;
        if (row) clock = row.at;
      }
      // The try breaks off after the replay.
      if (step === 'deliveries.replay after a reset')
        await deliver(before, unstopped, {
          replay: replayAndFail,
          beginAttempt: () => Promise.reject(new Error('crash')),
        }).catch(() => {});
      if (step.startsWith('application asks')) await replay(await roundNow(), deliveries.replay);
      if (before.workflow === 'ended' && after.workflow === 'running') run += 1;
    },
    async observe() {
      const [row] = await sql<
        Pick<Delivery, 'status' | 'round' | 'in_round' | 'completed' | 'begun' | 'due'>[]
      >`
        select d.status, d.round, coalesce(d.next_attempt_at <= ${clock}, false) as due,
          (count(t.completed_at) filter (where t.round = d.round))::int - ${earlierAttempts}::int as in_round,
          coalesce(max(t.number) filter (where t.completed_at is not null), 0) - ${earlierAttempts}::int * d.round as completed,
          coalesce(max(t.number) filter (where t.completed_at is null), 0) as begun
        from deliveries d left join attempts t on t.event_id = d.event_id
        where d.event_id = ${event} group by d.event_id`;
      if (!row) throw new Error('The delivery is gone');
      const begun = row.begun && row.begun - earlierAttempts * row.round;
      return { ...row, begun, accepted };
    },
  };
};
