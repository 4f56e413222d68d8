import type { AdapterOf } from '../../gateways/adapters.ts';
import type { GatewayAdapter } from '../../gateways/gateway.ts';
import type { PayoutLook, Payouts } from '../../postgres/accounts/payouts.ts';
import { unknownIfSilent } from '../gateway-calls.ts';
import type { Log } from '../log.ts';
import { forEachOrThrow, taskTimeMs } from './limited.ts';

export interface Deps {
  payouts: Payouts;
  gatewayOf: AdapterOf;
  logger: Log;
}

const batchSize = 10;
/** A thousand lines of a payout at Stripe. The next sweep reads on. */
const pagesOfSweep = 10;

/** Asks gateways about payouts, and what each has paid out, until nothing changes any more. */
export const createPayoutTask = ({ payouts, gatewayOf, logger }: Deps) => {
  const readLines = async (
    look: PayoutLook,
    { payoutLines }: Pick<GatewayAdapter, 'payoutLines'>,
  ): Promise<void> => {
    let { position } = look;
    for (let pages = 0; payoutLines && pages < pagesOfSweep; pages += 1) {
      const { ids, next } = await payoutLines(look.id, position);
      await payouts.recordPaidOut(look, ids, next);
      if (next === null) return;
      position = next;
    }
  };

  const lookAt = async (look: PayoutLook): Promise<void> => {
    const gateway = gatewayOf(look);
    const known = await unknownIfSilent(async () => {
      const found = await gateway.payout?.(look.id);
      if (found?.lines === 'listed' && !look.isRead) await readLines(look, gateway);
      return found;
    });
    if (!known) return;
    if ('state' in known) {
      const facts = { gateway: look.gateway, payout: look.id, reason: known.reason };
      logger.warn(facts, 'The gateway did not report its payout; a later sweep will retry');
    } else await payouts.recordLook(look, known);
  };

  return {
    /** @returns how many payouts it asked about */
    async lookAtPayouts(): Promise<number> {
      const looks = await payouts.claimLooks(batchSize);
      // One after the other: a gateway gets few questions at once.
      const limits = { atOnce: 1, until: performance.now() + taskTimeMs, logger };
      await forEachOrThrow(looks, limits, lookAt);
      return looks.length;
    },
  };
};
