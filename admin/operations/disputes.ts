import type { ListPage } from '../../contract/list.ts';
import { findDriver } from '../../gateways/registry.ts';
import {
  createAdminDisputes,
  type DisputeFilter,
  type DisputeRecord,
} from '../../postgres/admin/disputes.ts';
import { createAdminEvents, type EventSummary } from '../../postgres/admin/events.ts';
import { createAdminPayments, type PaymentRecord } from '../../postgres/admin/payments.ts';
import { findApplication } from './applications.ts';
import { NotFound } from './change.ts';
import type { Deps } from './deps.ts';

/** A dispute with its payment and everything that a person needs to answer it. */
export interface DisputeDetails {
  dispute: DisputeRecord;
  payment: PaymentRecord;
  /** The dispute's own events, in the order of recording. */
  events: EventSummary[];
  /** The page at the gateway where a person answers it; null: this version knows none. */
  gatewayUrl: string | null;
}

export const createDisputeOperations = ({ sql }: Pick<Deps, 'sql'>) => {
  const disputes = createAdminDisputes(sql);
  return {
    async list(filter: DisputeFilter, page: ListPage): Promise<DisputeRecord[]> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      const { paymentId } = filter;
      if (paymentId !== null && !(await createAdminPayments(sql).get(paymentId)))
        throw new NotFound(`There is no payment ${paymentId}.`);
      return disputes.list(filter, page);
    },

    listToAnswer: (test: boolean, limit: number): Promise<DisputeRecord[]> =>
      disputes.listToAnswer(test, limit),

    /** Undefined: there is no such dispute. */
    async applicationOf(id: string): Promise<string | undefined> {
      return (await disputes.get(id))?.application;
    },

    /** @throws NotFound */
    async details(id: string): Promise<DisputeDetails> {
      const dispute = await disputes.get(id);
      const payment = dispute && (await createAdminPayments(sql).get(dispute.paymentId));
      if (!dispute || !payment) throw new NotFound(`There is no dispute ${id}.`);
      const events = await createAdminEvents(sql).listOfPayment(payment.id);
      return {
        dispute,
        payment,
        events: events.filter(({ disputeId }) => disputeId === id),
        gatewayUrl: findDriver(dispute.driver)?.disputeUrl?.(dispute) ?? null,
      };
    },
  };
};
