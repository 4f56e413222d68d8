import { createDisputeTask } from '../../../activities/sweeper-tasks/disputes.ts';
import type { KnownDispute } from '../../../contract/dispute.ts';
import { disputeId, refundId } from '../../../contract/ids.ts';
import { createDisputes, type Disputes } from '../../../postgres/payments/disputes.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createRefundOutcomes, type RefundOutcomes } from '../../../postgres/refunds/outcomes.ts';
import { createRefunds } from '../../../postgres/refunds/refunds.ts';
import type { Dispute } from '../../../protocol/dispute.ts';
import type { Records } from '../data/records.ts';
import { aRefund, refundEnd } from '../data/refund-cases.ts';
import { aGateway, publicBaseUrl, readableLogger, silence } from '../service/scripted-gateway.ts';
import { type Driver, type Stop, stopAfter } from './driver.ts';

type Says = Dispute['gateway'];

/** Replaces statements by faulty ones. */
export type DisputeFault = (
  disputes: Disputes,
  refunds: RefundOutcomes,
) => { disputes?: Partial<Disputes>; refunds?: Partial<RefundOutcomes> };

/** Of 1,250 that were paid: a unit of the model is 625. */
const unit = 625;

/** The dispute at the gateway. The reason is the model's word: a status may come back. */
const shown = (says: Says, reference: string): KnownDispute[] =>
  says === 'none'
    ? []
    : [
        {
          gatewayReference: reference,
          stage: says === 'inquiry' ? 'inquiry' : 'chargeback',
          status:
            says === 'won' || says === 'won_again'
              ? 'won'
              : says === 'lost'
                ? 'lost'
                : 'needs_response',
          amount: 2 * unit,
          currency: 'EUR',
          reason: says,
          networkReason: null,
          respondBy: null,
          openedAt: new Date(0),
        },
      ];

/** A dispute of one payment, the looks of the sweeper at it, and a refund. */
export const createDisputeDriver = async (
  records: Records,
  start: Dispute,
  fault?: DisputeFault,
): Promise<Driver<Dispute>> => {
  const { sql } = records;
  const payment = await records.ended('paid', { gateway: 'stripe' });
  const realDisputes = createDisputes(sql);
  const realOutcomes = createRefundOutcomes(sql);
  const faulty = fault?.(realDisputes, realOutcomes);
  const disputes = { ...realDisputes, ...faulty?.disputes };
  const outcomes = { ...realOutcomes, ...faulty?.refunds };
  const reference = `dp_${payment.id}`;
  const refund = { id: refundId([payment.id, 'one']), paymentId: payment.id };
  let says: Says = start.gateway;

  const lookWith = async (stop: Stop) => {
    const { gatewayOf } = aGateway({
      disputes: () =>
        stop(
          async (step) => (step.startsWith('lost answer') ? silence() : shown(says, reference)),
          (step) => step.startsWith('lost answer'),
        ),
    });
    const { lookAtDisputes } = createDisputeTask({
      disputes: {
        // Only this payment. It stays due: who crashed is followed at once, and not after 10 minutes.
        claimLooks: stopAfter(
          stop,
          async () => sql<{ paymentId: string; number: number }[]>`
          select payment_id as "paymentId", number from dispute_looks
          where payment_id = ${payment.id} and due_at <= now()`,
        ),
        recordLook: disputes.recordLook,
      },
      paymentOutcomes: records.paymentOutcomes,
      gatewayExchanges: createGatewayExchanges(sql),
      gatewayOf,
      publicBaseUrl,
      workflows: { restart: async () => {} },
      now: () => new Date(),
      logger: readableLogger().logger,
    });
    await lookAtDisputes();
  };

  const finish = (failureCode: 'disputed' | null) =>
    outcomes.finishRefund(refund, refundEnd(failureCode), { now: new Date(), exchanges: [] });

  return {
    tryOf: (step) => /\(([ab])\)$/.exec(step)?.[1],
    run: (_, __, stop) => lookWith(stop),
    async happen(step, _, after) {
      says = after.gateway;
      if (step.endsWith('requestLook')) await disputes.requestLook(payment.id);
      else if (step === 'a day passes')
        await sql`update dispute_looks set due_at = now() where payment_id = ${payment.id}`;
      else if (step === 'application: reserve')
        await createRefunds(sql).insert(aRefund(payment, { id: refund.id, amount: unit }));
      else if (step === 'markTold')
        await outcomes.markTold(refund.id, { timesTold: 0, now: new Date() });
      else if (step === 'finishRefund: succeeded') await finish(null);
      else if (step === 'gateway.refund: refused') await finish('disputed');
      else if (step === 'finishRefund: failed, disputed') {
        // The activity reads it before it tells the gateway.
        if ((await outcomes.get(refund.id))?.isDisputed) await finish('disputed');
      }
    },
    async observe() {
      const [recorded] = await sql<{ reason: Says }[]>`
        select reason from disputes where id = ${disputeId(payment.gateway, reference)}`;
      const [look] = await sql<{ due: boolean }[]>`
        select due_at <= now() is true as due from dispute_looks where payment_id = ${payment.id}`;
      const found = await outcomes.get(refund.id);
      const status = found?.status ?? 'none';
      // Whether it was told may still be written when it could not be told any more.
      const isOut = status === 'pending' && (found?.timesTold ?? 0) > 0;
      return {
        gateway: says,
        recorded: recorded?.reason ?? 'none',
        due: look?.due ?? false,
        refund: isOut ? 'told' : status,
      };
    },
  };
};
