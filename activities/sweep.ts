import type { Answer } from '../gateways/gateway.ts';
import { GatewaySilence } from '../gateways/gateway.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';
import type { StartFacts } from '../contract/payment.ts';
import type { IdempotencyKeys } from '../postgres/idempotency-keys.ts';
import type { Settlements } from '../postgres/settlements.ts';
import type { SweepQueries } from '../postgres/sweep.ts';
import type { Unstarted } from '../postgres/unstarted.ts';
import type { Logger } from '../process.ts';
import type { PaymentWorkflows } from './payment-workflows.ts';
import { toOpened } from './payment.ts';

export interface Deps {
  sweepQueries: SweepQueries;
  unstarted: Unstarted;
  idempotencyKeys: Pick<IdempotencyKeys, 'dropExpired'>;
  settlements: Pick<Settlements, 'get'>;
  gatewayOf: GatewayRegistry;
  workflows: PaymentWorkflows;
  publicBaseUrl: string;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** The engine gives an activity of the sweep 25 s; it stops taking work before that. */
const workMs = 20_000;
const startsAtOnce = 50;
const asksAtOnce = 10;
const asksPerSweep = 200;

export const createSweepActivities = (deps: Deps) => {
  const { sweepQueries, unstarted, settlements, gatewayOf, workflows, logger } = deps;

  const heal = async (facts: StartFacts) => {
    await workflows.start(facts, { again: true });
    logger.info({ payment_id: facts.id }, 'Made sure that the payment has a workflow');
  };

  const ask = async (id: string): Promise<void> => {
    const payment = await settlements.get(id);
    if (!payment || payment.reference === null) return;
    const opened = toOpened(payment, payment.reference, deps.publicBaseUrl);
    try {
      if (hasNews(await gatewayOf(payment).inquire(opened))) await workflows.tell(id);
    } catch (error) {
      if (!(error instanceof GatewaySilence)) throw error;
      const { gateway } = payment;
      logger.warn({ payment_id: id, gateway }, 'The gateway did not answer the sweep');
    }
  };

  return {
    /** Payments whose workflow the API could not start. */
    async startUnstarted(): Promise<number> {
      const until = Date.now() + workMs;
      let started = 0;
      while (Date.now() < until) {
        const batch = await unstarted.list({ limit: 500, age: '5 seconds' });
        const done: string[] = [];
        await eachOf(batch, { atOnce: startsAtOnce, until }, async (facts) => {
          await workflows.start(facts, { again: false });
          done.push(facts.id);
        });
        await unstarted.delete(done);
        started += done.length;
        if (done.length < 500) break;
      }
      if (started > 0) logger.info({ started }, 'Started workflows of unstarted payments');
      return started;
    },

    listGatewaysInUse: () => sweepQueries.gatewaysInUse(),

    /** Asks one gateway about payers who went there and did not come back. */
    async askGateway({ gateway }: { gateway: string }): Promise<number> {
      const until = Date.now() + workMs;
      let asked = 0;
      while (asked < asksPerSweep && Date.now() < until) {
        // To be taken is to count as asked, so no more are taken than are asked at once.
        const ids = await sweepQueries.takeOnTheirWay(gateway, asksAtOnce);
        await eachOf(ids, { atOnce: asksAtOnce, until }, ask);
        asked += ids.length;
        if (ids.length < asksAtOnce) break;
      }
      return asked;
    },

    /** Payments and deliveries that nobody seems to work on: their workflow is started where it is gone. */
    async healPayments(): Promise<number> {
      const overdue = await sweepQueries.countOverdueDeliveries(1_000);
      if (overdue > 0)
        logger.error({ overdue, alert: 'deliveries_overdue' }, 'Deliveries are 2 minutes overdue');
      const lost = [
        ...(await sweepQueries.takeNotEnded(500)),
        ...(await sweepQueries.takeOverdueDeliveries(500)),
      ];
      await eachOf(lost, { atOnce: startsAtOnce, until: Date.now() + workMs }, heal);
      return lost.length;
    },

    dropExpiredKeys: () => deps.idempotencyKeys.dropExpired(5_000),
  };
};

const hasNews = ({ state }: Answer): boolean => state !== 'waiting';

/** Works on all items, some at once, until the time is over; one failure does not stop the others. */
const eachOf = async <T>(
  items: readonly T[],
  { atOnce, until }: { atOnce: number; until: number },
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const failures: unknown[] = [];
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) {
      if (Date.now() > until) return;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (failures.length === items.length && failures.length > 0) throw failures[0];
};
