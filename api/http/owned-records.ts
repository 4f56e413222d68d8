import type { ErrorCode } from '../../contract/errors.ts';
import {
  disputeIdPattern,
  eventIdPattern,
  linkIdPattern,
  paymentIdPattern,
  refundIdPattern,
  replayIdPattern,
} from '../../contract/ids.ts';
import type { Owner } from '../../postgres/payments/payments.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import type { Refuse } from './route.ts';

/** The payments, refunds, disputes, movements, events and replays that this caller's token may see. */
export const ownerOf = ({ application, mode }: Pick<Caller, 'application' | 'mode'>): Owner => ({
  application,
  test: mode === 'test',
});

interface OwnRequest<Code extends ErrorCode> {
  caller: Caller;
  params: Readonly<Record<string, string>>;
  refuse: Refuse<Code>;
}

/** Makes a finder by the id in the path. It does not query for a text that cannot be an id. */
const finderByOwner =
  <Code extends ErrorCode>(param: string, pattern: RegExp, notFound: Code) =>
  async <T>(
    records: { get: (id: string, owner: Owner) => Promise<T | undefined> },
    { caller, params, refuse }: OwnRequest<Code>,
  ): Promise<T> => {
    const id = params[param] ?? '';
    const found = pattern.test(id) ? await records.get(id, ownerOf(caller)) : undefined;
    if (!found) throw refuse(notFound);
    return found;
  };

/** @throws PaymentError PAYMENT_NOT_FOUND */
export const findOwnPayment = finderByOwner('payment_id', paymentIdPattern, 'PAYMENT_NOT_FOUND');
/** @throws PaymentError EVENT_NOT_FOUND */
export const findOwnEvent = finderByOwner('event_id', eventIdPattern, 'EVENT_NOT_FOUND');
/** @throws PaymentError REFUND_NOT_FOUND */
export const findOwnRefund = finderByOwner('refund_id', refundIdPattern, 'REFUND_NOT_FOUND');
/** @throws PaymentError DISPUTE_NOT_FOUND */
export const findOwnDispute = finderByOwner('dispute_id', disputeIdPattern, 'DISPUTE_NOT_FOUND');
/** @throws PaymentError LINK_NOT_FOUND */
export const findOwnLink = finderByOwner('link_id', linkIdPattern, 'LINK_NOT_FOUND');
/** @throws PaymentError REPLAY_NOT_FOUND */
export const findOwnReplay = finderByOwner('replay_id', replayIdPattern, 'REPLAY_NOT_FOUND');
