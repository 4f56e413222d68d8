import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLocalhost } from '../../../contract/localhost.ts';
import { hostOf, isAllowedAddress, webhookUrlProblem } from '../../../webhooks/address.ts';

const strict = { allowLoopback: false };
const local = { allowLoopback: true };

/** What each denied range is for, its first and its last address, and well-known ones. */
const denied: [range: string, ...addresses: string[]][] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private, 10/8', '10.0.0.0', '10.255.255.255'],
  ['private, 172.16/12', '172.16.0.0', '172.31.255.255'],
  ['private, 192.168/16', '192.168.0.0', '192.168.255.255'],
  ['carrier NAT', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
  ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
  ['link-local', '169.254.0.0', '169.254.169.254', '169.254.170.2', 'fe80::1', 'febf::1'],
  ['protocol assignments', '192.0.0.0', '192.0.0.192', '192.0.0.255'],
  ['AS112 and AMT', '192.31.196.1', '192.52.193.1', '192.175.48.1', '2620:4f:8000::1'],
  ['6to4', '192.88.99.1', '2002:7f00:1::', '2002:a9fe:a9fe::1'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation, IPv4', '192.0.2.1', '198.51.100.1', '203.0.113.255'],
  ['documentation, IPv6', '2001:db8::1', '2001:db8:ffff::1', '3fff::1', '3fff:fff:ffff::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['reserved', '240.0.0.1', '255.255.255.255', '4000::1', '1fff:ffff::1'],
  ['metadata of Azure', '168.63.129.16'],
  ['unspecified and compatible', '::', '::7f00:1', '::127.0.0.1'],
  ['mapped', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  ['discard and segment routing', '100::1', '100:0:0:1::1', '5f00::1'],
  ['unique local', 'fc00::1', 'fd00:ec2::254'],
  ['site-local', 'fec0::1'],
  ['IETF, with Teredo', '2001::1', '2001:0:7f00:1::', '2001:1ff:ffff::1'],
  ['ISATAP', 'fe80::5efe:127.0.0.1'],
];

/** Each is next to a denied range, or well known. */
const allowed = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
  ...['172.32.0.0', '192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ...['198.20.0.0', '223.255.255.255', '168.63.129.15', '168.63.129.17', '2000::1'],
  ...['2001:200::1', '2001:4860:4860::8888', '2001:db7::1', '2001:db9::1', '2003::1'],
  ...['2606:4700::1111', '2620:4f:8001::1', '3ffe::1', '3fff:1000::1'],
];

const allowedOf = (addresses: readonly string[], options = strict) =>
  addresses.filter((address) => isAllowedAddress(address, options));

describe('isAllowedAddress', () => {
  it.each(denied)('denies %s', (_, ...addresses) => {
    expect(allowedOf(addresses)).toEqual([]);
  });

  it('allows the addresses next to the denied ranges', () => {
    expect(allowedOf(allowed)).toEqual(allowed);
  });

  it('denies a text that is not an address', () => {
    const ipv4 = ['', 'localhost', '1.2.3', '01.2.3.4', '256.1.1.1', '1.2.3.4.5'];
    expect(allowedOf([...ipv4, '::g', 'fe80::1%eth0', '2000::1%eth0', '::1%lo'], local)).toEqual(
      [],
    );
  });

  it('allows loopback addresses by a setting, and no other denied address', () => {
    const loopback = ['127.0.0.1', '127.9.9.9', '127.255.255.255', '::1'];
    expect(allowedOf(loopback, local)).toEqual(loopback);
    const all = denied.flatMap(([, ...addresses]) => addresses);
    expect(allowedOf(all, local)).toEqual(loopback.filter((address) => all.includes(address)));
  });

  it('denies every IPv4 address in an IPv6 form outside global unicast', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const wrapped = [
          ...[`::${dotted}`, `::ffff:${dotted}`, `::ffff:0:${dotted}`, `64:ff9b::${dotted}`],
          ...[`2002:${hex}::1`, `2001:0:${hex}::`, `fe80::5efe:${dotted}`, `64:ff9b:1::${hex}`],
        ];
        expect(allowedOf(wrapped)).toEqual([]);
      }),
    );
  });
});

describe('webhookUrlProblem', () => {
  const problems = (urls: readonly string[]) =>
    urls.map((url) => ({ url, problem: webhookUrlProblem(url, strict) }));

  it('accepts public names and addresses, with a port and a query', () => {
    const names = ['example.com/hook', 'example.com:8443/hook?key=1', 'xn--bcher-kva.example/'];
    const urls = [...names, '8.8.8.8/', '[2001:4860:4860::8888]/'].map((rest) => `https://${rest}`);
    expect(problems(urls).filter(({ problem }) => problem !== undefined)).toEqual([]);
  });

  it('rejects an internal address in every form', () => {
    const hosts = [
      ...['127.1', '0177.0.0.1', '0x7f000001', '2130706433', '１２７.０.０.１', '127.0.0.1.', '0'],
      ...['127。0。0。1', '[::1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]'],
      ...['169.254.169.254', '10.1.2.3', '192.168.1.1:8080'],
      ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost'],
    ];
    const found = problems(hosts.map((host) => `https://${host}/hook`));
    expect(found.filter(({ problem = '' }) => !problem.includes('must not lead to'))).toEqual([]);
  });

  it.each([
    ['http://example.com/', 'must be an https URL'],
    ['ftp://example.com/', 'must be an https URL'],
    ['javascript:alert(1)', 'must be an https URL'],
    ['https://user:secret@example.com/', 'must not hold a user name or password'],
    ['https://user@example.com/', 'must not hold a user name or password'],
    ['https://:secret@example.com/', 'must not hold a user name or password'],
    ['https://example.com:0/', 'must not have port 0'],
    ['https://[fe80::1%25eth0]/', 'is not a URL'],
    ['/hook', 'is not a URL'],
    ['', 'is not a URL'],
    [`https://example.com/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
  ])('rejects %s: %s', (url, problem) => {
    expect(webhookUrlProblem(url, strict)).toBe(problem);
  });

  it('accepts loopback by a setting, over plain HTTP too, and no other target', () => {
    for (const url of ['http://127.0.0.1:3001/hook', 'http://localhost/', 'https://[::1]/'])
      expect(webhookUrlProblem(url, local)).toBeUndefined();
    for (const url of ['http://example.com/', 'https://10.0.0.1/', 'https://[fd00::1]/'])
      expect(webhookUrlProblem(url, local)).toBeDefined();
    expect(webhookUrlProblem('ftp://127.0.0.1/', local)).toBe('must be an https URL');
  });
});

it('removes the brackets of an IPv6 host', () => {
  expect(hostOf('[::1]')).toBe('::1');
  expect(hostOf('example.com')).toBe('example.com');
  expect(isLocalhost('notlocalhost')).toBe(false);
});
