import { describe, expect, it } from 'vitest';
import { createAddressBulkhead } from '../../../../api/http/address-bulkhead.ts';
import { createRateLimiter, rateLimited } from '../../../../api/http/rate-limiter.ts';

/** A bulkhead, and the runs that have started in it. */
const aBulkhead = () => {
  const limiter = createRateLimiter({ perMinute: 1, now: () => 0 });
  const bulkhead = createAddressBulkhead(limiter);
  const started: PromiseWithResolvers<void>[] = [];
  const enter = (address: string) =>
    bulkhead(address, {
      run: async () => {
        const result = Promise.withResolvers<void>();
        started.push(result);
        await result.promise;
      },
      reject: () => rateLimited(7),
    });
  return { limiter, started, enter };
};

describe('the bulkhead of an address', () => {
  it('is unlimited while the address is within its limit', () => {
    const { started, enter } = aBulkhead();
    for (let nth = 1; nth <= 5; nth += 1) void enter('a');
    expect(started).toHaveLength(5);
  });

  it('has four slots once the address is at its limit, and a slot passes on after a failure', async () => {
    const { limiter, started, enter } = aBulkhead();
    limiter.hit('a');
    const entered = [1, 2, 3, 4, 5].map(() => enter('a'));
    expect(started).toHaveLength(4);
    started[0]?.reject(new Error('failed'));
    await expect(entered[0]).rejects.toThrow('failed');
    expect(started).toHaveLength(5);
    for (const { resolve } of started) resolve();
    await Promise.all(entered.slice(1));
  });

  it('does not delay another address', () => {
    const { limiter, started, enter } = aBulkhead();
    for (const address of ['a', 'b']) limiter.hit(address);
    for (let nth = 1; nth <= 5; nth += 1) void enter('a');
    void enter('b');
    expect(started).toHaveLength(5);
  });
});
