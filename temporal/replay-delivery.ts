import type { WorkflowStart } from '../contract/payment.ts';
import type { WorkflowCalls } from './workflow-calls.ts';

/** When the next attempt follows. `later`: Temporal is unavailable, and the sweeper starts it. */
export type Replayed = 'at once' | 'later';

/**
 * Replays a delivery, for applications and for operators: the record is committed first, and then the payment's own
 * workflow delivers. Postgres alone says whether there is something to deliver, so calls at once begin one round.
 * @param record commits the change of the delivery; undefined if the delivery has another state than expected
 */
export const replayDelivery = async <None>(
  record: () => Promise<WorkflowStart | None>,
  deliver: WorkflowCalls['deliver'],
): Promise<Replayed | None> => {
  const payment = await record();
  if (!isPayment(payment)) return payment;
  return deliver(payment).then(
    () => 'at once',
    () => 'later',
  );
};

const isPayment = (found: unknown): found is WorkflowStart => typeof found === 'object';
