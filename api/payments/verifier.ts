import { PaymentError } from '../../contract/errors.ts';
import type { Status } from '../../contract/status.ts';
import type { SharedResult, VerifyRequest } from '../../temporal/messages.ts';
import {
  type WorkflowCalls,
  TemporalUnavailable,
  type VerifyStart,
} from '../../temporal/workflow-calls.ts';

export interface Deps {
  workflows: Pick<WorkflowCalls, 'verify'>;
}

/** Has payments verified by their workflows. Equal requests share one verification. */
export const createVerifier =
  ({ workflows }: Deps) =>
  /**
   * @param signal aborts when the client hangs up; the verification goes on
   * @throws PaymentError SERVICE_UNAVAILABLE if no worker answers within 10 s
   */
  async (
    payment: VerifyStart & { status: Status },
    request: VerifyRequest,
    signal?: AbortSignal,
  ): Promise<SharedResult> => {
    // Without an outcome a return makes a payment `processing`. If it is that already, a return and a
    // verify ask for the same, and may share a verification.
    const returned = request.returned || payment.status === 'processing';
    try {
      return await workflows.verify(payment, { ...request, returned }, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TemporalUnavailable)) throw error;
      throw new PaymentError('SERVICE_UNAVAILABLE', 'The payment cannot be verified now.', {
        cause: error,
      });
    }
  };
export type Verify = ReturnType<typeof createVerifier>;
