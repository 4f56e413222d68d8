import type { KnownRefund } from '../gateways/gateway.ts';
import type { RecordedRefund, RefundProgress } from '../postgres/refunds/outcomes.ts';

/** Clocks of gateways may be behind ours by this much. */
const clockDifferenceMs = 5 * 60_000;

export interface SortedRefunds {
  /** This refund, as the gateway knows it. */
  ours: KnownRefund | undefined;
  /** Like a refund that the gateway was never told, where it carries no id of ours. */
  unattributed: KnownRefund | undefined;
  /** Made at the gateway, or forgotten by a restored Postgres. */
  madeAtGateway: KnownRefund[];
}

/** Finds out which of the refunds that a gateway knows is this one, and which are nobody's. */
export const sortRefunds = (
  refund: RefundProgress | undefined,
  known: readonly KnownRefund[],
  { keyed, recorded }: { keyed: boolean; recorded: readonly RecordedRefund[] },
): SortedRefunds => {
  const ids = new Set(recorded.map(({ id }) => id));
  const references = new Set(recorded.map(({ gatewayReference }) => gatewayReference));
  const isFree = ({ reference, refundId }: KnownRefund) =>
    !references.has(reference) && (refundId === null || !ids.has(refundId));
  const free = known.filter(isFree);
  const isLike = ({ refundId, amount, createdAt }: KnownRefund) =>
    !keyed &&
    refundId === null &&
    refund !== undefined &&
    // A person may have settled it before the gateway's list had it.
    (refund.status === 'pending' ||
      (refund.status === 'succeeded' && refund.gatewayReference === null)) &&
    amount === refund.amount &&
    (!refund.toldAt ||
      !createdAt ||
      createdAt.getTime() >= refund.toldAt.getTime() - clockDifferenceMs);
  /** Another refund of ours without a reference: no answer named one. */
  const mayBeAnother = ({ refundId, amount }: KnownRefund) =>
    !keyed &&
    refundId === null &&
    recorded.some(
      (other) =>
        other.id !== refund?.id &&
        other.timesTold > 0 &&
        other.gatewayReference === null &&
        other.amount === amount,
    );
  const named = known.find(
    ({ reference, refundId }) =>
      refund && (refundId === refund.id || reference === refund.gatewayReference),
  );
  const like = named ? undefined : free.find(isLike);
  return {
    ours: named ?? (refund && refund.timesTold > 0 ? like : undefined),
    unattributed: refund?.timesTold === 0 ? like : undefined,
    madeAtGateway: free.filter(
      (each) => each !== like && each.state !== 'failed' && !mayBeAnother(each),
    ),
  };
};
