import { setTimeout as sleep } from 'node:timers/promises';
import type { AdapterOf } from '../../gateways/adapters.ts';
import type { GatewayExchanges, PaymentExchange } from '../../postgres/gateways/exchanges.ts';
import type { PaymentOutcomes } from '../../postgres/payments/outcomes.ts';
import type { ClaimedPayment, SweeperQueries } from '../../postgres/payments/sweeper.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import {
  exchangeWith,
  unknownIfSilent,
  toOpenedPayment,
  type Unanswered,
} from '../gateway-calls.ts';
import type { Log } from '../log.ts';
import { type Failure, forEachLimited, forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  sweeperQueries: Pick<
    SweeperQueries,
    'listGatewaysInUse' | 'claimForInquiry' | 'markInquired' | 'unclaim' | 'listEndedUnpaid'
  >;
  paymentOutcomes: Pick<PaymentOutcomes, 'get'>;
  gatewayExchanges: Pick<GatewayExchanges, 'replaceRepeated'>;
  gatewayOf: AdapterOf;
  workflows: Pick<WorkflowCalls, 'recheck' | 'startLatePayment'>;
  publicBaseUrl: string;
  logger: Log;
}

/** The payments that a gateway holds as paid and not verified. */
interface UnverifiedList {
  references: ReadonlySet<string>;
  /** False: there may be more. */
  complete: boolean;
}

/**
 * A gateway gets at most 50 inquiries at once and 100 a second: it has limits of its own and does not
 * answer beyond them. A late answer delays its own lane only.
 */
const inquiryLanes = 5;
const inquiriesPerLane = 10;
const lanePauseMs = 500;
/** With a complete list no payment needs an inquiry of its own. */
const batchWithList = 500;
const signalsAtOnce = 50;

