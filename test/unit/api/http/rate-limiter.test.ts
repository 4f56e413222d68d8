import { describe, expect, it } from 'vitest';
import {
  createPageLimiter,
  createRateLimiter,
  RepeatedRateLimitError,
  type RateLimiter,
} from '../../../../api/http/rate-limiter.ts';

/** Hits an address. @returns the seconds to wait, or undefined within the limit */
const hitsOn =
  (limiter: RateLimiter) =>
  (address: string): number | undefined =>
    limiter.hit(address)?.details?.retry_after;

describe('a rate limiter', () => {
  it('counts each address alone, for a minute from its first hit', () => {
    let time = 0;
    const hit = hitsOn(createRateLimiter({ perMinute: 2, now: () => time }));
    expect([hit('a'), hit('a'), hit('a')]).toEqual([undefined, undefined, 60]);
    expect(hit('b')).toBeUndefined();
    time = 59_001;
    expect(hit('a')).toBe(1);
    time = 60_000;
    expect([hit('a'), hit('a'), hit('a')]).toEqual([undefined, undefined, 60]);
  });

  it('remembers at most 10,000 addresses', () => {
    const hit = hitsOn(createRateLimiter({ perMinute: 1, now: () => 0 }));
    for (let index = 0; index < 50_000; index += 1) hit(`address-${index}`);
    expect([hit('address-40000'), hit('address-49999')]).toEqual([60, 60]);
    expect(hit('address-39999')).toBeUndefined();
  });

  it('marks every rejection but the first in a minute as repeated', () => {
    let time = 0;
    const limiter = createRateLimiter({ perMinute: 1, now: () => time });
    const isRepeated = () => {
      const error = limiter.hit('a');
      return error && error instanceof RepeatedRateLimitError;
    };
    const threeHits = () => [isRepeated(), isRepeated(), isRepeated()];
    expect([...threeHits(), isRepeated()]).toEqual([undefined, false, true, true]);
    time = 60_000;
    expect(threeHits()).toEqual([undefined, false, true]);
  });
});

describe('a rate limiter, for IPv6', () => {
  const addressOf = (site: string, index: number) => `${site}:${index.toString(16)}::/64`;

  it('counts a /64, and its /48 with ten times the limit', () => {
    const limiter = createRateLimiter({ perMinute: 6, now: () => 0 });
    const hit = hitsOn(limiter);
    const allowed = Array.from({ length: 1_000 }, (_, index) =>
      hit(addressOf('2001:db8:1', index)),
    ).filter((retryAfter) => retryAfter === undefined);
    expect(allowed).toHaveLength(60);
    expect(limiter.isAtLimit(addressOf('2001:db8:1', 2_000))).toBe(true);
    expect(limiter.isAtLimit(addressOf('2001:db8:2', 1))).toBe(false);
    expect(hit(addressOf('2001:db8:2', 1))).toBeUndefined();
  });

  it('counts the /48 also when its addresses are too many to remember', () => {
    const hit = hitsOn(createRateLimiter({ perMinute: 6, now: () => 0 }));
    let allowed = 0;
    for (let index = 0; index < 65_536; index += 1)
      if (hit(addressOf('2001:db8:1', index)) === undefined) allowed += 1;
    expect(allowed).toBe(60);
  });

  it('does not count hits over the limit of one /64 for the others of its /48', () => {
    const hit = hitsOn(createRateLimiter({ perMinute: 6, now: () => 0 }));
    for (let count = 0; count < 1_000; count += 1) hit(addressOf('2001:db8:1', 1));
    expect(hit(addressOf('2001:db8:1', 2))).toBeUndefined();
  });
});

describe('a limiter of pages', () => {
  /** Of 2,000 hits, those within the limit. */
  const hits = (hit: (index: number) => [address: string, id: string]) => {
    const limiter = createPageLimiter({ perMinute: 6, now: () => 0 });
    return Array.from({ length: 2_000 }, (_, index) => limiter.hit(...hit(index))).filter(
      (error) => error === undefined,
    ).length;
  };

  it('counts each payment of an address alone, and all of them with a hundred times the limit', () => {
    expect(hits(() => ['192.0.2.1', 'PAY_1'])).toBe(6);
    expect(hits((index) => ['192.0.2.1', `PAY_${index % 50}`])).toBe(50 * 6);
    expect(hits((index) => ['192.0.2.1', `PAY_${index}`])).toBe(600);
  });

  it('counts the payments of a /48 with ten times the limit', () => {
    const address = (index: number) => `2001:db8:1:${index.toString(16)}::/64`;
    expect(hits((index) => [address(index), `PAY_${index}`])).toBe(60);
  });
});
