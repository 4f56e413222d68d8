import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayUnavailable } from '../gateways/errors.ts';
import type { AdapterOf } from '../gateways/adapters.ts';
import type { WorkflowStart } from '../contract/payment.ts';
import type { PaymentExchange, GatewayExchanges } from '../postgres/gateway-exchanges.ts';
import type { IdempotencyKeys } from '../postgres/idempotency-keys.ts';
import type { PaymentOutcomes } from '../postgres/payment-outcomes.ts';
import type { ClaimedPayment, SweeperQueries } from '../postgres/sweeper.ts';
import type { WorkflowOutbox } from '../postgres/workflow-outbox.ts';
import { toOpened } from './gateway-calls.ts';
import type { Log } from './log.ts';
import type { PaymentWorkflows } from './payment-workflows.ts';

export interface Deps {
  sweeperQueries: SweeperQueries;
  outbox: WorkflowOutbox;
  idempotencyKeys: Pick<IdempotencyKeys, 'deleteExpired'>;
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  gatewayExchanges: Pick<GatewayExchanges, 'replaceRepeated'>;
  gatewayOf: AdapterOf;
  workflows: PaymentWorkflows;
  publicBaseUrl: string;
  logger: Log;
}

/** The engine gives an activity of the sweep 25 s; it stops taking work before that. */
const workMs = 20_000;
const startsAtOnce = 50;
const startsPerBatch = 500;
const keysPerBatch = 5_000;
/**
 * A gateway is asked about 50 at once and 100 a second at most: it has limits of its own, and asked
 * beyond them it is silent. Whoever it answers late about holds up his own lane alone.
 */
const asksLanes = 5;
const asksPerLane = 10;
const asksPaceMs = 500;
/** One list tells of them all. */
const listedAtOnce = 500;

