import type { GatewayExchange } from '../contract/gateway-exchange.ts';
import type { Answer, GatewayAdapter, GatewayPayment, Opening, Reversal } from './gateway.ts';
import { GatewayUnavailable } from './gateway.ts';
import { wordsOf } from './redact.ts';

/** Hears of each call about a payment; whoever called is answered once it is done with that. */
export type Listener = (exchange: GatewayExchange) => unknown;

/** The same adapter, of whose calls about a payment somebody hears. */
export const observed = (adapter: GatewayAdapter, tell: Listener): GatewayAdapter => {
  const told =
    <P extends GatewayPayment, A extends Opening | Answer | Reversal | boolean>(
      operation: GatewayExchange['operation'],
      call: (payment: P) => Promise<A>,
    ) =>
    async (payment: P): Promise<A> => {
      const at = new Date();
      const began = performance.now();
      const over = (said: Said) =>
        tell({ at, operation, ...said, durationMs: performance.now() - began });
      try {
        const answer = await call(payment);
        await over(saidIn(answer));
        return answer;
      } catch (error) {
        await over(notSaid(error));
        throw error;
      }
    };
  const { open, verify, inquire, expire, reverse } = adapter;
  return {
    ...adapter,
    open: told('open', open),
    verify: told('verify', verify),
    inquire: told('inquire', inquire),
    ...(expire && { expire: told('expire', expire) }),
    ...(reverse && { reverse: told('reverse', reverse) }),
  };
};

type Said = Pick<GatewayExchange, 'result' | 'code' | 'message'>;

const saidIn = (answer: Opening | Answer | Reversal | boolean): Said => {
  if (typeof answer === 'boolean') return { result: answer ? 'expired' : 'refused', ...noWords };
  const result = 'state' in answer ? answer.state : answer.result;
  return { result, ...('code' in answer ? wordsOf(answer.code, answer.message) : noWords) };
};

const noWords = wordsOf(null, null);

const notSaid = (error: unknown): Said =>
  error instanceof GatewayUnavailable
    ? { result: 'no_answer', ...wordsOf(null, error.message) }
    : { result: 'error', ...noWords };
