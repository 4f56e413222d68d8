import { PaymentError } from '../../contract/errors.ts';
import { setRecent } from './lru.ts';

const windowMs = 60_000;

export interface Limit {
  perMinute: number;
  now: () => number;
}

/** RATE_LIMITED for an address that was told so before in its minute: no more lines of the log are due. */
export class RepeatedRateLimitError extends PaymentError {}

/** @param retryAfter seconds */
export const rateLimited = (retryAfter: number, Failure = PaymentError): PaymentError =>
  new Failure('RATE_LIMITED', `Too many requests, try again in ${retryAfter} seconds.`, {
    details: { retry_after: retryAfter },
  });

/**
 * Counts by client address, in this process and in bounded memory: the address whose minute began first
 * makes room. Its minute begins with its first hit.
 */
export const createAddressLimiter = ({ perMinute, now }: Limit) => {
  const windows = new Map<string, { hits: number; endsAt: number }>();
  return {
    /** Counts one more. @returns what to answer where that is too many, else undefined */
    hit(address: string): PaymentError | undefined {
      const time = now();
      let window = windows.get(address);
      if (!window || window.endsAt <= time) {
        window = { hits: 0, endsAt: time + windowMs };
        setRecent(windows, address, window);
      }
      window.hits += 1;
      if (window.hits <= perMinute) return undefined;
      const retryAfter = Math.ceil((window.endsAt - time) / 1000);
      return rateLimited(
        retryAfter,
        window.hits > perMinute + 1 ? RepeatedRateLimitError : PaymentError,
      );
    },
    /** Whether one more would be too many. */
    isUsedUp(address: string): boolean {
      const window = windows.get(address);
      return window !== undefined && window.endsAt > now() && window.hits >= perMinute;
    },
  };
};
export type AddressLimiter = ReturnType<typeof createAddressLimiter>;

/** What is done at once for one address that has used up its limit, and how much may wait for that. */
const atOnceMax = 4;
const waitingMax = 500;

interface Doubtful<T> {
  work: () => Promise<T>;
  /** What is thrown, and counted, where too many wait already. */
  refuse: () => PaymentError;
}

/**
 * For work that shows only when it is done whether it counts, e.g. looking a token up. For an address
 * that has used up its limit few are done at once and the rest wait for their turn: a flood leaves room
 * for others, and a good request in it is still answered.
 */
export const createAddressSemaphore = (limiter: Pick<AddressLimiter, 'isUsedUp'>) => {
  const addresses = new Map<string, { underWay: number; waiting: (() => void)[] }>();
  return async <T>(address: string, { work, refuse }: Doubtful<T>): Promise<T> => {
    if (!limiter.isUsedUp(address)) return work();
    const own = addresses.get(address) ?? { underWay: 0, waiting: [] };
    addresses.set(address, own);
    if (own.underWay < atOnceMax) own.underWay += 1;
    else if (own.waiting.length >= waitingMax) throw refuse();
    // Whoever is done hands his place on.
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = own.waiting.shift();
      if (next) next();
      else if ((own.underWay -= 1) === 0) addresses.delete(address);
    }
  };
};
