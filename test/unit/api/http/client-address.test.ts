import { describe, expect, it } from 'vitest';
import {
  addressInLog,
  createClientAddress,
  rateLimitKey,
} from '../../../../api/http/client-address.ts';

const proxies = [
  { address: '10.0.0.0', prefix: 8 },
  { address: 'fd00::', prefix: 8 },
];

type Request = Parameters<ReturnType<typeof createClientAddress>>[0];

const aRequest = (remoteAddress: string, forwarded?: string | string[]) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as Request; // The two fields that are read.

const addressOf = (
  remoteAddress: string,
  forwarded?: string | string[],
  trustedProxies = proxies,
) =>
  createClientAddress({ trustedProxies, logger: { error() {} } })(
    aRequest(remoteAddress, forwarded),
  );

describe('the client address', () => {
  it('is the address of the socket unless that is a trusted proxy', () => {
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
    ['203.0.113.9, ::ffff:a00:1', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
  ])('behind a trusted proxy that forwards %j is %s', (forwarded, client) => {
    expect(addressOf('10.0.0.1', forwarded)).toBe(client);
    expect(addressOf('::ffff:10.0.0.1', forwarded)).toBe(client);
  });
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
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::ffff:909:909', '9.9.9.9'],
  ['::FFFF:c633:6407', '198.51.100.7'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['64:ff9b::909:909', '9.9.9.9'],
  ['64:ff9b::198.51.100.7', '198.51.100.7'],
  ['::ffff:0:198.51.100.7', '198.51.100.7'],
  ['64:ff9b::ffff:ffff', '255.255.255.255'],
  ['64:ff9b::', '0.0.0.0'],
  ['64:ff9b:1::909:909', '64:ff9b:1:0::/64'],
  ['64:ff9b::1:909:909', '64:ff9b:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
])('rateLimitKey counts %j as %s', (address, key) => {
  expect(rateLimitKey(address)).toBe(key);
});

it.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['64:ff9b::192.0.2.77', '192.0.2.0/24'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
])('the log shows of %j truncated %s', (address, shown) => {
  expect(addressInLog(address, 'truncated')).toBe(shown);
  expect(addressInLog(address, 'full')).toBe(address);
  expect(addressInLog(address, 'off')).toBeUndefined();
});

it('the log shows nothing of an address that is not known', () => {
  for (const form of ['full', 'truncated'] as const) expect(addressInLog('', form)).toBeUndefined();
});

describe('a proxy that is missing in TRUSTED_PROXIES', () => {
  const linesAfter = (trustedProxies: typeof proxies, requests: Request[]) => {
    const lines: unknown[] = [];
    const clientAddress = createClientAddress({
      trustedProxies,
      logger: { error: (...line: unknown[]) => void lines.push(line) },
    });
    for (const request of requests) clientAddress(request);
    return lines;
  };

  it.each(['10.0.0.1', '127.0.0.1', '::1'])(
    'is logged as one error with its address and the setting: %s',
    (peer) => {
      const requests = [aRequest(peer), ...Array(3).fill(aRequest(peer, '198.51.100.7'))];
      const line = [{ address: peer }, expect.stringContaining('TRUSTED_PROXIES')];
      expect(linesAfter([], requests)).toEqual([line]);
    },
  );

  it('is logged as an error when the setting holds another address', () => {
    const line = [{ address: '192.0.2.1' }, expect.stringContaining('TRUSTED_PROXIES')];
    expect(linesAfter(proxies, [aRequest('192.0.2.1', '198.51.100.7')])).toEqual([line]);
  });

  it('is not reported as long as no request has the header', () => {
    expect(linesAfter([], [aRequest('192.0.2.1')])).toEqual([]);
  });
});
