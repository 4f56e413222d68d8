import { describe, expect, it } from 'vitest';
import type { AddressLimiter } from '../../../../api/http/address-limiter.ts';
import {
  createAddressLimiter,
  createAddressSemaphore,
  RepeatedRateLimitError,
  rateLimited,
} from '../../../../api/http/address-limiter.ts';
import { rateLimitKey, createClientAddress } from '../../../../api/http/client-address.ts';

const proxies = [
  { address: '10.0.0.0', prefix: 8 },
  { address: 'fd00::', prefix: 8 },
];

type Request = Parameters<ReturnType<typeof createClientAddress>>[0];

const aRequest = (remoteAddress: string, forwarded?: string | string[]) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Request; // The two that are read.

const addressOf = (
  remoteAddress: string,
  forwarded?: string | string[],
  trustedProxies = proxies,
) =>
  createClientAddress({ trustedProxies, logger: { error() {} } })(
    aRequest(remoteAddress, forwarded),
  );

describe('the client address', () => {
  it('is the one of the socket, whatever is forwarded, unless that is a proxy of ours', () => {
    expect(addressOf('192.0.2.1')).toBe('192.0.2.1');
    expect(addressOf('192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
    expect(addressOf('10.0.0.1', '198.51.100.7', [])).toBe('10.0.0.1');
    expect(addressOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  });

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['203.0.113.9,198.51.100.7,10.1.2.3,fd00::1', '198.51.100.7'],
    ['10.1.2.3', '10.1.2.3'],
    ['', '10.0.0.1'],
    ['unknown', '10.0.0.1'],
    ['198.51.100.7, nonsense', '10.0.0.1'],
    ['198.51.100.7:5123', '198.51.100.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::1'],
  ])('behind a proxy that forwards %j it is %s', (forwarded, client) => {
    expect(addressOf('10.0.0.1', forwarded)).toBe(client);
    expect(addressOf('::ffff:10.0.0.1', forwarded)).toBe(client);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['', ''],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:02::0009', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001::1:2:3:4:5', '2001:0:0:1::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::2:3:4:5:6:7', '0:0:2:3::/64'],
    ['::ffff:198.51.100.7', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ])('%j is counted as %s: by /64 where it is IPv6', (address, counted) => {
    expect(rateLimitKey(address)).toBe(counted);
  });
});

describe('a proxy that nobody has named', () => {
  const told = (trustedProxies: typeof proxies, requests: Request[]) => {
    const lines: unknown[] = [];
    const clientAddress = createClientAddress({
      trustedProxies,
      logger: { error: (...line: unknown[]) => void lines.push(line) },
    });
    for (const request of requests) clientAddress(request);
    return lines;
  };

  it.each(['10.0.0.1', '127.0.0.1', '::1'])(
    'at %s is an error in the log, once, with its address and the setting',
    (peer) => {
      const requests = [aRequest(peer), ...Array(3).fill(aRequest(peer, '198.51.100.7'))];
      const line = [{ address: peer }, expect.stringContaining('TRUSTED_PROXIES')];
      expect(told([], requests)).toEqual([line]);
    },
  );

  it('is an error, too, when the setting holds another address', () => {
    const line = [{ address: '192.0.2.1' }, expect.stringContaining('TRUSTED_PROXIES')];
    expect(told(proxies, [aRequest('192.0.2.1', '198.51.100.7')])).toEqual([line]);
  });

  it('is no error as long as the header does not come', () => {
    expect(told([], [aRequest('192.0.2.1')])).toEqual([]);
  });
});

describe('a limit by address', () => {
  /** The limiter's answers to hits, as seconds to wait. */
  const hitsOn =
    (limiter: AddressLimiter) =>
    (address: string): number | undefined =>
      limiter.hit(address)?.details?.retry_after;

  it('holds for a minute from the first hit, for each address alone', () => {
    let time = 0;
    const hit = hitsOn(createAddressLimiter({ perMinute: 2, now: () => time }));
    expect([hit('a'), hit('a'), hit('a')]).toEqual([undefined, undefined, 60]);
    expect(hit('b')).toBeUndefined();
    time = 59_001;
    expect(hit('a')).toBe(1);
    time = 60_000;
    expect([hit('a'), hit('a'), hit('a')]).toEqual([undefined, undefined, 60]);
  });

  it('remembers no more than 10,000 addresses, whatever comes', () => {
    const limiter = createAddressLimiter({ perMinute: 1, now: () => 0 });
    const hit = hitsOn(limiter);
    for (let index = 0; index < 50_000; index += 1) hit(`address-${index}`);
    expect([hit('address-40000'), hit('address-49999')]).toEqual([60, 60]);
    expect(hit('address-39999')).toBeUndefined();
  });

  it('is news once in a minute', () => {
    let time = 0;
    const limiter = createAddressLimiter({ perMinute: 1, now: () => time });
    const isNews = () => {
      const excess = limiter.hit('a');
      return excess && !(excess instanceof RepeatedRateLimitError);
    };
    expect([isNews(), isNews(), isNews(), isNews()]).toEqual([undefined, true, false, false]);
    time = 60_000;
    expect([isNews(), isNews(), isNews()]).toEqual([undefined, true, false]);
  });

  it('that is used up leaves room for four at once, of what may yet not count; the rest waits', async () => {
    const limiter = createAddressLimiter({ perMinute: 1, now: () => 0 });
    const works: PromiseWithResolvers<void>[] = [];
    const doubtful = {
      work: async () => {
        const given = Promise.withResolvers<void>();
        works.push(given);
        await given.promise;
      },
      refuse: () => rateLimited(7),
    };
    const spare = createAddressSemaphore(limiter);
    const before = [1, 2, 3, 4, 5].map(() => spare('a', doubtful));
    expect(works).toHaveLength(5);
    limiter.hit('a');
    const inTurn = [1, 2, 3, 4, 5].map(() => spare('a', doubtful));
    expect(works).toHaveLength(9);
    const elsewhere = spare('b', doubtful);
    expect(works).toHaveLength(10);
    works[5]?.reject(new Error('in vain'));
    await expect(inTurn[0]).rejects.toThrow('in vain');
    expect(works).toHaveLength(11);
    for (const { resolve } of works) resolve();
    await Promise.all([...before, ...inTurn.slice(1), elsewhere]);

    void Array.from({ length: 504 }, () => spare('a', doubtful));
    await expect(spare('a', doubtful)).rejects.toMatchObject({ details: { retry_after: 7 } });
  });
});
