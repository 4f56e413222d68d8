import type { Client } from '@temporalio/client';
import {
  createResets as createTemporalResets,
  ResetFailure,
  type Resets,
} from '../temporal/resets.ts';
import { Refusal } from './change.ts';

export type { ResetResult, Resets } from '../temporal/resets.ts';

/** The fault is Temporal's, not the payment's: the next reset may fail too. */
export class ResetFailed extends Refusal {}

/** For admins, who read the message of a failure. */
export const createResets = (client: Client): Resets => {
  const { toDelivery } = createTemporalResets(client);
  return {
    async toDelivery(paymentId, reason) {
      try {
        return await toDelivery(paymentId, reason);
      } catch (error) {
        if (!(error instanceof ResetFailure)) throw error;
        throw new ResetFailed(error.message, { cause: error });
      }
    },
  };
};
