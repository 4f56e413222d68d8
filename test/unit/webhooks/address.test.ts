import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLocalhost } from '../../../contract/localhost.ts';
import { hostOf, isAllowedAddress, webhookUrlProblem } from '../../../webhooks/address.ts';

const strict = { allowLoopback: false };
const local = { allowLoopback: true };

/** The first and last address of every denied range, and well-known ones. */
const denied = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.0.0',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.0',
  '192.0.0.192',
  '192.0.0.255',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.0',
  '192.168.255.255',
  '192.175.48.1',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.255',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '100.100.100.200',
  '168.63.129.16',
  '::',
  '::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '4000::1',
  '1fff:ffff::1',
  '2001::1',
  '2001:0:7f00:1::',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2001:db8:ffff::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '2620:4f:8000::1',
  '3fff::1',
  '3fff:fff:ffff::1',
  'fe80::5efe:127.0.0.1',
];

const allowed = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '168.63.129.15',
  '168.63.129.17',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7::1',
  '2001:db9::1',
  '2003::1',
  '2606:4700::1111',
  '2620:4f:8001::1',
  '3ffe::1',
  '3fff:1000::1',
];

describe('isAllowedAddress', () => {
  it.each(denied)('denies %s', (address) => {
    expect(isAllowedAddress(address, strict)).toBe(false);
  });

  it.each(allowed)('allows %s, which is next to a denied range', (address) => {
    expect(isAllowedAddress(address, strict)).toBe(true);
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4.5',
    '::g',
    'fe80::1%eth0',
    '2000::1%eth0',
    '::1%lo',
  ])('denies a text that is not an address: %j', (text) => {
    expect(isAllowedAddress(text, local)).toBe(false);
  });

  it('allows loopback addresses by a setting, and no other denied address', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1'])
      expect(isAllowedAddress(address, local)).toBe(true);
    for (const address of denied.filter((text) => !/^(127\.|::1$)/.test(text)))
      expect(isAllowedAddress(address, local), address).toBe(false);
  });

  it('denies every IPv4 address in an IPv6 form outside global unicast', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const wrapped of [
          `::${dotted}`,
          `::ffff:${dotted}`,
          `::ffff:0:${dotted}`,
          `64:ff9b::${dotted}`,
          `2002:${hex}::1`,
          `2001:0:${hex}::`,
          `fe80::5efe:${dotted}`,
          `64:ff9b:1::${hex}`,
        ])
          expect(isAllowedAddress(wrapped, strict), wrapped).toBe(false);
      }),
    );
  });
});

describe('webhookUrlProblem', () => {
  it.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?key=1',
    'https://8.8.8.8/',
    'https://[2001:4860:4860::8888]/',
    'https://xn--bcher-kva.example/',
  ])('accepts %s', (url) => {
    expect(webhookUrlProblem(url, strict)).toBeUndefined();
  });

  it.each([
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://１２７.０.０.１/',
    'https://127.0.0.1./',
    'https://0/',
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest',
    'https://10.1.2.3/',
    'https://192.168.1.1:8080/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://a.localhost/',
    'https://127。0。0。1/',
  ])('rejects %s: an internal address in another form', (url) => {
    expect(webhookUrlProblem(url, strict)).toMatch(/must not lead to/);
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
