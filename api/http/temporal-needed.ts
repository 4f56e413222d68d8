import { PaymentError } from '../../contract/errors.ts';
import { TemporalUnavailable } from '../../temporal/workflow-calls.ts';

/** For requests that only a workflow can carry out. @throws PaymentError SERVICE_UNAVAILABLE with this message */
export const unavailableIfTemporalIsDown = async <T>(
  call: Promise<T>,
  message: string,
): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TemporalUnavailable)) throw error;
    throw new PaymentError('SERVICE_UNAVAILABLE', message, { cause: error });
  }
};