export const createSweeperActivities = (deps: Deps) => {
  const { sweeperQueries, outbox, paymentOutcomes, gatewayOf, workflows, logger } = deps;

  /** `begun`: whether an overdue delivery has an attempt; absent where the payment has not ended. */
  const heal = async (facts: WorkflowStart & { begun?: boolean }) => {
    // A start does nothing to a run that is there. One that may not know of the payment's end has to be
    // told: no attempt was made yet, or the engine was restored from a backup and waits for the payer.
    if (facts.begun === false || facts.expiresAt > new Date()) await workflows.tell(facts);
    else await workflows.start(facts, { again: true });
    logger.info({ payment_id: facts.id }, 'Made sure that the payment has a workflow');
  };

  /**
   * @returns whether the gateway has said that nobody has paid yet. Of news the payment's workflow notes what
   * became of them: its own question may stay without an answer while others are still asked about here.
   */
  const ask = async (one: ClaimedPayment, said: PaymentExchange[]): Promise<boolean> => {
    const payment = await paymentOutcomes.get(one.id);
    if (!payment) return false;
    const gateway = gatewayOf(payment, (exchange) => said.push({ ...exchange, paymentId: one.id }));
    const opened = toOpened(payment, one.reference, deps.publicBaseUrl);
    const answer = await orSilent(one, () => gateway.inquire(opened));
    if (answer && answer.state !== 'waiting') await workflows.tell(one);
    return answer?.state === 'waiting';
  };

  /** Asks about each, and keeps for admins what was said about all of them at once. */
  const askAbout = async (payments: readonly ClaimedPayment[], until: number) => {
    const said: PaymentExchange[] = [];
    const unpaid: string[] = [];
    try {
      const bounds = { atOnce: asksPerLane, until, logger };
      const ends = await eachOf(payments, bounds, async (one) => {
        if (await ask(one, said)) unpaid.push(one.id);
      });
      return { ...ends, unpaid };
    } finally {
      if (said.length > 0) await deps.gatewayExchanges.replaceRepeated(said);
    }
  };

  const orSilent = async <T>(
    { id }: ClaimedPayment,
    call: () => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof GatewayUnavailable)) throw error;
      logger.warn({ payment_id: id, err: error }, 'The gateway did not answer the sweep');
      return undefined;
    }
  };

  /** One call about everybody, where the gateway of this payment has one and answers it. */
  const listUnverified = async (one: ClaimedPayment): Promise<Listed | undefined> => {
    const payment = await paymentOutcomes.get(one.id);
    if (!payment) return undefined;
    const list = await orSilent(one, async () => gatewayOf(payment).listUnverified?.());
    return list && { paid: new Set(list.references), complete: list.complete };
  };

  /** Paid after their end, as the same list shows. */
  const startLate = async (gateway: string, { paid }: Listed, until: number): Promise<void> => {
    const ended = await sweeperQueries.listEndedUnpaid(gateway, [...paid]);
    const start = ({ id }: { id: string }) => workflows.startLate(id);
    await anyOf(ended, { atOnce: startsAtOnce, until, logger }, start);
  };

  return {
    /** Payments whose workflow the API could not start. */
    async startOutboxWorkflows(): Promise<number> {
      const until = Date.now() + workMs;
      const bounds = { atOnce: startsAtOnce, until, logger };
      let started = 0;
      while (Date.now() < until) {
        const batch = await outbox.list({ limit: startsPerBatch, age: '5 seconds' });
        const done: string[] = [];
        const { failures } = await eachOf(batch, bounds, async (facts) => {
          await workflows.start(facts, { again: false, traceId: facts.traceId });
          done.push(facts.id);
        });
        await outbox.delete(done);
        started += done.length;
        // What failed comes again with the next batch, and may be all that is left.
        if (started === 0 && failures[0]) throw failures[0].error;
        if (batch.length < startsPerBatch || done.length === 0) break;
      }
      if (started > 0) logger.info({ started }, 'Started workflows of unstarted payments');
      return started;
    },

    listGatewaysInUse: () => sweeperQueries.listGatewaysInUse(),

    /**
     * Asks one gateway about payers who went there and did not come back: with one list of all that is
     * paid, where it has one, and otherwise about each.
     */
    async inquireAtGateway({ gateway }: { gateway: string }): Promise<number> {
      const until = Date.now() + workMs;
      const bounds = { atOnce: startsAtOnce, until, logger };
      // Who is taken counts as asked for a while. So no more are taken than are asked at once, except
      // where a list tells of all; whoever there was no time for is given back.
      const first = await sweeperQueries.claimForInquiry(gateway, asksPerLane);
      const listed = first[0] && (await listUnverified(first[0]));
      const saidOf = ({ reference, uncertain }: ClaimedPayment) => {
        if (listed?.paid.has(reference)) return 'paid';
        return listed?.complete && !uncertain ? 'unpaid' : 'nothing';
      };
      const failures: Failure<ClaimedPayment>[] = [];
      let done = 0;
      const work = async (due: readonly ClaimedPayment[]) => {
        const { paid = [], unpaid = [], nothing = [] } = Object.groupBy(due, saidOf);
        const told = await eachOf(paid, bounds, workflows.tell);
        const asked = await askAbout(nothing, until);
        const unpaidIds = [...asked.unpaid, ...unpaid.map(({ id }) => id)];
        if (unpaidIds.length > 0) await sweeperQueries.markInquired(unpaidIds);
        failures.push(...told.failures, ...asked.failures);
        const left = [...told.left, ...asked.left];
        if (left.length > 0) await sweeperQueries.releaseClaims(left.map(({ id }) => id));
        done += due.length - left.length;
      };
      const [lanes, limit, paceMs] = listed?.complete
        ? [1, listedAtOnce, 0]
        : [asksLanes, asksPerLane, asksPaceMs];
      const lane = async () => {
        while (Date.now() < until) {
          const next = Date.now() + paceMs;
          const due = await sweeperQueries.claimForInquiry(gateway, limit);
          await work(due);
          if (due.length < limit) break;
          await sleep(Math.max(0, next - Date.now()));
        }
      };
      const begun = work(first);
      const isAll = first.length < asksPerLane;
      const rest = isAll ? [] : [begun.then(lane), ...Array.from({ length: lanes - 1 }, lane)];
      const ends = await Promise.allSettled([begun, ...rest]);
      // Only now: who fails each time would be the first to be taken again.
      const failed = failures.map(({ payment }) => payment.id);
      if (failed.length > 0) await sweeperQueries.releaseClaims(failed);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      if (listed) await startLate(gateway, listed, until);
      if (failures[0] && failures.length === done) throw failures[0].error;
      return done;
    },

    /** Payments and deliveries that nobody seems to work on: their workflow is started where it is gone. */
    async healPayments(): Promise<number> {
      const overdue = await sweeperQueries.countOverdueDeliveries(1_000);
      if (overdue > 0)
        logger.error({ overdue, alert: 'deliveries_overdue' }, 'Deliveries are 2 minutes overdue');
      const lost = [
        ...(await sweeperQueries.claimStalledPayments(500)),
        ...(await sweeperQueries.claimOverdueDeliveries(500)),
      ];
      await anyOf(lost, { atOnce: startsAtOnce, until: Date.now() + workMs, logger }, heal);
      return lost.length;
    },

    async deleteExpiredIdempotencyKeys(): Promise<number> {
      const until = Date.now() + workMs;
      let dropped = 0;
      while (Date.now() < until) {
        const batch = await deps.idempotencyKeys.deleteExpired(keysPerBatch);
        dropped += batch;
        if (batch < keysPerBatch) break;
      }
      return dropped;
    },
  };
};

/** What a gateway holds as paid and not verified; where it is not `complete`, there may be more. */
interface Listed {
  paid: ReadonlySet<string>;
  complete: boolean;
}

interface Bounds {
  atOnce: number;
  /** In milliseconds of Unix time. */
  until: number;
  logger: Deps['logger'];
}

interface Failure<T> {
  payment: T;
  error: unknown;
}

/**
 * Works on all payments, some at once, until the time is over; one failure does not stop the others.
 * `left`: those for which there was no time.
 */
const eachOf = async <T extends { id: string }>(
  payments: readonly T[],
  { atOnce, until, logger }: Bounds,
  work: (payment: T) => Promise<void>,
): Promise<{ left: T[]; failures: Failure<T>[] }> => {
  const failures: Failure<T>[] = [];
  const left: T[] = [];
  const queue = payments.values();
  const lane = async () => {
    for (const payment of queue) {
      if (Date.now() > until) left.push(payment);
      else
        await work(payment).catch((error: unknown) => {
          logger.warn({ payment_id: payment.id, err: error }, 'The sweep failed on one payment');
          failures.push({ payment, error });
        });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { left, failures };
};

/** The same; where it fails for all, operators see the activity fail. */
const anyOf = async <T extends { id: string }>(
  payments: readonly T[],
  bounds: Bounds,
  work: (payment: T) => Promise<void>,
): Promise<void> => {
  const { failures } = await eachOf(payments, bounds, work);
  if (failures[0] && failures.length === payments.length) throw failures[0].error;
};
