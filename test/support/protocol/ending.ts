import { mayHaveCaptured } from '../../../activities/gateway-calls.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import type { PaymentOutcomes } from '../../../postgres/payments/outcomes.ts';
import type { Cancel } from '../../../protocol/cancel.ts';
import type { End } from '../../../protocol/end.ts';
import type { Records } from '../data/records.ts';
import { confirmed, silence, withGateway } from '../service/scripted-gateway.ts';
import { type Stop, stopAfter } from './driver.ts';

/** The activities' collaborators. A fault replaces some of them. */
interface Code {
  outcomes: PaymentOutcomes;
  recheckLatePayment: () => Promise<void>;
  isRetry: () => boolean;
}
export type EndingFault = (code: Code, records: Records, id: string) => Partial<Code>;

/** What ends a payment: its gateway, and the activities that ask it. */
export const createEnding = (
  records: Records,
  id: string,
  start: Pick<End | Cancel, 'gateway' | 'money' | 'closed' | 'late'>,
) => {
  /** The gateway's own books. */
  const gateway = { money: start.money, closed: start.closed };
  let { late } = start;
  const findLate = async () => void (late = true);

  const answer = (): GatewayStatus => {
    if (gateway.money === 'unverified') gateway.money = 'captured';
    if (gateway.money === 'captured') return confirmed();
    if (gateway.money === 'moving') return { state: 'processing' };
    return { state: gateway.closed || gateway.money === 'back' ? 'expired' : 'waiting' };
  };

  return {
    gateway,
    findLate,
    /** The activities of one try. */
    activities(stop: Stop, before: { retry: boolean }, fault?: EndingFault) {
      const code: Code = {
        outcomes: records.paymentOutcomes,
        recheckLatePayment: findLate,
        isRetry: () => before.retry,
      };
      const { outcomes, recheckLatePayment, isRetry } = { ...code, ...fault?.(code, records, id) };
      const asked = <T>(said: () => T) =>
        stop(async (step) => {
          const known = said();
          return step.startsWith('lost answer') ? silence() : known;
        });
      const verify = () => asked(answer);
      const expire = () => asked(() => (gateway.closed ||= gateway.money === 'none'));
      return withGateway(
        records,
        { verify, ...(start.gateway === 'closes' && { expire }) },
        {
          paymentOutcomes: {
            ...outcomes,
            finalize: stopAfter(stop, outcomes.finalize),
            recordInquiry: stopAfter(stop, outcomes.recordInquiry, (isOpen) => !isOpen),
          },
          workflows: { recheckLatePayment },
          isRetry,
        },
      );
    },
    /** The workflow's last word: there was a recheck that no inquiry has served. */
    searchLate: () =>
      withGateway(records, {}, { workflows: { recheckLatePayment: findLate } }).verifyPayment({
        id,
        returned: false,
        reported: true,
      }),
    async observe() {
      const row = await records.paymentOutcomes.get(id);
      return {
        status: row?.status === 'processing' ? 'pending' : row?.status,
        events: (await records.listEvents(id)).length,
        checkout: row?.payerSent ?? false,
        doubt: mayHaveCaptured(await createGatewayExchanges(records.sql).list(id)),
        late,
        ...gateway,
      };
    },
  };
};
