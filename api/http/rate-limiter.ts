import { PaymentError } from '../../contract/errors.ts';
import { siteKey } from './client-address.ts';
import { setRecent } from './lru.ts';

const windowMs = 60_000;

export interface Limit {
  perMinute: number;
  now: () => number;
}

/** Raised from the second rejection in a window on; callers do not log it. */
export class RepeatedRateLimitError extends PaymentError {}

/** @param retryAfter seconds */
export const rateLimited = (retryAfter: number, Failure = PaymentError): PaymentError =>
  new Failure('RATE_LIMITED', `Too many requests, try again in ${retryAfter} seconds.`, {
    details: { retry_after: retryAfter },
  });

/** The hits of a /48, in which one client may have 65,536 addresses that count as one each. */
const timesPerSite = 10;

/**
 * Counts hits by client address, in this process and in bounded memory. The window of an address
 * begins with its first hit; when there are too many addresses, the oldest window is forgotten. An IPv6
 * address counts for its /48 too, with a larger limit and in windows of their own: many addresses of one
 * /48 cannot make the limiter forget it.
 *
 * Not rate-limiter-flexible: its memory store keeps every address and a timer for each.
 */
export const createRateLimiter = ({ perMinute, now }: Limit) => {
  const addresses = createWindows({ perMinute, now });
  const sites = createWindows({ perMinute: perMinute * timesPerSite, now });
  return {
    /** Counts one hit. @returns the error to respond with when it is over the limit */
    hit(address: string): PaymentError | undefined {
      const site = siteKey(address);
      // Hits over the limit of one address do not use up that of its neighbours.
      return addresses.hit(address) ?? (site === undefined ? undefined : sites.hit(site));
    },
    /** Whether the next hit would be over the limit. */
    isAtLimit(address: string): boolean {
      const site = siteKey(address);
      return addresses.isAtLimit(address) || (site !== undefined && sites.isAtLimit(site));
    },
  };
};
export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Behind one IPv4 address may be all the payers of a mobile network or of a hall. */
const timesPerAddress = 100;

/**
 * Counts the pages of each payment by address. All payments of an address together have a much larger limit, so that payers
 * behind one address do not stop each other; those of a /48, which costs an attacker nothing, a smaller one.
 */
export const createPageLimiter = ({ perMinute, now }: Limit) => {
  const payments = createWindows({ perMinute, now });
  const addresses = createWindows({ perMinute: perMinute * timesPerAddress, now });
  const sites = createWindows({ perMinute: perMinute * timesPerSite, now });
  return {
    /**
     * Counts one hit.
     * @param paymentId empty if the link belongs to none
     * @returns the error to respond with when it is over the limit
     */
    hit(address: string, paymentId: string): PaymentError | undefined {
      const site = siteKey(address);
      return (
        payments.hit(`${paymentId} ${address}`) ??
        (site === undefined ? addresses.hit(address) : sites.hit(site))
      );
    },
  };
};
export type PageLimiter = ReturnType<typeof createPageLimiter>;

const createWindows = ({ perMinute, now }: Limit) => {
  const windows = new Map<string, { hits: number; endsAt: number }>();
  return {
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
      const isRepeated = window.hits > perMinute + 1;
      return rateLimited(retryAfter, isRepeated ? RepeatedRateLimitError : PaymentError);
    },
    isAtLimit(address: string): boolean {
      const window = windows.get(address);
      return window !== undefined && window.endsAt > now() && window.hits >= perMinute;
    },
  };
};
