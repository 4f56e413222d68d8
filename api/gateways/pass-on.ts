import { isTerminal } from '../../contract/status.ts';
import type { PaymentRef } from '../../postgres/payments/payments.ts';
import type { WorkflowCalls } from '../../temporal/workflow-calls.ts';
import { unavailableIfTemporalIsDown } from '../http/temporal-needed.ts';

export interface Deps {
  workflows: Pick<WorkflowCalls, 'recheck' | 'recheckLatePayment'>;
}

/** @throws PaymentError SERVICE_UNAVAILABLE when Temporal is not available; the gateway will retry */
export const orRetry = (call: Promise<void>): Promise<void> =>
  unavailableIfTemporalIsDown(call, notNow);

export const notNow = 'Notifications cannot be received now.';

/**
 * Has the gateway asked about a payment that is not paid.
 * @param options.isClosed nobody can pay it any more
 * @throws PaymentError like `orRetry`
 */
export const passOnChange = async (
  { workflows }: Deps,
  payment: PaymentRef,
  { isClosed = false }: { isClosed?: boolean } = {},
): Promise<void> => {
  const { id, status } = payment;
  // We closed it ourselves when it ended, or nobody can pay it any more either way.
  if (status === 'paid' || (isClosed && isTerminal(status))) return;
  const recheck = isTerminal(status)
    ? workflows.recheckLatePayment(id)
    : workflows.recheck(payment, { unlessEnded: isClosed });
  await orRetry(recheck);
};
