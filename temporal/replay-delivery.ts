import type { ResetResult, Resets } from './resets.ts';

interface Deps {
  /** Changes the delivery. False if it is in another state than the caller expects. */
  beginRound: () => Promise<boolean>;
  toDelivery: Resets['toDelivery'];
}

/**
 * Begins the next round of a delivery, for admins and for applications. Call it inside the transaction of
 * `beginRound`: the delivery stays as it was if the reset fails. Two calls at once begin one round, because
 * the second one waits for the row.
 * @returns `no_history` if the caller has to start the workflow after the commit; undefined if it began none
 * @throws ResetFailure
 */
export const replayDelivery = async (
  { paymentId, reason }: { paymentId: string; reason: string },
  { beginRound, toDelivery }: Deps,
): Promise<ResetResult | undefined> =>
  (await beginRound()) ? toDelivery(paymentId, reason) : undefined;
