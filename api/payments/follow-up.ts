import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { GatewayBudget } from '../payer/gateway-budget.ts';
import type { Verify } from './verifier.ts';

export interface Deps {
  verify: Verify;
  budget: Pick<GatewayBudget, 'take'>;
  /** Milliseconds. */
  now: () => number;
  logger: Pick<Logger, 'warn'>;
}

const windowMs = limits.verifyReuseSeconds * 1000;
/** The clocks of this process and of Postgres, which numbers the windows, differ by less. */
const spareMs = 100;
/** The sweeper asks for the others. */
const plannedMax = 1_000;

/**
 * Has payments verified. Requests of one window share one answer, and the payer may have paid since it was given: so one that
 * shares an older answer has the gateway asked once more when the window ends, after its own response.
 */
export const createFollowUps = ({ verify, budget, now, logger }: Deps) => {
  const planned = new Map<string, NodeJS.Timeout>();

  const plan = (...[payment, request]: Parameters<Verify>): void => {
    const next = { ...payment, verifyWindow: payment.verifyWindow + 1 };
    const key = `${next.id} ${next.verifyWindow} ${request.cancelled ?? false}`;
    if (planned.has(key) || planned.size >= plannedMax) return;
    const ask = async (): Promise<void> => {
      planned.delete(key);
      const waitMs = budget.take(next.gateway, 'return', key);
      if (waitMs === undefined) return;
      if (waitMs > 0) await sleep(waitMs);
      await verify(next, request).catch((error: unknown) =>
        logger.warn(
          { payment_id: next.id, err: error },
          'Could not verify a payment once more; the sweeper will',
        ),
      );
    };
    const leftMs = windowMs - (now() % windowMs) + spareMs;
    planned.set(
      key,
      setTimeout(() => void ask(), leftMs),
    );
  };

  const verifyFresh: Verify = async (payment, request, signal) => {
    const asker = randomBytes(6).toString('base64url');
    const result = await verify(payment, { ...request, asker }, signal);
    if (result.kind !== 'ended' && result.asker !== asker) plan(payment, request);
    return result;
  };

  return {
    verify: verifyFresh,
    /** The sweeper asks for what was planned. */
    stop(): void {
      for (const timer of planned.values()) clearTimeout(timer);
      planned.clear();
    },
  };
};
export type FollowUps = ReturnType<typeof createFollowUps>;
