import type { PaymentError } from '../../contract/errors.ts';
import { createAddressBulkhead } from '../http/address-bulkhead.ts';
import { rateLimited, type RateLimiter } from '../http/rate-limiter.ts';

/** Limits the addresses whose messages nothing proves to be a gateway's. */
export const createSenders = (unverified: RateLimiter) => {
  const bulkhead = createAddressBulkhead(unverified);
  /** Counts a failure for the client's address. @returns the error to throw */
  const counted = (address: string, error: PaymentError): PaymentError =>
    unverified.hit(address) ?? error;
  return {
    counted,
    /** Runs the check of a message. */
    check: <T>(address: string, run: () => Promise<T>): Promise<T> =>
      bulkhead(address, { run, reject: () => counted(address, rateLimited(1)) }),
  };
};
export type Senders = ReturnType<typeof createSenders>;
