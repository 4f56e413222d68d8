import type { KnownDispute } from '../contract/dispute.ts';
import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import { GatewayUnavailable } from './errors.ts';
import type {
  GatewayAdapter,
  GatewayPayment,
  GatewayStatus,
  KnownRefund,
  OpenResult,
  RefundAnswer,
  Reversal,
} from './gateway.ts';
import { providerMessage } from './redact.ts';

/** Called after each gateway call, and awaited before the call's result is returned. */
export type Listener = (exchange: GatewayExchange) => unknown;

/** Wraps an adapter so that `listener` gets the exchange of every call about a payment. */
export const observed = (adapter: GatewayAdapter, listener: Listener): GatewayAdapter => {
  const observe =
    <P extends [GatewayPayment, ...unknown[]], R extends Result>(
      operation: GatewayExchange['operation'],
      call: (...about: P) => Promise<R>,
    ) =>
    async (...about: P): Promise<R> => {
      const { exchange, outcome } = await observeCall(operation, async () => call(...about));
      await listener(exchange);
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    };
  const { open, verify, inquire, expire, reverse, refund, refunds, disputes } = adapter;
  return {
    ...adapter,
    open: observe('open', open),
    verify: observe('verify', verify),
    inquire: observe('inquire', inquire),
    ...(expire && { expire: observe('expire', expire) }),
    ...(reverse && { reverse: observe('reverse', reverse) }),
    ...(refund && { refund: observe('refund', refund) }),
    ...(refunds && { refunds: observe('list_refunds', refunds) }),
    ...(disputes && { disputes: observe('list_disputes', disputes) }),
  };
};

type Result =
  OpenResult | GatewayStatus | Reversal | RefundAnswer | KnownRefund[] | KnownDispute[] | boolean;

/** Runs one call. @returns its outcome beside the exchange that records it */
const observeCall = async <R extends Result>(
  operation: GatewayExchange['operation'],
  call: () => Promise<R>,
): Promise<{ exchange: GatewayExchange; outcome: PromiseSettledResult<R> }> => {
  const at = new Date();
  const began = performance.now();
  const [outcome] = await Promise.allSettled([call()]);
  const durationMs = performance.now() - began;
  const facts = outcome.status === 'fulfilled' ? describe(outcome.value) : describeError(outcome);
  return { exchange: { at, operation, ...facts, durationMs }, outcome };
};

type Facts = Pick<GatewayExchange, 'result' | 'code' | 'message'>;

const describe = (result: Result): Facts => {
  if (typeof result === 'boolean') return { result: result ? 'expired' : 'refused', ...noMessage };
  if (Array.isArray(result)) return { result: 'listed', ...noMessage };
  return {
    result: 'state' in result ? result.state : result.result,
    ...('code' in result ? providerMessage(result.code, result.message) : noMessage),
  };
};

const describeError = ({ reason }: PromiseRejectedResult): Facts =>
  reason instanceof GatewayUnavailable
    ? { result: 'no_answer', ...providerMessage(null, reason.message) }
    : { result: 'error', ...noMessage };

const noMessage = providerMessage(null, null);
