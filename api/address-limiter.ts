import { PaymentError } from '../contract/errors.ts';

/** So many addresses are remembered; the one whose minute began first makes room. */
const addressesMax = 10_000;
const windowMs = 60_000;

export interface Limit {
  perMinute: number;
  now: () => number;
}

/** RATE_LIMITED for an address that was told so before in its minute: no more lines of the log are due. */
export class KnownExcess extends PaymentError {}

/** @param retryAfter seconds */
export const tooMany = (retryAfter: number, Failure = PaymentError): PaymentError =>
  new Failure('RATE_LIMITED', `Too many requests, try again in ${retryAfter} seconds.`, {
    details: { retry_after: retryAfter },
  });

/**
 * Counts by client address, in this process and in bounded memory. An address's minute begins with
 * its first hit.
 */
export const createAddressLimiter = ({ perMinute, now }: Limit) => {
  const windows = new Map<string, { hits: number; endsAt: number }>();
  return {
    /** Counts one more. @returns what to answer where that is too many, else undefined */
    hit(address: string): PaymentError | undefined {
      const time = now();
      let window = windows.get(address);
      if (!window || window.endsAt <= time) {
        windows.delete(address);
        const [oldest] = windows.keys();
        if (windows.size >= addressesMax && oldest !== undefined) windows.delete(oldest);
        window = { hits: 0, endsAt: time + windowMs };
        windows.set(address, window);
      }
      window.hits += 1;
      if (window.hits <= perMinute) return undefined;
      const retryAfter = Math.ceil((window.endsAt - time) / 1000);
      return tooMany(retryAfter, window.hits > perMinute + 1 ? KnownExcess : PaymentError);
    },
    /** Whether one more would be too many. */
    isUsedUp(address: string): boolean {
      const window = windows.get(address);
      return window !== undefined && window.endsAt > now() && window.hits >= perMinute;
    },
  };
};
export type AddressLimiter = ReturnType<typeof createAddressLimiter>;

/** What is done at once for one address that has used up its limit. */
const atOnceMax = 2;

interface Doubtful<T> {
  work: () => Promise<T>;
  /** Counts what is not even tried. */
  refuse: () => PaymentError;
}

/**
 * Does what has to be done before it can be told whether it counts. Of an address that has used up its
 * limit it does so for few at once and refuses the rest, which so cost next to nothing.
 */
export const createSparing = (limiter: Pick<AddressLimiter, 'isUsedUp'>) => {
  const underWay = new Map<string, number>();
  return async <T>(address: string, { work, refuse }: Doubtful<T>): Promise<T> => {
    if (!limiter.isUsedUp(address)) return work();
    const others = underWay.get(address) ?? 0;
    if (others >= atOnceMax) throw refuse();
    underWay.set(address, others + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(address) ?? 1) - 1;
      if (left > 0) underWay.set(address, left);
      else underWay.delete(address);
    }
  };
};
