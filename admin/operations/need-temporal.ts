import { TemporalUnavailable } from '../../temporal/workflow-calls.ts';
import { Refusal } from './change.ts';

/** @throws Refusal if Temporal is unavailable */
export const needTemporal = async <T>(
  work: () => Promise<T>,
  message = 'Temporal is unavailable. Try again later.',
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TemporalUnavailable) throw new Refusal(message, { cause: error });
    throw error;
  }
};
