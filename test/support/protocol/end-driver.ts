import { mayHaveCaptured } from '../../../activities/gateway-calls.ts';
import type { GatewayStatus } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateway-exchanges.ts';
import type { PaymentOutcomes } from '../../../postgres/payment-outcomes.ts';
import type { End } from '../../../protocol/end.ts';
import type { Records } from '../data/records.ts';
import { confirmed, silence, withGateway } from '../service/scripted-gateway.ts';
import { createBackup } from './backup.ts';
import { type Driver, stopAfter } from './driver.ts';

/** The activities' collaborators. A fault replaces some of them. */
interface Code {
  outcomes: PaymentOutcomes;
  recheckLatePayment: () => Promise<void>;
  isRetry: () => boolean;
}
export type EndFault = (code: Code, records: Records, id: string) => Partial<Code>;

/** The end of a payment: `verifyPayment` and `expirePayment`. */
export const createEndDriver = async (
  records: Records,
  start: End,
  fault?: EndFault,
): Promise<Driver<End>> => {
  const payment = await records.opened();
  const { id } = payment;
  const exchanges = createGatewayExchanges(records.sql);
  const backup = createBackup(records.sql, id);
  await backup.copy();
  /** The gateway's own books. */
  const gateway = { money: start.money, closed: start.closed };
  let late = false;

  const answer = (): GatewayStatus => {
    if (gateway.money === 'unverified') gateway.money = 'captured';
    if (gateway.money === 'captured') return confirmed();
    if (gateway.money === 'moving') return { state: 'processing' };
    return { state: gateway.closed || gateway.money === 'back' ? 'expired' : 'waiting' };
  };

  /** The workflow's last word: there was a recheck that no inquiry has served. */
  const searchLate = () =>
    withGateway(
      records,
      {},
      { workflows: { recheckLatePayment: async () => void (late = true) } },
    ).verifyPayment({ id, returned: false, reported: true });

  return {
    run(_, before, stop) {
      const code: Code = {
        outcomes: records.paymentOutcomes,
        recheckLatePayment: async () => void (late = true),
        isRetry: () => before.retry,
      };
      const { outcomes, recheckLatePayment, isRetry } = { ...code, ...fault?.(code, records, id) };
      const verify = () =>
        stop(async (step) => {
          const said = answer();
          return step.startsWith('lost answer') ? silence() : said;
        });
      const expire = () =>
        stop(async (step) => {
          gateway.closed ||= gateway.money === 'none';
          return step.startsWith('lost answer') ? silence() : gateway.closed;
        });
      const activities = withGateway(
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
      const cancelled = before.payer === 'cancelled';
      // A retry has the request of the first try.
      const reported = before.notice === 'heard' && !before.retry;
      const grace = before.due === 'grace';
      return before.due === 'no'
        ? activities.verifyPayment({ id, returned: false, cancelled, reported })
        : activities.expirePayment({ id, grace, unreachable: false, reported });
    },
    async happen(step, _, after) {
      if (step === 'payer: sendToGateway')
        return records.payments.sendToGateway(id, payment.createdAt);
      if (step === 'payer returns: recordLostCheckout')
        return records.payments.recordLostCheckout(id, new Date());
      if (step === 'replica or backup copies') return backup.copy();
      if (step === 'failover or restore') return backup.restore();
      if (step === 'verifyPayment: recheckLatePayment') await searchLate();
      if (step === 'notification: recheckLatePayment') late = true;
      gateway.money = after.money;
      return undefined;
    },
    async observe() {
      const row = await records.paymentOutcomes.get(id);
      return {
        status: row?.status === 'processing' ? 'pending' : (row?.status as End['status']),
        events: (await records.listEvents(id)).length,
        checkout: row?.payerSent ?? false,
        doubt: mayHaveCaptured(await exchanges.list(id)),
        late,
        ...gateway,
      };
    },
  };
};