/** Asks gateways about payers who were sent there and did not come back. */
export const createInquiryTask = (deps: Deps) => {
  const { sweeperQueries, paymentOutcomes, gatewayExchanges, gatewayOf, workflows } = deps;
  const { publicBaseUrl, logger } = deps;

  const warnUnanswered = ({ id, application, gateway }: ClaimedPayment, { reason }: Unanswered) => {
    const facts = { payment_id: id, application, gateway, reason };
    logger.warn(facts, 'The gateway gave no usable answer; a later sweep will retry');
  };

  /**
   * Inquires about one payment and rechecks its workflow if its gateway reports a change. The workflow then records the
   * result: its own verification may get no answer while the sweeper still asks about others.
   * @returns whether the gateway says that nobody has paid yet
   */
  const inquire = async (claimed: ClaimedPayment, stored: PaymentExchange[]): Promise<boolean> => {
    const payment = await paymentOutcomes.get(claimed.id);
    if (!payment) return false;
    const opened = toOpenedPayment(payment, claimed.reference, publicBaseUrl);
    const called = await exchangeWith(gatewayOf, payment, (gateway) =>
      unknownIfSilent(() => gateway.inquire(opened)),
    );
    stored.push(...called.exchanges.map((exchange) => ({ ...exchange, paymentId: claimed.id })));
    if ('fault' in called) throw called.fault;
    const { result: answer } = called;
    if (answer.state === 'unknown') warnUnanswered(claimed, answer);
    else if (answer.state !== 'waiting') await workflows.recheck(claimed);
    return answer.state === 'waiting';
  };

  /** Inquires about each payment, and stores all exchanges in one statement. */
  const inquireAboutEach = async (payments: readonly ClaimedPayment[], until: number) => {
    const exchanges: PaymentExchange[] = [];
    const unpaid: string[] = [];
    try {
      const limits = { atOnce: inquiriesPerLane, until, logger };
      const ends = await forEachLimited(payments, limits, async (payment) => {
        if (await inquire(payment, exchanges)) unpaid.push(payment.id);
      });
      return { ...ends, unpaid };
    } finally {
      if (exchanges.length > 0) await gatewayExchanges.replaceRepeated(exchanges);
    }
  };

  /** One call about all payments of the gateway. Undefined if it has no such call or did not answer. */
  const listUnverified = async (claimed: ClaimedPayment): Promise<UnverifiedList | undefined> => {
    const payment = await paymentOutcomes.get(claimed.id);
    if (!payment) return undefined;
    const list = await unknownIfSilent(async () => gatewayOf(payment).listUnverified?.());
    if (!list) return undefined;
    if ('state' in list) {
      warnUnanswered(claimed, list);
      return undefined;
    }
    return { references: new Set(list.references), complete: list.complete };
  };

  /** Starts late-payment workflows: the same list shows payments that were paid after their end. */
  const startLatePayments = async (gateway: string, list: UnverifiedList, until: number) => {
    const ended = await sweeperQueries.listEndedUnpaid(gateway, [...list.references]);
    await forEachOrThrow(ended, { atOnce: signalsAtOnce, until, logger }, ({ id }) =>
      workflows.startLatePayment(id),
    );
  };

  /** @returns how many payments it inquired about */
  const inquireAtGateway = async ({ gateway }: { gateway: string }): Promise<number> => {
    const until = performance.now() + taskTimeMs;
    const failures: Failure<ClaimedPayment>[] = [];
    let done = 0;

    // A claimed payment is not claimed again for a while. So without a list no more are claimed than are
    // inquired about at once, and the claims of payments that were not tried are released.
    const first = await sweeperQueries.claimForInquiry(gateway, inquiriesPerLane);
    const list = first[0] && (await listUnverified(first[0]));

    const groupOf = ({ reference, uncertain }: ClaimedPayment) => {
      if (list?.references.has(reference)) return 'paid';
      return list?.complete && !uncertain ? 'unpaid' : 'unknown';
    };
    const handle = async (claimed: readonly ClaimedPayment[]) => {
      const { paid = [], unpaid = [], unknown = [] } = Object.groupBy(claimed, groupOf);
      const limits = { atOnce: signalsAtOnce, until, logger };
      const rechecked = await forEachLimited(paid, limits, (payment) => workflows.recheck(payment));
      const inquired = await inquireAboutEach(unknown, until);
      const unpaidIds = [...inquired.unpaid, ...unpaid.map(({ id }) => id)];
      if (unpaidIds.length > 0) await sweeperQueries.markInquired(unpaidIds);
      failures.push(...rechecked.failures, ...inquired.failures);
      const notTried = [...rechecked.notTried, ...inquired.notTried];
      if (notTried.length > 0) await sweeperQueries.unclaim(notTried.map(({ id }) => id));
      done += claimed.length - notTried.length;
    };

    const [lanes, batchSize, pauseMs] = list?.complete
      ? [1, batchWithList, 0]
      : [inquiryLanes, inquiriesPerLane, lanePauseMs];
    const lane = async () => {
      while (performance.now() < until) {
        const nextAt = performance.now() + pauseMs;
        const claimed = await sweeperQueries.claimForInquiry(gateway, batchSize);
        await handle(claimed);
        if (claimed.length < batchSize) break;
        await sleep(Math.max(0, nextAt - performance.now()));
      }
    };
    const handlingFirst = handle(first);
    const isAll = first.length < inquiriesPerLane;
    const others = isAll
      ? []
      : [handlingFirst.then(lane), ...Array.from({ length: lanes - 1 }, lane)];
    const ends = await Promise.allSettled([handlingFirst, ...others]);

    // Unclaimed at the end only: a payment that fails each time would be claimed again at once.
    const failed = failures.map(({ payment }) => payment.id);
    if (failed.length > 0) await sweeperQueries.unclaim(failed);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (list) await startLatePayments(gateway, list, until);
    if (failures[0] && failures.length === done) throw failures[0].error;
    return done;
  };

  return {
    inquireAtGateway,

    /** @returns how many payments it inquired about, over all gateways side by side */
    async inquireAtGateways(): Promise<number> {
      const gateways = await sweeperQueries.listGatewaysInUse();
      const results = await Promise.allSettled(
        gateways.map((gateway) => inquireAtGateway({ gateway })),
      );
      let count = 0;
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason;
        count += result.value;
      }
      return count;
    },
  };
};
