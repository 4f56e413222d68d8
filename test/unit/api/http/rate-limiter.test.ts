import { describe, expect, it } from 'vitest';
import type { RateLimiter } from '../../../../api/http/rate-limiter.ts';
import { createRateLimiter, RepeatedRateLimitError } from '../../../../api/http/rate-limiter.ts';

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
