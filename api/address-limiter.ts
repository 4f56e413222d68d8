/** So many addresses are remembered; the one whose minute began first makes room. */
const addressesMax = 10_000;
const windowMs = 60_000;

export interface Limit {
  perMinute: number;
  now: () => number;
}

/**
 * Counts by client address, in this process and in bounded memory. An address's minute begins with
 * its first hit.
 */
export const createAddressLimiter = ({ perMinute, now }: Limit) => {
  const windows = new Map<string, { hits: number; endsAt: number }>();
  return {
    /** Counts one more. @returns seconds to wait where that is too many, else undefined */
    hit(address: string): number | undefined {
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
      return window.hits > perMinute ? Math.ceil((window.endsAt - time) / 1000) : undefined;
    },
  };
};
export type AddressLimiter = ReturnType<typeof createAddressLimiter>;
